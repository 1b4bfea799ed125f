// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "transforms/attention/KnownMasks.h"

#include "ir/interfaces/ReferenceValues.h"
#include "ir/prim/Tensor.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace accc;
using namespace accc::transforms;
using namespace accc::prim;

namespace {

/// The most elements of one value (a mask of 4096 positions), and of all together: about a second.
constexpr int64_t kMostElements = 1 << 24;
constexpr int64_t kMostWork = 1 << 27;

/// No mask has more parts in one another.
constexpr int kGreatestDepth = 6;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

bool isFloat(Value value) { return isa<FloatType>(typeOf(value).getElementType()); }

/// The array with extent 1 for each dimension along which it repeats itself.
ReferenceArray compressed(const ReferenceArray &array) {
  ReferenceArray result = array;
  if (result.size() == 0)
    return result;
  int64_t outer = 1, inner = result.size();
  for (int64_t &extent : result.shape) {
    inner /= extent;
    auto slice = [&](int64_t o, int64_t i) {
      return result.values.begin() + (o * extent + i) * inner;
    };
    bool repeats = extent > 1;
    for (int64_t o = 0; repeats && o < outer; ++o)
      for (int64_t i = 1; repeats && i < extent; ++i)
        repeats = std::equal(slice(o, 0), slice(o, 0) + inner, slice(o, i));
    if (repeats) {
      for (int64_t o = 0; o < outer; ++o)
        std::copy_n(slice(o, 0), inner, result.values.begin() + o * inner);
      result.values.resize(outer * inner);
      extent = 1;
    }
    outer *= extent;
  }
  return result;
}

/// The array of the given shape, whose extents are the array's or repeat an extent of 1.
ReferenceArray expanded(const ReferenceArray &array, ArrayRef<int64_t> shape) {
  if (ArrayRef<int64_t>(array.shape) == shape)
    return array;
  ReferenceArray result(shape);
  SmallVector<int64_t> strides = array.strides();
  for (auto [stride, extent] : llvm::zip_equal(strides, array.shape))
    if (extent == 1)
      stride = 0;
  size_t at = 0;
  ReferenceArray::forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    int64_t from = 0;
    for (auto [i, stride] : llvm::zip_equal(index, strides))
      from += i * stride;
    result.values[at++] = array.values[from];
  });
  return result;
}

/// Floats as a variable of the type holds them: the interpreter keeps doubles.
void roundTo(Type elementType, ReferenceArray &array) {
  if (elementType.isF32()) {
    for (double &value : array.values)
      value = static_cast<float>(value);
  } else if (isa<FloatType>(elementType) && !elementType.isF64()) {
    for (double &value : array.values)
      value = roundToElement(elementType, value);
  }
}

/// Whether the op may be evaluated while compiling: it depends on its operands alone, and says so.
bool mayEvaluate(Operation *op) {
  return isa<Evaluable>(op) && op->getNumResults() == 1 && op->getNumRegions() == 0 &&
         isa<RankedTensorType>(op->getResult(0).getType()) &&
         !isa<RandomBitsOp, OptimizationBarrierOp, CustomCallLike>(op) &&
         llvm::all_of(op->getOperandTypes(), [](Type type) { return isa<RankedTensorType>(type); });
}

/// A broadcast moves extents only, since arrays keep those of 1.
ReferenceArray broadcast(BroadcastOp op, const ReferenceArray &operand) {
  ReferenceArray result = operand;
  result.shape.assign(op.getType().getRank(), 1);
  for (auto [d, extent] : llvm::zip_equal(op.getDimensions(), operand.shape))
    result.shape[d] = extent;
  return result;
}

/// The common shape of operands of a pointwise op that have extents of 1 where they repeat.
SmallVector<int64_t> commonShape(ArrayRef<const ReferenceArray *> operands) {
  SmallVector<int64_t> shape(operands.front()->shape);
  for (const ReferenceArray *operand : operands)
    for (auto [common, extent] : llvm::zip_equal(shape, operand->shape))
      if (common == 1)
        common = extent;
  return shape;
}

} // namespace

