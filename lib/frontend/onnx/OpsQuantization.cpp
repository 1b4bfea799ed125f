// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats as integers with a scale and a zero point, and products of such integers.
#include "frontend/common/Indexing.h"
#include "frontend/common/Quantization.h"
#include "frontend/onnx/GraphImporter.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/Windows.h"
#include "ir/nn/Nn.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

// ---- parameters ----

/// A scale or zero point: observers choose it, no optimizer trains it.
Tensor parameter(Node &node, size_t input) {
  Tensor value = node.in(input);
  node.importer().markBuffer(value);
  return value;
}

/// One number for the tensor, for each index along `axis`, or for each block along it, in the shape
/// of `x`.
Tensor spread(Node &node, Tensor value, Tensor x) {
  if (value.rank() <= 1 && value.size() == 1)
    return node.broadcastTo(value.reshape({}), x.shape());
  int64_t axis = node.axis(node.integer("axis", 1), x.rank());
  int64_t block = node.integer("block_size", 0), extent = x.dim(axis);
  if (block == 0 && value.rank() == 1 && value.dim(0) == extent)
    return value.broadcast(x.shape(), {axis});
  SmallVector<int64_t> shape(x.shape());
  if (block > 0) {
    block = std::clamp<int64_t>(extent, 1, block); // a longer one is cut short, too
    shape[axis] = (extent + block - 1) / block;
  }
  if (block <= 0 || value.shape() != ArrayRef(shape))
    fail("scale or zero point has the shape " + show(value.shape()) + " for data of shape " +
         show(x.shape()) + " along axis " + Twine(axis) +
         (block ? " in blocks of " + Twine(block) : Twine()));
  SmallVector<int64_t> repeated(shape), kept;
  repeated.insert(repeated.begin() + axis + 1, block);
  for (int64_t d = 0; d < x.rank(); ++d)
    kept.push_back(d <= axis ? d : d + 1);
  shape[axis] *= block;
  return value.broadcast(repeated, kept).reshape(shape).sliceDim(axis, 0, extent);
}

IntegerType integerType(Type type, unsigned widest) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer || integer.getWidth() == 1 || integer.getWidth() > widest)
    fail("quantized data must be integers of 8 to " + Twine(widest) + " bits");
  return integer;
}

/// Narrow floats do not hold all integers of 16 bits.
Type atLeastSingle(Type type) {
  return type.getIntOrFloatBitWidth() < 32 ? Builder(type.getContext()).getF32Type() : type;
}

/// What the integers of a tensor stand for: steps of the scale from its zero point, as floats.
Tensor steps(Node &node, Tensor x, Value zero, Type type) {
  if (!zero)
    return x.convert(type);
  // 32 bits less 32 bits do not fit a float.
  bool wide = x.elementType().getIntOrFloatBitWidth() > 16;
  Type exact = wide ? Type(node.builder().getI64Type()) : type;
  return (x.convert(exact) - node.wrap(zero).convert(exact)).convert(type);
}

// ---- between floats and integers ----

/// scaled + zero, rounded and saturated to the integer type.
Tensor toIntegers(Quantized quantized, IntegerType type) { return quantized.value.convert(type); }

Entities quantizeLinear(Node &node) {
  Tensor x = node.numberIn(0), scale = parameter(node, 1);
  if (!isa<FloatType>(scale.elementType()))
    fail("the scale (input 1) must be a tensor of floats");
  int64_t to = node.integer("output_dtype", 0), precision = node.integer("precision", 0);
  Type integers = node.has(2) ? node.in(2).elementType()
                  : to        ? elementType(node.context(), static_cast<int32_t>(to))
                              : Type(node.builder().getIntegerType(8, /*isSigned=*/false));
  IntegerType type = integerType(integers, 16);
  Type divided = precision ? elementType(node.context(), static_cast<int32_t>(precision))
                           : scale.elementType();
  Type wide = atLeastSingle(divided);
  Tensor scaled = (x.convert(divided) / spread(node, scale.convert(divided), x)).convert(wide);
  Tensor zero = node.has(2) ? spread(node, parameter(node, 2), x).convert(wide) : scaled.full(0.0);
  auto [low, high] = limitsOf(type);
  Quantized quantized = quantize(scaled, zero, low, high);
  Tensor y = toIntegers(quantized, type);
  if (isa<FloatType>(x.elementType()))
    node.importer().addRounding(y, {.from = x,
                                    .isInside = quantized.isInside,
                                    .scale = scale,
                                    .zero = node.optional(2),
                                    .axis = node.integer("axis", 1),
                                    .block = node.integer("block_size", 0)});
  return {y};
}

