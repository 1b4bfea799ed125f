// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/Tensor.h"

#include "mlir/IR/Matchers.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::prim;

bool accc::prim::areExact(ArrayRef<double> numbers, Type elementType) {
  auto integer = dyn_cast<IntegerType>(elementType);
  return !integer || integer.getWidth() <= 53 ||
         llvm::all_of(numbers, [](double number) { return std::abs(number) < 0x1p53; });
}

std::optional<double> accc::prim::splatNumber(Value value) {
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  if (isa<FloatType>(elements.getElementType()))
    return elements.getSplatValue<APFloat>().convertToDouble();
  auto integer = cast<IntegerType>(elements.getElementType());
  bool isSigned = !integer.isUnsigned() && integer.getWidth() != 1;
  double number = elements.getSplatValue<APInt>().roundToDouble(isSigned);
  return areExact(number, integer) ? std::optional(number) : std::nullopt;
}

DenseElementsAttr accc::prim::splat(RankedTensorType type, double number) {
  Type element = type.getElementType();
  if (isa<FloatType>(element))
    return DenseElementsAttr::get(type, FloatAttr::get(element, number).getValue());
  auto integer = cast<IntegerType>(element);
  if (integer.getWidth() == 1)
    return DenseElementsAttr::get(type, number != 0);
  return DenseElementsAttr::get(type, APInt(integer.getWidth(),
                                            static_cast<uint64_t>(static_cast<int64_t>(number)),
                                            /*isSigned=*/number < 0));
}

// ---- views ----

bool accc::prim::isHalf(Type element) { return element.isF16() || element.isBF16(); }

Tensor accc::prim::widen(Tensor x) {
  return isHalf(x.elementType()) ? x.convert(x.getBuilder().getF32Type()) : x;
}

Tensor accc::prim::full(OpBuilder &builder, Location loc, RankedTensorType type, double number) {
  DenseElementsAttr elements = splat(type, number);
  Type element = type.getElementType();
  if (isHalf(element) && std::isfinite(number) &&
      elements.getSplatValue<APFloat>().convertToDouble() != number)
    return full(builder, loc, type.clone(builder.getF32Type()), number).convert(element);
  return Tensor(builder, loc, builder.create<ConstantOp>(loc, type, elements));
}

Tensor Tensor::full(RankedTensorType type, double number) const {
  return prim::full(*builder, loc, type, number);
}

Tensor Tensor::full(double number) const { return full(type(), number); }

Tensor Tensor::reshape(ArrayRef<int64_t> shape) const {
  if (shape == this->shape())
    return *this;
  return wrap(builder->create<ReshapeOp>(loc, type().clone(shape), value));
}

Tensor Tensor::transpose(ArrayRef<int64_t> permutation) const {
  bool identity = true;
  for (auto [i, p] : llvm::enumerate(permutation))
    identity &= static_cast<int64_t>(i) == p;
  return identity ? *this : wrap(builder->create<TransposeOp>(loc, value, permutation));
}

Tensor Tensor::broadcast(ArrayRef<int64_t> shape, ArrayRef<int64_t> dimensions) const {
  if (shape == this->shape())
    return *this;
  return wrap(builder->create<BroadcastOp>(loc, type().clone(shape), value, dimensions));
}

Tensor Tensor::broadcastTo(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> dimensions(rank());
  std::iota(dimensions.begin(), dimensions.end(), static_cast<int64_t>(shape.size()) - rank());
  return broadcast(shape, dimensions);
}

Tensor Tensor::broadcastAlong(ArrayRef<int64_t> shape, ArrayRef<int64_t> reduced) const {
  SmallVector<int64_t> dimensions;
  for (int64_t i = 0, e = static_cast<int64_t>(shape.size()); i < e; ++i)
    if (!llvm::is_contained(reduced, i))
      dimensions.push_back(i);
  return broadcast(shape, dimensions);
}

