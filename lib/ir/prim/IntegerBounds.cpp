// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/IntegerBounds.h"

#include "ir/prim/Prim.h"

#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::prim;

using Bounds = std::optional<IntegerBounds>;

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static Bounds joined(Bounds a, Bounds b) {
  if (!a || !b)
    return std::nullopt;
  return IntegerBounds{std::min(a->low, b->low), std::max(a->high, b->high)};
}

static Bounds below(int64_t extent) { return extent > 0 ? Bounds({0, extent - 1}) : std::nullopt; }

/// Along the op's dimension of its operand.
template <typename Op> static Bounds placesOf(Op op) {
  return below(typeOf(op.getOperand()).getDimSize(static_cast<unsigned>(op.getDimension())));
}

/// Of a tensor of numbers that are not looked through where there are many.
static Bounds boundsOfConstant(Operation *op) {
  constexpr int64_t kMany = 4096;
  DenseIntElementsAttr elements;
  if (!matchPattern(op, m_Constant(&elements)) || (!elements.isSplat() && elements.size() > kMany))
    return std::nullopt;
  bool isUnsigned =
      elements.getElementType().isUnsignedInteger() || elements.getElementType().isInteger(1);
  Bounds all;
  auto add = [&](const APInt &element) {
    if (isUnsigned && element.getActiveBits() > 63)
      return false;
    int64_t number =
        isUnsigned ? static_cast<int64_t>(element.getZExtValue()) : element.getSExtValue();
    all = all ? joined(all, IntegerBounds{number, number}) : IntegerBounds{number, number};
    return true;
  };
  if (elements.isSplat())
    return add(elements.getSplatValue<APInt>()) ? all : std::nullopt;
  for (const APInt &element : elements.getValues<APInt>())
    if (!add(element))
      return std::nullopt;
  return all;
}

/// The least and the greatest of what `combine` makes of the ends of both; nothing where that
/// overflows, which `combine` says as llvm::AddOverflow does.
static Bounds combined(Bounds a, Bounds b,
                       function_ref<bool(int64_t, int64_t, int64_t &)> combine) {
  if (!a || !b)
    return std::nullopt;
  Bounds all;
  for (int64_t left : {a->low, a->high})
    for (int64_t right : {b->low, b->high}) {
      int64_t number = 0;
      if (combine(left, right, number))
        return std::nullopt;
      IntegerBounds here{number, number};
      all = all ? joined(all, here) : here;
    }
  return all;
}

static Bounds find(Value value, int depth);

static Bounds boundsOfResult(Operation *op, unsigned result, int depth) {
  auto of = [&](Value value) { return find(value, depth); };
  auto ofBoth = [&](Operation *both, auto combine) {
    return combined(of(both->getOperand(0)), of(both->getOperand(1)), combine);
  };
  auto ofChosen = [&](Operation *both, auto choose) {
    return ofBoth(both, [=](int64_t a, int64_t b, int64_t &number) {
      number = choose(a, b);
      return false;
    });
  };
  return llvm::TypeSwitch<Operation *, Bounds>(op)
      .Case([](ConstantOp constant) { return boundsOfConstant(constant); })
      .Case([](IotaOp iota) {
        return below(typeOf(iota).getDimSize(static_cast<unsigned>(iota.getDimension())));
      })
      .Case<SortOp, MergeOp>(
          [&](auto sort) { return result == 0 ? of(sort.getOperand()) : placesOf(sort); })
      .Case([](ArgReduceOp arg) { return placesOf(arg); })
      .Case<BroadcastOp, ReshapeOp, TransposeOp, ReverseOp, SliceOp, ConvertOp, GatherOp>(
          [&](Operation *same) { return of(same->getOperand(0)); })
      .Case(
          [&](SelectOp select) { return joined(of(select.getOnTrue()), of(select.getOnFalse())); })
      .Case([&](AddOp add) { return ofBoth(add, llvm::AddOverflow<int64_t>); })
      .Case([&](SubOp sub) { return ofBoth(sub, llvm::SubOverflow<int64_t>); })
      .Case([&](MulOp mul) { return ofBoth(mul, llvm::MulOverflow<int64_t>); })
      .Case([&](MinOp min) {
        return ofChosen(min, [](int64_t a, int64_t b) { return std::min(a, b); });
      })
      .Case([&](MaxOp max) {
        return ofChosen(max, [](int64_t a, int64_t b) { return std::max(a, b); });
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// Of every number of this type.
static IntegerBounds boundsOfType(IntegerType type) {
  unsigned width = type.getWidth();
  if (width == 1 || type.isUnsigned())
    return {0, width > 63 ? std::numeric_limits<int64_t>::max() // and more
                          : (int64_t(1) << width) - 1};
  return {llvm::minIntN(width), llvm::maxIntN(width)};
}

/// `depth`: so many ops more are looked at on the way to what `value` is computed from.
static Bounds find(Value value, int depth) {
  auto type = dyn_cast<IntegerType>(typeOf(value).getElementType());
  if (!type || depth == 0 || !value.getDefiningOp() || typeOf(value).getNumElements() == 0)
    return std::nullopt;
  Bounds found =
      boundsOfResult(value.getDefiningOp(), cast<OpResult>(value).getResultNumber(), depth - 1);
  if (!found)
    return std::nullopt;
  // What the type does not hold wraps around.
  IntegerBounds all = boundsOfType(type);
  return all.low <= found->low && found->high <= all.high ? found : std::nullopt;
}

std::optional<IntegerBounds> prim::boundsOf(Value value) {
  constexpr int kDepth = 12;
  return find(value, kDepth);
}