std::optional<ReferenceArray> KnownValues::evaluate(Operation *op) {
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    RankedTensorType type = constant.getType();
    auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
    if (elements && elements.isSplat() && !elements.empty()) {
      RankedTensorType one = type.clone(SmallVector<int64_t>(type.getRank(), 1));
      return toReference(elements.resizeSplat(one));
    }
    work += type.getNumElements();
    if (type.getNumElements() > kMostElements || work > kMostWork)
      return std::nullopt;
    return compressed(toReference(cast<ElementsAttr>(constant.getValue())));
  }
  SmallVector<const ReferenceArray *> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(&*known.find(operand)->second);
  }
  if (auto view = dyn_cast<BroadcastOp>(op))
    return broadcast(view, *operands[0]);

  RankedTensorType type = typeOf(op->getResult(0));
  bool pointwise = isa<Pointwise>(op) && !operands.empty();
  SmallVector<int64_t> common;
  if (pointwise)
    common = commonShape(operands);
  int64_t elements = pointwise ? ReferenceArray::count(common) : type.getNumElements();
  for (Value operand : op->getOperands())
    elements = std::max(elements, pointwise ? 0 : typeOf(operand).getNumElements());
  work += elements;
  if (elements > kMostElements || work > kMostWork)
    return std::nullopt;

  SmallVector<ReferenceArray> full, results;
  for (auto [array, operand] : llvm::zip_equal(operands, op->getOperands())) {
    full.push_back(expanded(*array, pointwise ? ArrayRef(common) : typeOf(operand).getShape()));
    // Integers that doubles do not hold may be what a comparison is about.
    if (!areExact(full.back().values, typeOf(operand).getElementType()))
      return std::nullopt;
  }
  // An error stays for the run, where it belongs.
  ScopedDiagnosticHandler quiet(op->getContext(), [](Diagnostic &) { return success(); });
  if (failed(cast<Evaluable>(op).evaluate(full, results)) ||
      !areExact(results[0].values, type.getElementType()))
    return std::nullopt;
  roundTo(type.getElementType(), results[0]);
  return compressed(results[0]);
}

// Operands first, without recursion: masks of long programs are deep. One operand that depends on
// data is enough to stop.
const ReferenceArray *KnownValues::of(Value value) {
  SmallVector<Value> pending{value};
  while (!pending.empty()) {
    Value next = pending.back();
    Operation *op = next.getDefiningOp();
    Value missing;
    bool depends = !op || !mayEvaluate(op);
    if (!depends)
      for (Value operand : op->getOperands()) {
        auto found = known.find(operand);
        if (found == known.end())
          missing = missing ? missing : operand;
        else
          depends |= !found->second;
      }
    if (!depends && missing) {
      pending.push_back(missing);
      continue;
    }
    pending.pop_back();
    if (known.contains(next))
      continue;
    std::optional<ReferenceArray> array;
    if (!depends)
      array = evaluate(op);
    known[next] = std::move(array);
  }
  const auto &array = known[value];
  return array ? &*array : nullptr;
}

std::optional<KnownMask> transforms::findKnownMask(KnownValues &values, Value mask, int64_t queries,
                                                   int64_t keys, bool negated) {
  const ReferenceArray *array = values.of(mask);
  if (!array || array->size() == 0)
    return std::nullopt;
  bool added = isFloat(mask);
  for (double value : array->values)
    if (added && value != 0.0 && !(value <= kHides))
      return std::nullopt;
  auto dimension = [&](int64_t fromLast) {
    return array->rank() >= fromLast ? array->shape[array->rank() - fromLast] : 1;
  };
  int64_t rows = dimension(2), columns = dimension(1), planes = array->size() / (rows * columns);
  // Of rows that repeat the first two tell, of columns the first and the last.
  int64_t lastQuery = rows == 1 ? std::min<int64_t>(queries, 2) : queries;
  int64_t step = columns == 1 ? std::max<int64_t>(keys - 1, 1) : 1;
  KnownMask result;
  for (int64_t p = 0; p < planes; ++p)
    for (int64_t t = 0; t < lastQuery; ++t) {
      bool sees = false;
      for (int64_t s = 0; s < keys; s += step) {
        int64_t row = rows == 1 ? 0 : t, column = columns == 1 ? 0 : s;
        double value = array->values[(p * rows + row) * columns + column];
        bool visible = added ? value == 0.0 : (value != 0.0) != negated;
        result.hidesNothing &= visible;
        result.isCausal &= visible == (s <= t);
        sees |= visible;
      }
      result.everyQuerySees &= sees;
    }
  return result;
}

Value transforms::withoutIdleParts(KnownValues &values, Value mask, int64_t queries, int64_t keys,
                                   int depth) {
  if (std::optional<KnownMask> known = findKnownMask(values, mask, queries, keys))
    return known->hidesNothing ? Value() : mask;
  Operation *op = mask.getDefiningOp();
  bool joins = isFloat(mask) ? isa_and_nonnull<AddOp>(op) : isa_and_nonnull<AndOp>(op);
  if (!joins || depth >= kGreatestDepth)
    return mask;
  Value left = withoutIdleParts(values, op->getOperand(0), queries, keys, depth + 1);
  Value right = withoutIdleParts(values, op->getOperand(1), queries, keys, depth + 1);
  if (left == op->getOperand(0) && right == op->getOperand(1))
    return mask;
  if (!left || !right)
    return left ? left : right;
  OpBuilder builder(op);
  Operation *less = builder.clone(*op);
  less->setOperands({left, right});
  return less->getResult(0);
}