/// Whether two parameters are the same value, or one that only the file repeats.
bool areEqual(Node &node, Value a, Value b) {
  a = node.importer().outsideBranch(a);
  b = node.importer().outsideBranch(b);
  if (a == b || !a || !b)
    return a == b;
  DenseElementsAttr known = node.given(a);
  return known && known == node.given(b);
}

/// Whether operators of integers have made the value of some that are rounded floats.
bool isMadeOfRounded(Node &node, Value value) {
  SmallVector<Value> left{value};
  DenseSet<Value> seen;
  while (!left.empty()) {
    Value next = left.pop_back_val();
    if (!seen.insert(next).second || isa<FloatType>(getElementTypeOrSelf(next)))
      continue;
    if (node.importer().roundingOf(next))
      return true;
    if (Operation *op = next.getDefiningOp())
      llvm::append_range(left, op->getOperands());
  }
  return false;
}

Entities dequantizeLinear(Node &node) {
  Tensor x = node.in(0), scale = parameter(node, 1);
  Value zero = node.has(2) ? parameter(node, 2).get() : Value();
  integerType(x.elementType(), 32);
  if (!isa<FloatType>(scale.elementType()))
    fail("the scale (input 1) must be a tensor of floats");
  if (zero && zero.getType() != x.type().clone(scale.shape()))
    fail("the zero point (input 2) must have the type of the data and the shape of the scale");
  int64_t to = node.integer("output_dtype", 0);
  Type result = to ? elementType(node.context(), static_cast<int32_t>(to)) : scale.elementType();
  Type wide = atLeastSingle(scale.elementType());
  Value shift = zero ? spread(node, node.wrap(zero), x).get() : Value();
  Tensor y = (steps(node, x, shift, wide) * spread(node, scale.convert(wide), x)).convert(result);
  const Rounding *rounding = node.importer().roundingOf(x);
  if (!rounding && isMadeOfRounded(node, x))
    fail(
        "its integers are those of a QuantizeLinear, changed by another operator than Clip: what "
        "gradient they pass is not known. Move that operator before QuantizeLinear or behind this");
  bool same = rounding && areEqual(node, rounding->scale, scale) &&
              areEqual(node, rounding->zero, zero) &&
              (scale.size() == 1 || (rounding->axis == node.integer("axis", 1) &&
                                     rounding->block == node.integer("block_size", 0)));
  if (!same)
    return {y};
  return {
      straightThrough(y, node.wrap(rounding->from).convert(result), node.wrap(rounding->isInside))};
}

/// Into u8, with a scale and zero point that take [min, max], widened to hold 0, to [0, 255].
Entities dynamicQuantizeLinear(Node &node) {
  Tensor x = node.floatIn(0);
  SmallVector<int64_t> all = llvm::to_vector(llvm::seq<int64_t>(0, x.rank()));
  IntegerType type = node.builder().getIntegerType(8, /*isSigned=*/false);
  auto [low, high] = limitsOf(type);
  Tensor least = prim::min(prim::reduce(prim::ReduceKind::min, x, all), 0.0);
  Tensor greatest = prim::max(prim::reduce(prim::ReduceKind::max, x, all), 0.0);
  // Zeros alone have the scale 0, and any other keeps them.
  Tensor range = (greatest - least) / (high - low);
  Tensor divisor = prim::select(prim::equal(range, 0.0), 1.0, range);
  Tensor zero = quantize(-least / divisor, range.full(low), low, high).value;
  Quantized quantized = quantize(x / node.broadcastTo(divisor, x.shape()),
                                 node.broadcastTo(zero, x.shape()), low, high);
  Tensor y = toIntegers(quantized, type), scale = range, shift = zero.convert(type);
  node.importer().addRounding(
      y, {.from = x, .isInside = quantized.isInside, .scale = scale, .zero = shift});
  return {y, scale, shift};
}

// ---- products ----

/// Zero points of rows, [M], as a column.
Value ofRows(Node &node, size_t input, int64_t rows) {
  if (!node.has(input))
    return Value();
  Tensor value = parameter(node, input);
  return value.rank() == 1 && value.size() == rows && rows != 1 ? value.reshape({rows, 1}) : value;
}

