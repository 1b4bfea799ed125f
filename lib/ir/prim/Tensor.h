// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors as a value type, so that rules read as mathematics: `dy * (1.0 - y * y)`.
#ifndef ACCC_IR_PRIM_TENSOR_H
#define ACCC_IR_PRIM_TENSOR_H

#include "ir/prim/Prim.h"

namespace accc::prim {

/// An SSA value together with the builder that makes more of them. Every operation builds one
/// primitive (or a few) at the builder's insertion point, at the location given at the start.
///
/// Binary operators take operands of equal type; a number or a tensor of rank 0 is broadcast to the
/// other side's shape. All other broadcasting is explicit.
class Tensor {
public:
  Tensor(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value)
      : builder(&builder), loc(loc), value(value) {}

  operator mlir::Value() const { return value; }
  mlir::Value get() const { return value; }
  mlir::OpBuilder &getBuilder() const { return *builder; }
  mlir::Location getLoc() const { return loc; }

  mlir::RankedTensorType type() const {
    return mlir::cast<mlir::RankedTensorType>(value.getType());
  }
  mlir::Type elementType() const { return type().getElementType(); }
  llvm::ArrayRef<int64_t> shape() const { return type().getShape(); }
  int64_t rank() const { return type().getRank(); }
  int64_t dim(int64_t i) const { return type().getDimSize(i < 0 ? i + rank() : i); }
  int64_t size() const { return type().getNumElements(); }

  /// A tensor beside this one: same builder and location.
  Tensor wrap(mlir::Value other) const { return Tensor(*builder, loc, other); }

  /// `number` in this tensor's element type and shape (a splat constant).
  Tensor full(double number) const;
  /// `number` of the given type.
  Tensor full(mlir::RankedTensorType type, double number) const;

  // ---- views ----
  Tensor reshape(llvm::ArrayRef<int64_t> shape) const;
  Tensor transpose(llvm::ArrayRef<int64_t> permutation) const;
  /// prim.broadcast: this tensor's dimension i becomes dimension dimensions[i] of `shape`.
  Tensor broadcast(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> dimensions) const;
  /// Numpy's rule: aligns trailing dimensions, repeats extents of 1.
  Tensor broadcastTo(llvm::ArrayRef<int64_t> shape) const;
  /// The inverse shape of a reduction: repeats this tensor along `reduced`, dimensions of `shape`.
  Tensor broadcastAlong(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> reduced) const;
  Tensor slice(llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> limits,
               llvm::ArrayRef<int64_t> strides = {}) const;
  /// Elements [start, limit) along one dimension.
  Tensor sliceDim(int64_t dimension, int64_t start, int64_t limit) const;
  Tensor pad(double value, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
             llvm::ArrayRef<int64_t> interior = {}) const;
  Tensor reverse(llvm::ArrayRef<int64_t> dimensions) const;

