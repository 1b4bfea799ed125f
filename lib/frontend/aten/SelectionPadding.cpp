// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What masks select, padded: to a size that does not depend on data where the padding takes the
// places that selected elements leave.
#include "frontend/aten/Numbers.h"
#include "frontend/aten/Selection.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Fold.h"
#include "ir/prim/Prim.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;

// ---- total - n, of n selected elements ----

Value accc::aten::maskCountedBy(Value number) {
  auto sum = withoutReshapes(number).getDefiningOp<prim::ReduceOp>();
  if (!sum || sum.getKind() != prim::ReduceKind::sum ||
      cast<RankedTensorType>(sum.getType()).getNumElements() != 1)
    return nullptr;
  auto flags = withoutReshapes(sum.getOperand()).getDefiningOp<prim::ConvertOp>();
  bool isMask = flags && getElementTypeOrSelf(flags.getOperand().getType()).isInteger(1) &&
                isa<IntegerType>(getElementTypeOrSelf(flags.getType()));
  return isMask ? flags.getOperand() : Value();
}

Value accc::aten::maskOfRest(Caller &caller, Location loc, Value mask, int64_t total) {
  auto call = [&](StringRef op, const std::vector<NamedLocal> &arguments) {
    return std::get<MutableTensor>(caller.call(loc, op, arguments, "rest").front());
  };
  auto type = cast<RankedTensorType>(mask.getType());
  MutableTensor flags(mask, "mask", Layout::contiguous(type.getShape()));
  flags = call("logical_not", {{"self", flags}});
  flags = call("reshape", {{"self", flags}, {"shape", Integers{type.getNumElements()}}});
  if (int64_t more = total - type.getNumElements()) {
    MutableTensor ones =
        call("ones", {{"size", Integers{more}}, {"dtype", Type(type.getElementType())}});
    flags = call("cat", {{"tensors", MutableTensors{flags, ones}}});
  }
  return caller.read(loc, flags);
}

namespace {
/// How many elements of a mask are true whatever the data, and those that are left of it.
struct Parts {
  int64_t known;
  Value mask;
};
} // namespace

/// Of a mask one behind the other with others that are known, as cat() of selections has it.
static Parts partsOf(Value mask) {
  Parts parts{0, mask};
  auto joined = withoutReshapes(mask).getDefiningOp<prim::ConcatenateOp>();
  SmallVector<Value> unknown;
  for (Value each : joined ? joined->getOperands() : ValueRange())
    if (DenseElementsAttr flags = knownValue(each))
      parts.known += llvm::count(flags.getValues<bool>(), true);
    else
      unknown.push_back(each);
  return unknown.size() == 1 ? Parts{parts.known, unknown.front()} : Parts{0, mask};
}

static std::optional<int64_t> knownInteger(Value value) {
  DenseElementsAttr known = knownValue(value);
  bool isOne = known && known.getNumElements() == 1 && known.getElementType().isInteger(64);
  return isOne ? std::optional((*known.value_begin<APInt>()).getSExtValue()) : std::nullopt;
}

namespace {
struct Rest {
  int64_t total;
  Value mask;
};
} // namespace

/// The parts of `total - n`, which is also `more - (n + less)`.
static std::optional<Rest> restIn(Value number) {
  auto difference = withoutReshapes(number).getDefiningOp<prim::SubOp>();
  std::optional<int64_t> total =
      difference ? knownInteger(difference->getOperand(0)) : std::nullopt;
  if (!total)
    return std::nullopt;
  Value taken = difference->getOperand(1);
  if (auto sum = withoutReshapes(taken).getDefiningOp<prim::AddOp>())
    for (int known : {0, 1})
      if (std::optional<int64_t> more = knownInteger(sum->getOperand(known))) {
        *total -= *more;
        taken = sum->getOperand(1 - known);
        break;
      }
  Value counted = maskCountedBy(taken);
  if (!counted)
    return std::nullopt;
  auto [known, mask] = partsOf(counted);
  *total -= known;
  bool isEnough = *total >= cast<RankedTensorType>(mask.getType()).getNumElements();
  return isEnough ? std::optional(Rest{*total, mask}) : std::nullopt;
}

bool accc::aten::isSelectedSize(Caller &caller, Location loc, const MutableTensor &number) {
  return number.countedMask() || restIn(caller.read(loc, number));
}

Value accc::aten::maskOfRest(Caller &caller, Location loc, Value number) {
  std::optional<Rest> rest = restIn(number);
  return rest ? maskOfRest(caller, loc, rest->mask, rest->total) : Value();
}

