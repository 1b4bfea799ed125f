// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RandomProgram.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace accc::prim;

namespace accc::test {

// Of every dimension and of the whole.
static constexpr int64_t kMostElements = 96;

RandomProgram::RandomProgram(MLIRContext &context, uint32_t seed, int ops)
    : builder(&context), owned(ModuleOp::create(UnknownLoc::get(&context))), random(seed) {
  builder.setInsertionPointToEnd(owned->getBody());
  function =
      builder.create<func::FuncOp>(builder.getUnknownLoc(), "f", builder.getFunctionType({}, {}));
  block = function.addEntryBlock();
  builder.setInsertionPointToEnd(block);
  Shape shape;
  for (int64_t rank = 1 + below(3); rank > 0; --rank)
    shape.push_back(oneOf({1, 2, 2, 3, 3, 4}));
  pool.push_back(argument(RankedTensorType::get(shape, builder.getF64Type())));
  for (int i = 0; i < ops; ++i)
    addOp();
  // All that nothing reads is a result, so that nothing vanishes; and some that is read, too.
  SmallVector<Value> results;
  for (Tensor x : pool)
    if (x.get().use_empty() || chance(1, 8))
      results.push_back(x);
  builder.create<func::ReturnOp>(builder.getUnknownLoc(), results);
  function.setType(
      builder.getFunctionType(block->getArgumentTypes(), ValueRange(results).getTypes()));
}

std::string RandomProgram::text() {
  std::string result;
  llvm::raw_string_ostream(result) << *owned;
  return result;
}

std::vector<ReferenceArray> RandomProgram::arguments(bool specials) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double kSpecial[] = {0.0, -0.0, inf, -inf, std::numeric_limits<double>::quiet_NaN()};
  std::vector<ReferenceArray> result;
  for (Type type : function.getArgumentTypes()) {
    auto tensor = cast<RankedTensorType>(type);
    ReferenceArray &array = result.emplace_back(tensor.getShape());
    for (double &value : array.values) {
      if (auto integer = dyn_cast<IntegerType>(tensor.getElementType()))
        value = static_cast<double>(integer.getWidth() == 1 ? below(2)
                                                            : below(9) - 4 * !integer.isUnsigned());
      else
        value =
            specials && chance(1, 3) ? kSpecial[below(5)] : static_cast<double>(below(17) - 8) / 4;
    }
  }
  return result;
}

// ---- choosing ----

Tensor RandomProgram::argument(RankedTensorType type) {
  return Tensor(builder, builder.getUnknownLoc(),
                block->addArgument(type, builder.getUnknownLoc()));
}

Tensor RandomProgram::any() {
  auto size = static_cast<int64_t>(pool.size());
  return pool[static_cast<size_t>(chance(3, 4) ? size - 1 - below(std::min<int64_t>(size, 2))
                                               : below(size))];
}

Tensor RandomProgram::anyFloat() {
  for (int attempt = 0; attempt < 8; ++attempt)
    if (Tensor x = any(); isFloat(x))
      return x;
  return pool.front();
}

double RandomProgram::number() {
  constexpr double kNumbers[] = {0, 0, 1, 1, -1, -1, 2, 0.5, 3, -2, 4, 65536};
  return kNumbers[below(12)];
}

Tensor RandomProgram::like(Tensor x) {
  SmallVector<Tensor> fitting;
  for (Tensor y : pool)
    if (y.type() == x.type())
      fitting.push_back(y);
  if (chance(1, 3)) {
    double n = number();
    return x.full(isFloat(x)     ? n
                  : isBoolean(x) ? double(n != 0)
                                 : std::abs(std::trunc(std::min(n, 100.0))));
  }
  if (isFloat(x) && chance(1, 6)) { // a constant of several numbers
    SmallVector<Attribute> values;
    for (int64_t i = 0; i < x.size(); ++i)
      values.push_back(FloatAttr::get(x.elementType(), static_cast<double>(i % 5)));
    return x.wrap(builder.create<ConstantOp>(x.getLoc(), DenseElementsAttr::get(x.type(), values)));
  }
  if (!fitting.empty() && chance(3, 4))
    return fitting[static_cast<size_t>(below(static_cast<int64_t>(fitting.size())))];
  return pool.emplace_back(argument(x.type()));
}