Tensor Tensor::slice(ArrayRef<int64_t> starts, ArrayRef<int64_t> limits,
                     ArrayRef<int64_t> strides) const {
  SmallVector<int64_t> ones(rank(), 1);
  return wrap(builder->create<SliceOp>(loc, value, starts, limits,
                                       strides.empty() ? ArrayRef(ones) : strides));
}

Tensor Tensor::sliceDim(int64_t dimension, int64_t start, int64_t limit) const {
  SmallVector<int64_t> starts(rank(), 0), limits(shape());
  starts[dimension] = start;
  limits[dimension] = limit;
  return slice(starts, limits);
}

Tensor Tensor::pad(double value, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                   ArrayRef<int64_t> interior) const {
  SmallVector<int64_t> zeros(rank(), 0);
  Tensor filler = full(RankedTensorType::get({}, elementType()), value);
  return wrap(builder->create<PadOp>(loc, this->value, filler, low, high,
                                     interior.empty() ? ArrayRef(zeros) : interior));
}

Tensor Tensor::reverse(ArrayRef<int64_t> dimensions) const {
  return wrap(builder->create<ReverseOp>(loc, value, dimensions));
}

Tensor Tensor::convert(Type elementType) const {
  if (elementType == this->elementType())
    return *this;
  return wrap(builder->create<ConvertOp>(loc, type().clone(elementType), value));
}

Tensor Tensor::gather(Tensor indices, int64_t axis) const {
  return wrap(builder->create<GatherOp>(loc, value, indices, axis));
}

Tensor Tensor::scatter(Tensor indices, Tensor updates, int64_t axis, ScatterKind kind) const {
  return wrap(builder->create<ScatterOp>(loc, value, indices, updates, axis, kind));
}

// ---- elementwise ----

namespace {
/// Repeats a tensor of rank 0 to the other side's shape.
std::pair<Tensor, Tensor> alike(Tensor a, Tensor b) {
  if (a.rank() == 0 && b.rank() != 0)
    return {a.broadcast(b.shape(), {}), b};
  if (b.rank() == 0 && a.rank() != 0)
    return {a, b.broadcast(a.shape(), {})};
  return {a, b};
}

template <typename Op> Tensor unary(Tensor a) {
  return a.wrap(a.getBuilder().create<Op>(a.getLoc(), a.get()));
}

template <typename Op> Tensor binary(Tensor a, Tensor b) {
  auto [x, y] = alike(a, b);
  return x.wrap(x.getBuilder().create<Op>(x.getLoc(), x.get(), y.get()));
}

Tensor compare(Direction direction, Tensor a, Tensor b) {
  auto [x, y] = alike(a, b);
  return x.wrap(x.getBuilder().create<CompareOp>(x.getLoc(), direction, x, y));
}
} // namespace

