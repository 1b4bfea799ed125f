// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A forward function while it is made up, op by op.
#ifndef ACCC_TEST_RANDOM_SKETCH_H
#define ACCC_TEST_RANDOM_SKETCH_H

#include "Case.h"
#include "Random.h"

#include "ir/nn/Nn.h"
#include "ir/prim/Prim.h"

#include "mlir/IR/Builders.h"

namespace accc::test {

/// What a graph is made of, chosen before its first op.
struct Style {
  std::vector<int64_t> extents; ///< that dimensions have
  int64_t maxElements = 600;    ///< of one value
  bool oneParameter = false;
  bool isDouble = false;   ///< its floats are f64, not f32
  bool mixedTypes = false; ///< floats of the other type, too
};

/// Every op is verified and evaluated as it is added, on the values that the arguments will have:
/// one that is not valid, or whose value is not finite or large, is taken back. So graphs are valid
/// by construction and stay in a range where float32 means something.
class Sketch {
public:
  using Type = mlir::Type;
  using Value = mlir::Value;
  using TensorType = mlir::RankedTensorType;

  Sketch(mlir::MLIRContext *context, Random &random, Style style, int64_t seed);

  Random &random;
  const Style style;
  mlir::OpBuilder b;

  // ---- what there is ----
  const ReferenceArray &array(Value value) const { return known.find(value)->second.array; }
  /// Whether it depends on a parameter, by a way that has a gradient or not.
  bool varies(Value value) const { return known.find(value)->second.varies; }
  static TensorType typeOf(Value value) { return mlir::cast<TensorType>(value.getType()); }
  static llvm::ArrayRef<int64_t> shapeOf(Value value) { return typeOf(value).getShape(); }
  static int64_t rankOf(Value value) { return typeOf(value).getRank(); }
  /// All values, in order.
  const llvm::SmallVector<Value> &values() const { return order; }

  /// A value for which the condition holds, rather a late one than an early one; null if there is
  /// none.
  Value find(llvm::function_ref<bool(Value)> condition);
  /// A float value of the model's type and of some rank; one is made where there is none.
  Value floats(int64_t minRank = 0, int64_t maxRank = 5);
  /// An integer value (not a boolean); one is made where there is none.
  Value integers();
  /// A value of exactly this type: one that there is, broadcast where that helps, or a new argument
  /// or constant.
  Value of(TensorType type);
  Value of(llvm::ArrayRef<int64_t> shape) { return of(tensor(shape)); }
  /// Indices for a dimension of this extent, whatever becomes of the parameters.
  Value indices(llvm::ArrayRef<int64_t> shape, int64_t extent);
  /// `value`, or what becomes of it by a smooth function whose values lie between `low` and `high`.
  Value within(Value value, double low, double high);

  // ---- types and attributes ----
  TensorType tensor(llvm::ArrayRef<int64_t> shape, Type element = {});
  /// The type that the model's floats have but for a few.
  Type floatType() { return style.isDouble ? Type(b.getF64Type()) : b.getF32Type(); }
  Type otherFloatType() { return style.isDouble ? Type(b.getF32Type()) : b.getF64Type(); }
  bool hasFloatType(Value value) { return typeOf(value).getElementType() == floatType(); }
  int64_t extent() { return random.pick(style.extents); }
  llvm::SmallVector<int64_t> shape(int64_t minRank, int64_t maxRank);
  mlir::NamedAttribute named(llvm::StringRef name, mlir::Attribute attr) {
    return b.getNamedAttr(name, attr);
  }
  mlir::NamedAttribute integer(llvm::StringRef name, int64_t value) {
    return named(name, b.getI64IntegerAttr(value));
  }
  mlir::NamedAttribute number(llvm::StringRef name, double value) {
    return named(name, b.getF64FloatAttr(value));
  }
  mlir::NamedAttribute unit(llvm::StringRef name) { return named(name, b.getUnitAttr()); }
  mlir::NamedAttribute flag(llvm::StringRef name, bool value) {
    return named(name, b.getBoolAttr(value));
  }
  mlir::NamedAttribute list(llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
    return named(name, b.getDenseI64ArrayAttr(values));
  }
  mlir::NamedAttribute segments(llvm::ArrayRef<int32_t> sizes) {
    return named("operandSegmentSizes", b.getDenseI32ArrayAttr(sizes));
  }
  template <typename Attr, typename Enum>
  mlir::NamedAttribute choice(llvm::StringRef name, Enum value) {
    return named(name, Attr::get(b.getContext(), value));
  }