RandomProgram::Shape RandomProgram::permutation(int64_t rank) {
  Shape result(static_cast<size_t>(rank));
  std::iota(result.begin(), result.end(), 0);
  for (int64_t i = rank - 1; i > 0; --i)
    std::swap(result[i], result[below(i + 1)]);
  return result;
}

RandomProgram::Shape RandomProgram::someDimensions(int64_t rank) {
  Shape result;
  for (int64_t d = 0; d < rank; ++d)
    if (chance(1, 2))
      result.push_back(d);
  return result;
}

// ---- ops ----

void RandomProgram::addOp() {
  Tensor x = any();
  Tensor y = x;
  switch (below(14)) {
  case 0:
  case 1:
  case 2:
    y = view(x);
    break;
  case 3:
    y = slice(x);
    break;
  case 4:
    y = pad(x);
    break;
  case 5:
    y = concatenate(x);
    break;
  case 6:
  case 7:
  case 8:
    y = pointwise(x);
    break;
  case 9:
    y = choice(x);
    break;
  case 10:
    y = convert(x);
    break;
  case 11:
    y = reduction(x);
    break;
  case 12:
    y = contraction(anyFloat());
    break;
  default:
    y = indexed(anyFloat());
    break;
  }
  if (y.get() == x.get())
    return;
  Operation *op = y.get().getDefiningOp();
  bool rounds = op && isa<PowOp, DivOp>(op);
  for (Value operand : op ? ValueRange(op->getOperands()) : ValueRange())
    rounds |= inexact.contains(operand);
  if (rounds)
    inexact.insert(y);
  pool.push_back(y);
}

Tensor RandomProgram::view(Tensor x) {
  int64_t rank = x.rank();
  switch (below(6)) {
  case 4: { // arithmetic between two transposes, which cancel or do not
    Shape there = permutation(rank), back = permutation(rank);
    if (chance(1, 2))
      for (auto [to, from] : llvm::enumerate(there))
        back[from] = static_cast<int64_t>(to);
    Tensor y = x.transpose(there);
    return (isBoolean(y) ? logicalNot(y) : y + like(y)).transpose(chance(1, 4) ? there : back);
  }
  case 5: { // the same between two reshapes
    Tensor y = x.reshape({x.size()});
    Shape shape(x.shape());
    if (chance(1, 4))
      std::reverse(shape.begin(), shape.end());
    return (isBoolean(y) ? logicalNot(y) : y + like(y)).reshape(shape);
  }
  case 0: { // cut its elements anew
    Shape shape;
    for (int64_t rest = x.size(); rest > 1 || shape.empty();) {
      int64_t extent = oneOf({1, 2, 3, 4, 6, rest});
      if (extent > 0 && rest % extent == 0) {
        shape.push_back(extent);
        rest /= extent;
      }
      if (rest == 0 || shape.size() == 4) {
        shape.push_back(rest);
        break;
      }
    }
    return x.reshape(shape);
  }
  case 1:
    return x.transpose(permutation(rank));
  case 2:
    return x.reverse(someDimensions(rank));
  default: {
    if (rank > 3)
      return x;
    Shape shape(x.shape()), dimensions;
    for (int64_t d = 0; d < rank; ++d) {
      if (shape[d] == 1 && chance(1, 2))
        shape[d] = 1 + below(3);
      dimensions.push_back(d);
    }
    int64_t place = below(rank + 1);
    shape.insert(shape.begin() + place, 1 + below(3));
    for (int64_t d = place; d < rank; ++d)
      ++dimensions[d];
    return ReferenceArray::count(shape) > kMostElements ? x : x.broadcast(shape, dimensions);
  }
  }
}

Tensor RandomProgram::slice(Tensor x) {
  Shape starts, limits, strides;
  for (int64_t extent : x.shape()) {
    int64_t start = chance(1, 2) ? 0 : below(extent + 1);
    starts.push_back(start);
    limits.push_back(chance(1, 2) ? extent : start + below(extent - start + 1));
    strides.push_back(oneOf({1, 1, 2, 3}));
  }
  return x.slice(starts, limits, strides);
}