namespace accc::prim {

Tensor operator-(Tensor a) { return unary<NegOp>(a); }
Tensor operator+(Tensor a, Tensor b) { return binary<AddOp>(a, b); }
Tensor operator+(Tensor a, double b) { return a + a.full(b); }
Tensor operator+(double a, Tensor b) { return b.full(a) + b; }
Tensor operator-(Tensor a, Tensor b) { return binary<SubOp>(a, b); }
Tensor operator-(Tensor a, double b) { return a - a.full(b); }
Tensor operator-(double a, Tensor b) { return b.full(a) - b; }
Tensor operator*(Tensor a, Tensor b) { return binary<MulOp>(a, b); }
Tensor operator*(Tensor a, double b) { return a * a.full(b); }
Tensor operator*(double a, Tensor b) { return b.full(a) * b; }
Tensor operator/(Tensor a, Tensor b) { return binary<DivOp>(a, b); }
Tensor operator/(Tensor a, double b) { return a / a.full(b); }
Tensor operator/(double a, Tensor b) { return b.full(a) / b; }
Tensor operator<(Tensor a, Tensor b) { return compare(Direction::lt, a, b); }
Tensor operator<(Tensor a, double b) { return compare(Direction::lt, a, a.full(b)); }
Tensor operator<=(Tensor a, Tensor b) { return compare(Direction::le, a, b); }
Tensor operator<=(Tensor a, double b) { return compare(Direction::le, a, a.full(b)); }
Tensor operator>(Tensor a, Tensor b) { return compare(Direction::gt, a, b); }
Tensor operator>(Tensor a, double b) { return compare(Direction::gt, a, a.full(b)); }
Tensor operator>=(Tensor a, Tensor b) { return compare(Direction::ge, a, b); }
Tensor operator>=(Tensor a, double b) { return compare(Direction::ge, a, a.full(b)); }
Tensor equal(Tensor a, Tensor b) { return compare(Direction::eq, a, b); }
Tensor equal(Tensor a, double b) { return compare(Direction::eq, a, a.full(b)); }
Tensor notEqual(Tensor a, Tensor b) { return compare(Direction::ne, a, b); }
Tensor notEqual(Tensor a, double b) { return compare(Direction::ne, a, a.full(b)); }

Tensor exp(Tensor a) { return unary<ExpOp>(a); }
Tensor expm1(Tensor a) { return unary<Expm1Op>(a); }
Tensor log(Tensor a) { return unary<LogOp>(a); }
Tensor log1p(Tensor a) { return unary<Log1pOp>(a); }
Tensor sqrt(Tensor a) { return unary<SqrtOp>(a); }
Tensor rsqrt(Tensor a) { return unary<RsqrtOp>(a); }
Tensor sin(Tensor a) { return unary<SinOp>(a); }
Tensor cos(Tensor a) { return unary<CosOp>(a); }
Tensor asin(Tensor a) { return unary<AsinOp>(a); }
Tensor acos(Tensor a) { return unary<AcosOp>(a); }
Tensor atan(Tensor a) { return unary<AtanOp>(a); }
Tensor tanh(Tensor a) { return unary<TanhOp>(a); }
Tensor logistic(Tensor a) { return unary<LogisticOp>(a); }
Tensor erf(Tensor a) { return unary<ErfOp>(a); }
Tensor abs(Tensor a) { return unary<AbsOp>(a); }
Tensor sign(Tensor a) { return unary<SignOp>(a); }
Tensor floor(Tensor a) { return unary<FloorOp>(a); }
Tensor ceil(Tensor a) { return unary<CeilOp>(a); }
Tensor roundEven(Tensor a) { return unary<RoundEvenOp>(a); }
Tensor logicalNot(Tensor a) { return unary<NotOp>(a); }
Tensor isFinite(Tensor a) { return unary<IsFiniteOp>(a); }
Tensor pow(Tensor a, Tensor b) { return binary<PowOp>(a, b); }
Tensor rem(Tensor a, Tensor b) { return binary<RemOp>(a, b); }
Tensor atan2(Tensor a, Tensor b) { return binary<Atan2Op>(a, b); }
Tensor max(Tensor a, Tensor b) { return binary<MaxOp>(a, b); }
Tensor min(Tensor a, Tensor b) { return binary<MinOp>(a, b); }
Tensor bitAnd(Tensor a, Tensor b) { return binary<AndOp>(a, b); }
Tensor bitOr(Tensor a, Tensor b) { return binary<OrOp>(a, b); }
Tensor pow(Tensor a, double b) { return pow(a, a.full(b)); }
Tensor max(Tensor a, double b) { return max(a, a.full(b)); }
Tensor min(Tensor a, double b) { return min(a, a.full(b)); }

Tensor select(Tensor predicate, Tensor onTrue, Tensor onFalse) {
  auto [x, y] = alike(onTrue, onFalse);
  if (predicate.rank() == 0 && x.rank() != 0)
    predicate = predicate.broadcast(x.shape(), {});
  return x.wrap(x.getBuilder().create<SelectOp>(x.getLoc(), x.type(), predicate, x, y));
}
Tensor select(Tensor predicate, Tensor onTrue, double onFalse) {
  return select(predicate, onTrue, onTrue.full(onFalse));
}
Tensor select(Tensor predicate, double onTrue, Tensor onFalse) {
  return select(predicate, onFalse.full(onTrue), onFalse);
}

// ---- reductions and the rest ----

Tensor reduce(ReduceKind kind, Tensor a, ArrayRef<int64_t> dimensions) {
  if (dimensions.empty())
    return a;
  SmallVector<int64_t> sorted(dimensions);
  llvm::sort(sorted);
  return a.wrap(a.getBuilder().create<ReduceOp>(a.getLoc(), a.get(), kind, sorted));
}

Tensor sum(Tensor a, ArrayRef<int64_t> dimensions) {
  return reduce(ReduceKind::sum, a, dimensions);
}

Tensor combine(ReduceKind kind, Tensor a, Tensor b) {
  switch (kind) {
  case ReduceKind::sum:
    return a + b;
  case ReduceKind::prod:
    return a * b;
  case ReduceKind::max:
    return max(a, b);
  case ReduceKind::min:
    return min(a, b);
  case ReduceKind::all:
    return bitAnd(a, b);
  case ReduceKind::any:
    return bitOr(a, b);
  }
  llvm_unreachable("unknown kind");
}

Tensor cumulative(ReduceKind kind, Tensor a, int64_t dimension) {
  return a.wrap(a.getBuilder().create<CumulativeOp>(a.getLoc(), a.type(), a, kind, dimension));
}

Tensor sumAll(Tensor a) {
  SmallVector<int64_t> all(a.rank());
  std::iota(all.begin(), all.end(), 0);
  return sum(a, all);
}

Tensor mean(Tensor a, ArrayRef<int64_t> dimensions) {
  int64_t count = 1;
  for (int64_t d : dimensions)
    count *= a.dim(d);
  return sum(a, dimensions) * (1.0 / static_cast<double>(count));
}

Tensor concatenate(ArrayRef<Tensor> inputs, int64_t dimension) {
  if (inputs.size() == 1)
    return inputs.front();
  SmallVector<Value> values(inputs.begin(), inputs.end());
  Tensor first = inputs.front();
  return first.wrap(first.getBuilder().create<ConcatenateOp>(first.getLoc(), values, dimension));
}

Tensor iota(OpBuilder &builder, Location loc, RankedTensorType type, int64_t dimension) {
  return Tensor(builder, loc, builder.create<IotaOp>(loc, type, dimension));
}

Tensor dotGeneral(Tensor a, Tensor b, ArrayRef<int64_t> aBatch, ArrayRef<int64_t> bBatch,
                  ArrayRef<int64_t> aContracting, ArrayRef<int64_t> bContracting,
                  bool fullPrecision) {
  return a.wrap(a.getBuilder().create<DotGeneralOp>(a.getLoc(), a.get(), b.get(), aBatch, bBatch,
                                                    aContracting, bContracting, fullPrecision,
                                                    /*wide_result=*/false));
}

Tensor wideDotGeneral(Tensor a, Tensor b, ArrayRef<int64_t> aBatch, ArrayRef<int64_t> bBatch,
                      ArrayRef<int64_t> aContracting, ArrayRef<int64_t> bContracting) {
  return a.wrap(a.getBuilder().create<DotGeneralOp>(
      a.getLoc(), a.get(), b.get(), aBatch, bBatch, aContracting, bContracting,
      /*full_precision=*/false, /*wide_result=*/isHalf(a.elementType())));
}

Tensor randomUniform(Tensor key, int64_t stream, ArrayRef<int64_t> shape, Type elementType) {
  OpBuilder &builder = key.getBuilder();
  Type ui32 = builder.getIntegerType(32, /*isSigned=*/false);
  Tensor bits = key.wrap(
      builder.create<RandomBitsOp>(key.getLoc(), RankedTensorType::get(shape, ui32), key, stream));
  Tensor top = binary<ShiftRightOp>(bits, bits.full(8));
  return top.convert(elementType) * 0x1p-24;
}

} // namespace accc::prim