  // ---- new ones ----
  /// Adds an op. Its result types are inferred where none are given. The results; empty if the op
  /// was taken back, or an operand is null because its op was.
  llvm::SmallVector<Value> add(llvm::StringRef name, mlir::ValueRange operands,
                               llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
                               llvm::ArrayRef<Type> types = {});
  /// The same for an op of one result; null if it was taken back.
  Value one(llvm::StringRef name, mlir::ValueRange operands,
            llvm::ArrayRef<mlir::NamedAttribute> attributes = {}, Type type = {});
  /// As `one`, with the first operand's type.
  Value same(llvm::StringRef name, mlir::ValueRange operands,
             llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return operands.front() ? one(name, operands, attributes, operands.front().getType()) : Value();
  }
  Value parameter(TensorType type, Range range = {});
  Value input(TensorType type, Range range = {});
  Value buffer(TensorType type, Range range = {});
  /// [seed, step]
  Value key();
  Value constant(TensorType type, double value);
  Value randomConstant(TensorType type);
  int64_t stream() { return nextStream++; }

  // ---- the end ----
  /// A result of @forward. `updates`: for the role update.
  void result(Value value, llvm::StringRef name, prim::Role role, llvm::StringRef updates = "");
  llvm::StringRef argumentName(mlir::BlockArgument argument) const;
  prim::Role argumentRole(mlir::BlockArgument argument) const;
  int64_t numOps() const { return ops; }
  /// Whether the op is one that a model was asked for (not one that made an operand fit).
  mlir::OwningOpRef<mlir::ModuleOp> finish();

private:
  struct Known {
    ReferenceArray array;
    bool varies;
  };
  Value argument(TensorType type, llvm::StringRef name, prim::Role role, Range range);
  std::string newName(llvm::StringRef stem);
  bool evaluate(mlir::Operation *op);
  bool isTame(Value value, const ReferenceArray &array) const;

  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  mlir::Block *block;
  int64_t seed, nextStream = 0, ops = 0, parameters = 0;
  llvm::StringMap<int> names;
  llvm::DenseMap<Value, Known> known;
  llvm::SmallVector<Value> order, results;
  llvm::SmallVector<mlir::DictionaryAttr> argumentAttrs, resultAttrs;
  Value randomKey;
};

/// Adds something of one kind to the graph; false where it could not.
struct Production {
  const char *name;
  int weight;
  bool (*make)(Sketch &);
};
/// All kinds, family by family.
llvm::ArrayRef<Production> pointwiseProductions();
llvm::ArrayRef<Production> integerProductions();
llvm::ArrayRef<Production> viewProductions();
llvm::ArrayRef<Production> indexProductions();
llvm::ArrayRef<Production> reductionProductions();
llvm::ArrayRef<Production> windowProductions();
llvm::ArrayRef<Production> contractionProductions();
llvm::ArrayRef<Production> matrixProductions();
llvm::ArrayRef<Production> activationProductions();
llvm::ArrayRef<Production> layerProductions();
llvm::ArrayRef<Production> sequenceProductions();
llvm::ArrayRef<Production> randomProductions();
llvm::ArrayRef<Production> lossProductions();
/// What rewrite rules look for.
llvm::ArrayRef<Production> guardProductions();

} // namespace accc::test

#endif