  Tensor convert(mlir::Type elementType) const;
  Tensor gather(Tensor indices, int64_t axis) const;
  Tensor scatter(Tensor indices, Tensor updates, int64_t axis, ScatterKind kind) const;

private:
  mlir::OpBuilder *builder;
  mlir::Location loc;
  mlir::Value value;
};

Tensor operator-(Tensor a);
Tensor operator+(Tensor a, Tensor b);
Tensor operator-(Tensor a, Tensor b);
Tensor operator*(Tensor a, Tensor b);
Tensor operator/(Tensor a, Tensor b);
Tensor operator+(Tensor a, double b);
Tensor operator-(Tensor a, double b);
Tensor operator*(Tensor a, double b);
Tensor operator/(Tensor a, double b);
Tensor operator+(double a, Tensor b);
Tensor operator-(double a, Tensor b);
Tensor operator*(double a, Tensor b);
Tensor operator/(double a, Tensor b);

Tensor operator<(Tensor a, Tensor b);
Tensor operator<=(Tensor a, Tensor b);
Tensor operator>(Tensor a, Tensor b);
Tensor operator>=(Tensor a, Tensor b);
Tensor operator<(Tensor a, double b);
Tensor operator<=(Tensor a, double b);
Tensor operator>(Tensor a, double b);
Tensor operator>=(Tensor a, double b);
// Not operator==, which means something else for values.
Tensor equal(Tensor a, Tensor b);
Tensor equal(Tensor a, double b);
Tensor notEqual(Tensor a, Tensor b);
Tensor notEqual(Tensor a, double b);

Tensor exp(Tensor a);
Tensor expm1(Tensor a);
Tensor log(Tensor a);
Tensor log1p(Tensor a);
Tensor sqrt(Tensor a);
Tensor rsqrt(Tensor a);
Tensor sin(Tensor a);
Tensor cos(Tensor a);
Tensor asin(Tensor a);
Tensor acos(Tensor a);
Tensor atan(Tensor a);
Tensor tanh(Tensor a);
Tensor logistic(Tensor a);
Tensor erf(Tensor a);
Tensor abs(Tensor a);
Tensor sign(Tensor a);
Tensor floor(Tensor a);
Tensor ceil(Tensor a);
Tensor roundEven(Tensor a);
Tensor logicalNot(Tensor a);
Tensor isFinite(Tensor a);
Tensor pow(Tensor a, Tensor b);
Tensor pow(Tensor a, double b);
Tensor rem(Tensor a, Tensor b);
Tensor atan2(Tensor a, Tensor b);
Tensor max(Tensor a, Tensor b);
Tensor min(Tensor a, Tensor b);
Tensor max(Tensor a, double b);
Tensor min(Tensor a, double b);
Tensor bitAnd(Tensor a, Tensor b);
Tensor bitOr(Tensor a, Tensor b);
Tensor select(Tensor predicate, Tensor onTrue, Tensor onFalse);
Tensor select(Tensor predicate, Tensor onTrue, double onFalse);
Tensor select(Tensor predicate, double onTrue, Tensor onFalse);

Tensor reduce(ReduceKind kind, Tensor a, llvm::ArrayRef<int64_t> dimensions);
/// What a reduction of `kind` makes of two elements, for each of a and b.
Tensor combine(ReduceKind kind, Tensor a, Tensor b);
/// prim.cumulative
Tensor cumulative(ReduceKind kind, Tensor a, int64_t dimension);
Tensor sum(Tensor a, llvm::ArrayRef<int64_t> dimensions);
Tensor sumAll(Tensor a);
Tensor mean(Tensor a, llvm::ArrayRef<int64_t> dimensions);
Tensor concatenate(llvm::ArrayRef<Tensor> inputs, int64_t dimension);
/// Row-major index along a dimension, in the given type.
Tensor iota(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
            int64_t dimension);
/// a contracted with b; see prim.dot_general.
Tensor dotGeneral(Tensor a, Tensor b, llvm::ArrayRef<int64_t> aBatch,
                  llvm::ArrayRef<int64_t> bBatch, llvm::ArrayRef<int64_t> aContracting,
                  llvm::ArrayRef<int64_t> bContracting, bool fullPrecision = false);
/// The same, of 16-bit floats their sums in f32.
Tensor wideDotGeneral(Tensor a, Tensor b, llvm::ArrayRef<int64_t> aBatch,
                      llvm::ArrayRef<int64_t> bBatch, llvm::ArrayRef<int64_t> aContracting,
                      llvm::ArrayRef<int64_t> bContracting);
/// Uniform floats in [0, 1): the upper 24 random bits, scaled.
Tensor randomUniform(Tensor key, int64_t stream, llvm::ArrayRef<int64_t> shape,
                     mlir::Type elementType);

/// Whether doubles hold these elements: 64-bit integers from 2^53 on are rounded.
bool areExact(llvm::ArrayRef<double> numbers, mlir::Type elementType);

/// The number that every element of a constant is, if `value` is such a constant and a double holds
/// that.
std::optional<double> splatNumber(mlir::Value value);

/// Whether an element type is a 16-bit float, f16 or bf16.
bool isHalf(mlir::Type element);
/// x in the type that statistics and sums are computed in: f32 for f16 and bf16, else x's own.
Tensor widen(Tensor x);

/// `number` in every element. A number that a 16-bit float does not hold is one of f32 that is
/// rounded, which may be computed with as it is (frontend/common/WideNode.h).
Tensor full(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
            double number);

/// `number` as a splat attribute of `type`, whatever its element type.
/// A boolean is true unless the number is 0.
mlir::DenseElementsAttr splat(mlir::RankedTensorType type, double number);

} // namespace accc::prim

#endif
