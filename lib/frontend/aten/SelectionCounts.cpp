// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes that are computed of how many elements a mask selects: they are how many another one
// selects.
#include "frontend/aten/Selection.h"
#include "frontend/common/Fold.h"
#include "ir/prim/Prim.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;

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

/// A mask, or what it does not select, as a vector, and `more` elements that are selected behind.
static Value longer(Caller &caller, Location loc, Value mask, bool isNegated, int64_t more) {
  auto call = [&](StringRef op, const std::vector<NamedLocal> &arguments) {
    return std::get<MutableTensor>(caller.call(loc, op, arguments, "mask").front());
  };
  auto type = cast<RankedTensorType>(mask.getType());
  MutableTensor flags(mask, "mask", Layout::contiguous(type.getShape()));
  if (isNegated)
    flags = call("logical_not", {{"self", flags}});
  flags = call("reshape", {{"self", flags}, {"shape", Integers{type.getNumElements()}}});
  if (more > 0) {
    MutableTensor ones =
        call("ones", {{"size", Integers{more}}, {"dtype", Type(type.getElementType())}});
    flags = call("cat", {{"tensors", MutableTensors{flags, ones}}});
  }
  return caller.read(loc, flags);
}

Value accc::aten::maskOfRest(Caller &caller, Location loc, Value mask, int64_t total) {
  int64_t size = cast<RankedTensorType>(mask.getType()).getNumElements();
  return longer(caller, loc, mask, /*isNegated=*/true, total - size);
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
/// How many elements of a mask are true, and a number beside.
struct Count {
  int64_t number;
  Value mask;
};
} // namespace

/// The parts of `n + more`.
static std::optional<Count> sumIn(Value number) {
  auto sum = withoutReshapes(number).getDefiningOp<prim::AddOp>();
  for (int known : {0, 1}) {
    std::optional<int64_t> more = sum ? knownInteger(sum->getOperand(known)) : std::nullopt;
    Value mask = more ? maskCountedBy(sum->getOperand(1 - known)) : Value();
    if (mask && *more >= 0)
      return Count{*more, mask};
  }
  return std::nullopt;
}

/// The parts of `total - n`, which is also `more - (n + less)`.
static std::optional<Count> restIn(Value number) {
  auto difference = withoutReshapes(number).getDefiningOp<prim::SubOp>();
  std::optional<int64_t> total =
      difference ? knownInteger(difference->getOperand(0)) : std::nullopt;
  if (!total)
    return std::nullopt;
  Value taken = difference->getOperand(1);
  std::optional<Count> sum = sumIn(taken);
  Value counted = sum ? sum->mask : maskCountedBy(taken);
  if (!counted)
    return std::nullopt;
  auto [known, mask] = partsOf(counted);
  Count rest{*total - known - (sum ? sum->number : 0), mask};
  bool isEnough = rest.number >= cast<RankedTensorType>(mask.getType()).getNumElements();
  return isEnough ? std::optional(rest) : std::nullopt;
}

/// The parts of `n * times`.
static std::optional<Count> productIn(Value number) {
  auto product = withoutReshapes(number).getDefiningOp<prim::MulOp>();
  for (int known : {0, 1}) {
    std::optional<int64_t> times =
        product ? knownInteger(product->getOperand(known)) : std::nullopt;
    Value mask = times ? maskCountedBy(product->getOperand(1 - known)) : Value();
    if (mask && *times > 0)
      return Count{*times, mask};
  }
  return std::nullopt;
}

Repeated accc::aten::repeatedIn(Value mask) {
  auto broadcast = withoutReshapes(mask).getDefiningOp<prim::BroadcastOp>();
  if (!broadcast)
    return {mask, 1};
  ArrayRef<int64_t> shape = cast<RankedTensorType>(broadcast.getType()).getShape();
  auto operand = cast<RankedTensorType>(broadcast.getOperand().getType());
  size_t whole = 0; // the dimensions of the result behind which all are repeated
  for (auto [dim, extent] : llvm::zip(broadcast.getDimensions(), operand.getShape()))
    whole = extent == 1 ? whole : static_cast<size_t>(dim) + 1;
  auto sizeOf = [](ArrayRef<int64_t> extents) { return ShapedType::getNumElements(extents); };
  int64_t times = sizeOf(shape.drop_front(whole));
  bool isAll = sizeOf(shape) == times * operand.getNumElements(); // none is repeated in front
  return isAll ? Repeated{broadcast.getOperand(), times} : Repeated{mask, 1};
}

Value accc::aten::repeatedMask(Caller &caller, Location loc, Value mask, int64_t before,
                               int64_t behind) {
  if (before == 1 && behind == 1)
    return mask;
  auto [own, times] = repeatedIn(mask);
  mask = own;
  behind *= times;
  auto type = cast<RankedTensorType>(mask.getType());
  int64_t size = type.getNumElements();
  MutableTensor flags(mask, "mask", Layout::contiguous(type.getShape()));
  auto call = [&](StringRef op, StringRef parameter, const Integers &sizes) {
    Local result =
        caller.call(loc, op, {{"self", flags}, {parameter.str(), sizes}}, "mask").front();
    flags = std::get<MutableTensor>(result);
  };
  // As expand() writes it, for isSameMask().
  call("reshape", "shape", {size, 1});
  call("expand", "size", before == 1 ? Integers{size, behind} : Integers{before, size, behind});
  call("reshape", "shape", {before * size * behind});
  return caller.read(loc, flags);
}

Value accc::aten::maskOfEach(Caller &caller, Location loc, Value mask, int64_t count) {
  auto [own, times] = repeatedIn(mask);
  return times % count == 0 ? repeatedMask(caller, loc, own, 1, times / count) : Value();
}

bool accc::aten::isSelectedSize(Caller &caller, Location loc, const MutableTensor &number) {
  Value value = caller.read(loc, number);
  return number.countedMask() || restIn(value) || sumIn(value) || productIn(value);
}

Value accc::aten::maskOfNumber(Caller &caller, Location loc, Value number) {
  if (std::optional<Count> rest = restIn(number))
    return maskOfRest(caller, loc, rest->mask, rest->number);
  if (std::optional<Count> product = productIn(number))
    return repeatedMask(caller, loc, product->mask, 1, product->number);
  std::optional<Count> sum = sumIn(number);
  return sum ? longer(caller, loc, sum->mask, /*isNegated=*/false, sum->number) : Value();
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
