// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a rule builds with, whatever the format of the node that it imports.
#ifndef ACCC_FRONTEND_COMMON_NODEBUILDER_H
#define ACCC_FRONTEND_COMMON_NODEBUILDER_H

#include "frontend/common/Entity.h"
#include "frontend/common/ForwardBuilder.h"
#include "frontend/common/ImportError.h"
#include "frontend/common/TensorTypes.h"

namespace accc::frontend {

/// The common shape, by numpy's rule.
llvm::SmallVector<int64_t> broadcastShape(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// Builds at the end of @forward, at the location of one node. Every builder throws ImportError if
/// what would be built is not valid; the importer reports it at the node.
class NodeBuilder {
public:
  NodeBuilder(ForwardBuilder &function, mlir::Location loc) : function(function), location(loc) {}

  ForwardBuilder &forward() const { return function; }
  const ImportOptions &options() const { return function.options(); }
  mlir::OpBuilder &builder() const { return function.builder(); }
  mlir::Location loc() const { return location; }
  mlir::MLIRContext &context() const { return *builder().getContext(); }

  // ---- values known while importing ----
  /// The value of what must be known. `what` names it in the error.
  mlir::DenseElementsAttr knownElements(mlir::Value value, const llvm::Twine &what) const;
  /// All elements of a value that must be known, as integers or as doubles. `what` names it in the
  /// error.
  llvm::SmallVector<int64_t> knownIntegers(mlir::Value value, const llvm::Twine &what) const;
  llvm::SmallVector<double> knownReals(mlir::Value value, const llvm::Twine &what) const;
  /// The value, if it is computed from constants and from variables, which are taken at their
  /// initial values; else null.
  mlir::DenseElementsAttr given(mlir::Value value) const;

  // ---- checks ----
  /// An axis in [-rank, rank), made positive.
  int64_t axis(int64_t value, int64_t rank) const;
  /// Distinct axes, made positive and sorted.
  llvm::SmallVector<int64_t> axes(llvm::ArrayRef<int64_t> values, int64_t rank) const;

  // ---- building ----
  /// Throws ImportError for null: an input that is left out where the rule needs it.
  prim::Tensor wrap(mlir::Value value) const {
    if (!value)
      fail("an input is left out that is needed here");
    return prim::Tensor(builder(), loc(), value);
  }
  prim::Tensor constant(mlir::DenseElementsAttr value) const;
  prim::Tensor integers(llvm::ArrayRef<int64_t> values, llvm::ArrayRef<int64_t> shape) const;
  /// Rounded to the element type, a float.
  prim::Tensor reals(llvm::ArrayRef<double> values, llvm::ArrayRef<int64_t> shape,
                     mlir::Type elementType) const;
  prim::Tensor scalar(double value, mlir::Type elementType) const;
  prim::Tensor full(llvm::ArrayRef<int64_t> shape, mlir::Type elementType, double value) const;
  /// 0, 1, 2, ... along one dimension, as int64.
  prim::Tensor iota(llvm::ArrayRef<int64_t> shape, int64_t dimension) const;
  /// Both operands in their common shape, by numpy's rule.
  std::pair<prim::Tensor, prim::Tensor> broadcast(prim::Tensor a, prim::Tensor b) const;
  prim::Tensor broadcastTo(prim::Tensor a, llvm::ArrayRef<int64_t> shape) const;
  prim::Tensor reshape(prim::Tensor a, llvm::ArrayRef<int64_t> shape) const;
  prim::Tensor concatenate(llvm::ArrayRef<prim::Tensor> inputs, int64_t axis) const;

  /// Builds an op from operands (null ones are left out) and attributes. Without result types they
  /// are inferred.
  template <typename Op>
  mlir::Operation *create(llvm::ArrayRef<mlir::Value> operands,
                          llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
                          llvm::ArrayRef<mlir::Type> types = {}) const {
    return createOp(Op::getOperationName(),
                    Op::template hasTrait<mlir::OpTrait::AttrSizedOperandSegments>(), operands,
                    attributes, types);
  }
  template <typename Op>
  prim::Tensor make(llvm::ArrayRef<mlir::Value> operands,
                    llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
                    llvm::ArrayRef<mlir::Type> types = {}) const {
    return wrap(create<Op>(operands, attributes, types)->getResult(0));
  }
  mlir::NamedAttribute attr(llvm::StringRef name, mlir::Attribute value) const;
  mlir::NamedAttribute i64(llvm::StringRef name, int64_t value) const;
  mlir::NamedAttribute f64(llvm::StringRef name, double value) const;
  mlir::NamedAttribute flag(llvm::StringRef name, bool value) const;
  mlir::NamedAttribute list(llvm::StringRef name, llvm::ArrayRef<int64_t> value) const;

private:
  /// What keeps given() from being there: "the node 'n' (Cast) computes it from the input 'x'".
  std::string whyUnknown(mlir::Value value) const;
  mlir::Operation *createOp(llvm::StringRef name, bool segments,
                            llvm::ArrayRef<mlir::Value> operands,
                            llvm::ArrayRef<mlir::NamedAttribute> attributes,
                            llvm::ArrayRef<mlir::Type> types) const;

  ForwardBuilder &function;
  mlir::Location location;
};

/// The shortest decimal number that rounds to this float, in double precision: 0.1f, the closest a
/// model file comes to what its author wrote, becomes 0.1.
double asWritten(float value);

} // namespace accc::frontend

#endif