std::optional<int64_t> accc::aten::sizeOfMasks(const SelectedCall &call, ArrayRef<Value> masks) {
  int64_t total = 0;
  SmallVector<Value> unknown;
  for (Value mask : masks) {
    auto [known, left] = partsOf(mask);
    DenseElementsAttr flags = knownValue(left);
    total += flags ? llvm::count(flags.getValues<bool>(), true) : known;
    if (!flags)
      unknown.push_back(left);
  }
  if (unknown.size() != 2)
    return unknown.empty() ? std::optional(total) : std::nullopt;
  int64_t size = cast<RankedTensorType>(unknown[0].getType()).getNumElements();
  auto isRest = [&](Value a, Value b) { return isSameMask(call.maskOfRest(a, size), b); };
  bool isWhole = isRest(unknown[0], unknown[1]) || isRest(unknown[1], unknown[0]);
  return isWhole ? std::optional(total + size) : std::nullopt;
}

// ---- padding ----

MutableTensor selected::compact(const SelectedCall &call, const Selection &selection, int64_t total,
                                const Local &value) {
  const auto &[elements, mask, dim] = selection;
  MutableTensor places = call.placesAmong(mask);
  // All others meet in one place more, which is cut off.
  MutableTensor last = call("full_like", {{"self", places}, {"fill_value", total}});
  places = call("where.self", {{"condition", call.flags(mask)}, {"self", places}, {"other", last}});
  SmallVector<int64_t> shape(elements.shape());
  shape[dim] = total + 1;
  MutableTensor empty = call("full", {{"size", Integers(shape.begin(), shape.end())},
                                      {"fill_value", value},
                                      {"dtype", elementTypeOf(selection)}});
  MutableTensor all =
      call("index_copy", {{"self", empty}, {"dim", dim}, {"index", places}, {"source", elements}});
  return call("narrow", {{"self", all}, {"dim", dim}, {"start", int64_t(0)}, {"length", total}});
}

/// With as many elements before and after the selected ones along their dimension.
static bool giveBetween(SelectedCall &call, const Selection &x, const Integers &pad,
                        std::array<int64_t, 2> around) {
  if (llvm::any_of(around, [](int64_t size) { return size < 0; }))
    return false;
  SelectedCall::Arguments arguments = call.withElements("pad", pad);
  if (around == std::array<int64_t, 2>{})
    return call.giveSelections(arguments, [&](int64_t) { return std::optional(x.dim); });
  call.giveCall(arguments);
  Type i1 = IntegerType::get(x.mask.getContext(), 1);
  auto ones = [&](int64_t size) { return call("ones", {{"size", Integers{size}}, {"dtype", i1}}); };
  MutableTensor flags = call(
      "cat", {{"tensors", MutableTensors{ones(around[0]), call.flags(x.mask), ones(around[1])}}});
  auto padded = std::get<MutableTensor>(call.results.front());
  return call.give(call.repeated({padded, call.read(flags), x.dim}));
}

bool selected::pad(SelectedCall &call) {
  const auto *x = call.argument<Selection>("self");
  const auto *known = call.argument<Integers>("pad");
  const auto *sizes = call.argument<SelectedSizes>("pad");
  const auto *mode = call.argument<std::string>("mode");
  if (!x || (!known && !sizes) || (mode && *mode != "constant"))
    return false;
  // From the last dimension on, before and after each.
  Integers pad = known ? *known : sizes->sizes;
  auto first = static_cast<size_t>(2 * (x->rank() - 1 - x->dim));
  if (known) {
    bool isAround = first + 1 < pad.size();
    std::array<int64_t, 2> around{isAround ? pad[first] : 0, isAround ? pad[first + 1] : 0};
    return call.hasOneMask() && giveBetween(call, *x, pad, around);
  }
  auto at = static_cast<size_t>(sizes->dim);
  auto [selected, mask] = partsOf(x->mask);
  int64_t total = pad[at] + selected;
  if (at != first + 1 || pad[first] != 0 ||
      pad[at] < cast<RankedTensorType>(mask.getType()).getNumElements())
    return false;
  Value rest = call.maskOfRest(mask, pad[at]);
  if (!isSameMask(rest, sizes->mask))
    return false;
  pad[at] = 0;
  call.giveCall(call.withElements("pad", pad));
  Selection padded{std::get<MutableTensor>(call.results.front()), x->mask, x->dim};
  const auto *value = call.argument<int64_t>("value");
  const auto *real = call.argument<double>("value");
  return call.give(
      compact(call, padded, total, real ? Local(*real) : Local(value ? *value : int64_t(0))));
}