/// Sums of products of integers of 8 bits, in double precision, which holds them.
Tensor productOfSteps(Node &node, Tensor a, Value aZero, Tensor b, Value bZero) {
  Type wide = node.builder().getF64Type();
  auto centered = [&](Tensor x, Value zero) {
    integerType(x.elementType(), 8);
    if (zero && cast<RankedTensorType>(zero.getType()).getElementType() != x.elementType())
      fail("a zero point must have the element type of its data");
    Value shift = zero ? node.broadcastTo(node.wrap(zero), x.shape()).get() : Value();
    return steps(node, x, shift, wide);
  };
  return node.make<nn::MatmulOp>({centered(a, aZero), centered(b, bZero)});
}

Entities matMulInteger(Node &node) {
  Tensor a = node.in(0), b = node.in(1);
  Value aZero = ofRows(node, 2, a.rank() > 1 ? a.dim(-2) : 1);
  return {productOfSteps(node, a, aZero, b, node.has(3) ? parameter(node, 3).get() : Value())
              .convert(node.builder().getI32Type())};
}

/// The convolution of x and w (inputs `x` and `w`; their zero points are `xZero` and `wZero`), in
/// double precision.
Tensor convolutionOfSteps(Node &node, size_t x, size_t xZero, size_t w, size_t wZero) {
  Type wide = node.builder().getF64Type();
  auto centered = [&](size_t input, size_t zero, bool byRow) {
    Tensor data = node.in(input);
    integerType(data.elementType(), 8);
    if (!node.has(zero))
      return data.convert(wide);
    Tensor shift = parameter(node, zero);
    bool rows = byRow && shift.rank() == 1 && data.rank() > 0 && shift.dim(0) == data.dim(0);
    return steps(node, data,
                 rows ? shift.broadcast(data.shape(), {0})
                      : node.broadcastTo(node.reshape(shift, {}), data.shape()),
                 wide);
  };
  Tensor data = centered(x, xZero, false), weights = centered(w, wZero, true);
  return convolution(node, data, weights, Value());
}

Entities convInteger(Node &node) {
  return {convolutionOfSteps(node, 0, 2, 1, 3).convert(node.builder().getI32Type())};
}

/// The result of a product whose steps are worth `scale`, in steps of the result's own.
Tensor requantized(Node &node, Tensor product, Tensor scale, size_t yScale, size_t yZero) {
  Type wide = product.elementType();
  Tensor zero = parameter(node, yZero);
  IntegerType type = integerType(zero.elementType(), 8);
  auto [low, high] = limitsOf(type);
  Tensor scaled = product * node.broadcastTo(scale, product.shape()) /
                  node.broadcastTo(parameter(node, yScale).convert(wide), product.shape());
  return toIntegers(
      quantize(scaled, node.broadcastTo(zero.convert(wide), product.shape()), low, high), type);
}

Entities qLinearMatMul(Node &node) {
  Tensor a = node.in(0), b = node.in(3);
  int64_t rows = a.rank() > 1 ? a.dim(-2) : 1;
  Tensor product = productOfSteps(node, a, ofRows(node, 2, rows), b, parameter(node, 5));
  Type wide = product.elementType();
  auto [ofA, ofB] = node.broadcast(node.wrap(ofRows(node, 1, rows)).convert(wide),
                                   parameter(node, 4).convert(wide));
  return {requantized(node, product, ofA * ofB, 6, 7)};
}

Entities qLinearConv(Node &node) {
  Tensor product = convolutionOfSteps(node, 0, 2, 3, 5);
  Type wide = product.elementType();
  auto ofChannels = [&](Tensor value) {
    value = value.convert(wide);
    bool channels = value.rank() == 1 && value.dim(0) == product.dim(1);
    return channels ? value.broadcast(product.shape(), {1})
                    : node.broadcastTo(node.reshape(value, {}), product.shape());
  };
  if (node.has(8))
    product = product + ofChannels(node.in(8));
  Tensor scale = ofChannels(parameter(node, 1)) * ofChannels(parameter(node, 4));
  return {requantized(node, product, scale, 6, 7)};
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::quantizationOps() {
  static const OpRow rows[] = {
      {"QuantizeLinear", quantizeLinear},
      {"DequantizeLinear", dequantizeLinear},
      {"DynamicQuantizeLinear", dynamicQuantizeLinear},
      {"MatMulInteger", matMulInteger},
      {"ConvInteger", convInteger},
      {"QLinearMatMul", qLinearMatMul},
      {"QLinearConv", qLinearConv},
  };
  return rows;
}