Tensor RandomProgram::pad(Tensor x) {
  Shape low, high, interior;
  int64_t size = 1;
  for (int64_t extent : x.shape()) {
    interior.push_back(oneOf({0, 0, 0, 1, 2}));
    int64_t spread = extent + std::max<int64_t>(extent - 1, 0) * interior.back();
    low.push_back(std::max<int64_t>(oneOf({0, 0, 1, 2, -1}), -spread));
    high.push_back(std::max<int64_t>(oneOf({0, 0, 1, 3, -1}), -spread - low.back()));
    size *= spread + low.back() + high.back();
  }
  if (size > kMostElements)
    return x;
  auto scalar = RankedTensorType::get({}, x.elementType());
  Tensor value = chance(2, 3)   ? x.full(scalar, 0)
                 : chance(1, 2) ? x.full(scalar, 1)
                                : argument(scalar);
  return x.wrap(builder.create<PadOp>(x.getLoc(), x, value, low, high, interior));
}

Tensor RandomProgram::concatenate(Tensor x) {
  if (x.rank() == 0 || x.size() * 2 > kMostElements)
    return x;
  int64_t dimension = below(x.rank());
  SmallVector<Tensor> inputs = {x};
  for (int64_t more = 1 + below(2); more > 0; --more) {
    Tensor y = like(x);
    if (chance(1, 2))
      y = y.sliceDim(dimension, 0, below(y.dim(dimension) + 1));
    inputs.insert(inputs.begin() + below(static_cast<int64_t>(inputs.size()) + 1), y);
  }
  return prim::concatenate(inputs, dimension);
}

Tensor RandomProgram::pointwise(Tensor x) {
  if (isBoolean(x)) {
    Tensor y = like(x);
    int64_t which = below(3);
    return which == 0 ? logicalNot(x) : which == 1 ? bitAnd(x, y) : bitOr(x, y);
  }
  if (!isFloat(x) && chance(1, 3))
    return chance(1, 2) ? bitAnd(x, like(x)) : bitOr(x, like(x));
  Tensor y = like(x);
  if (chance(1, 3))
    std::swap(x, y);
  switch (below(isFloat(x) ? 9 : 6)) {
  case 0:
    return x + y;
  case 1:
    return x - y;
  case 2:
    return x * y;
  case 3:
    return max(x, y);
  case 4:
    return min(x, y);
  case 5:
    return x.elementType().isUnsignedInteger() ? x + y : -x;
  case 6: {
    // As PyTorch computes them, which for bases below 0 is not what a power would be.
    constexpr double kExponents[] = {0, 1, 2, 3, 0.5, -0.5, -1, -2, 1.5};
    return pow(abs(x) + 1.0, kExponents[below(9)]);
  }
  default:
    return chance(1, 2) ? x / number() : x * y;
  }
}

Tensor RandomProgram::choice(Tensor x) {
  if (isBoolean(x)) {
    Tensor a = argument(RankedTensorType::get(x.shape(), builder.getF64Type())), b = a * 2.0;
    return chance(1, 2) ? select(x, a, b) : select(logicalNot(x), a, b);
  }
  Tensor y = like(x);
  if (!isExact(x) || !isExact(y))
    return x;
  Tensor zero = x.full(0.0);
  // A factor without bounds needs its guard.
  double factor =
      isFloat(x) && chance(1, 4) ? std::numeric_limits<double>::infinity() : std::trunc(number());
  switch (below(7)) {
  case 0: // a guard of a derivative, or nearly one
    return select(equal(chance(3, 4) ? x : y, chance(3, 4) ? zero : x.full(1.0)), zero,
                  x * x.full(factor));
  case 1:
    return select(notEqual(x, zero), zero, x * x.full(factor));
  case 2:
    return equal(x, chance(1, 2) ? x : y);
  case 3:
    return chance(1, 2) ? x<(chance(1, 2) ? x : y) : x>(chance(1, 2) ? x : y);
  case 4:
    return chance(1, 2) ? x <= (chance(1, 2) ? x : y) : x >= (chance(1, 2) ? x : y);
  default: {
    // Choices of choices, by the same predicate or another.
    Tensor p = x < y, q = chance(2, 3) ? p : x > y;
    if (chance(1, 3))
      q = logicalNot(q);
    Tensor inner = select(q, x, y), other = like(x);
    return chance(1, 2) ? select(p, inner, other) : select(p, other, inner);
  }
  }
}

Tensor RandomProgram::convert(Tensor x) {
  MLIRContext *context = builder.getContext();
  auto integer = [&](unsigned width, bool isUnsigned) -> Type {
    return IntegerType::get(context, width,
                            isUnsigned ? IntegerType::Unsigned : IntegerType::Signless);
  };
  Type types[] = {builder.getF64Type(), builder.getF64Type(), builder.getF32Type(),
                  integer(1, false),    integer(8, false),    integer(8, true),
                  integer(32, false),   integer(32, true),    integer(64, false)};
  if (!isExact(x))
    return x;
  // Not floats to i64: the interpreter's numbers are doubles, which do not hold all that saturates.
  Tensor y = x.convert(types[below(isFloat(x) ? 8 : 9)]);
  return isFloat(y) || chance(1, 2) ? y : y.convert(types[below(9)]);
}

Tensor RandomProgram::reduction(Tensor x) {
  ReduceKind kinds[] = {ReduceKind::sum, ReduceKind::sum, ReduceKind::max, ReduceKind::min,
                        ReduceKind::prod};
  ReduceKind logical[] = {ReduceKind::all, ReduceKind::any};
  ReduceKind kind = isBoolean(x) ? logical[below(2)] : kinds[below(5)];
  if (kind == ReduceKind::prod && x.size() > 12) // beyond, products leave what is exact
    kind = ReduceKind::max;
  return reduce(kind, x, someDimensions(x.rank()));
}

Tensor RandomProgram::contraction(Tensor x) {
  if (x.rank() == 0 || x.rank() > 3 || x.size() > 24)
    return x;
  Tensor y = x;
  if (chance(1, 2)) {
    y = argument(x.type());
  }
  if (chance(1, 3))
    y = y * y.full(number());
  // One dimension is contracted, another may be a batch; the other side has its own order.
  Shape order = permutation(x.rank()), where(order.size());
  Tensor turned = y.transpose(order);
  for (auto [to, from] : llvm::enumerate(order))
    where[from] = static_cast<int64_t>(to);
  Shape dimensions = permutation(x.rank());
  Shape batch, otherBatch;
  if (dimensions.size() > 1 && chance(1, 2)) {
    batch = {dimensions[1]};
    otherBatch = {where[dimensions[1]]};
  }
  Tensor result = dotGeneral(x, turned, batch, otherBatch, {dimensions[0]}, {where[dimensions[0]]});
  if (chance(1, 3))
    result = result * result.full(number());
  return chance(1, 2) ? result.transpose(permutation(result.rank())) : result;
}

Tensor RandomProgram::indexed(Tensor x) {
  if (x.rank() == 0)
    return x;
  int64_t axis = below(x.rank()), extent = x.dim(axis);
  if (extent == 0)
    return x;
  int64_t count = 1 + below(std::min<int64_t>(extent, 3)), first = below(extent - count + 1);
  SmallVector<int64_t> indices;
  for (int64_t i = 0; i < count; ++i)
    indices.push_back(chance(5, 6) ? first + i : below(extent));
  auto type = RankedTensorType::get({count}, builder.getI64Type());
  Tensor positions = x.wrap(
      builder.create<ConstantOp>(x.getLoc(), DenseElementsAttr::get(type, ArrayRef(indices))));
  Tensor taken = x.gather(positions, axis);
  if (chance(1, 2))
    return taken;
  Tensor data = chance(1, 2) ? x.full(0.0) : x;
  return data.scatter(positions, taken * 2.0, axis,
                      chance(1, 2) ? ScatterKind::add : ScatterKind::set);
}

} // namespace accc::test
