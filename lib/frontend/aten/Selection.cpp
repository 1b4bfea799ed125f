// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A selection is a tensor with an element for each of the mask. Where the mask is false it repeats
// one that was selected, so that what is computed there is what is computed of another: no infinity
// or NaN arises, in a gradient either, that PyTorch's program does not have.
#include "frontend/aten/Selection.h"
#include "frontend/aten/FreshLayout.h"

#include "mlir/IR/OperationSupport.h"

#include <numeric>
#include <set>

using namespace mlir;
using namespace accc;
using namespace accc::aten;

using Arguments = std::vector<NamedLocal>;

static ArrayRef<int64_t> shapeOf(const MutableTensor &tensor) {
  return cast<RankedTensorType>(tensor.type()).getShape();
}

static Integers numbersOf(ArrayRef<int64_t> shape) { return Integers(shape.begin(), shape.end()); }

bool accc::aten::hasSelection(const Arguments &arguments) {
  return llvm::any_of(arguments, [](const NamedLocal &each) {
    return std::holds_alternative<Selection>(each.value) ||
           std::holds_alternative<Selections>(each.value);
  });
}

/// Whether two values are computed in the same way.
static bool isSameValue(Value a, Value b, int depth = 8) {
  if (a == b)
    return true;
  auto first = dyn_cast<OpResult>(a), second = dyn_cast<OpResult>(b);
  return first && second && depth > 0 && first.getResultNumber() == second.getResultNumber() &&
         OperationEquivalence::isEquivalentTo(
             first.getOwner(), second.getOwner(),
             [&](Value x, Value y) { return success(isSameValue(x, y, depth - 1)); }, nullptr,
             OperationEquivalence::IgnoreLocations);
}

namespace {

/// Calls of operators that give one tensor.
class Calls {
public:
  Calls(Caller &caller, Location loc, StringRef name) : caller(caller), loc(loc), name(name) {}

  MutableTensor operator()(StringRef op, const Arguments &arguments) const {
    return std::get<MutableTensor>(caller.call(loc, op, arguments, name).front());
  }
  MutableTensor view(const MutableTensor &x, ArrayRef<int64_t> shape) const {
    return (*this)("reshape", {{"self", x}, {"shape", numbersOf(shape)}});
  }
  MutableTensor tensor(Value value) const {
    return MutableTensor(value, name,
                         Layout::contiguous(cast<RankedTensorType>(value.getType()).getShape()));
  }
  /// The mask, with dimensions of extent 1 behind its own up to `rank`.
  MutableTensor mask(Value mask, int64_t rank, bool isFlat) const {
    auto type = cast<RankedTensorType>(mask.getType());
    Integers shape = isFlat ? Integers{type.getNumElements()} : numbersOf(type.getShape());
    shape.resize(static_cast<size_t>(rank), 1);
    return view(tensor(mask), shape);
  }
  MutableTensor isAny(Value mask) const { return (*this)("any", {{"self", tensor(mask)}}); }
  /// Where the mask is false, `otherwise`.
  MutableTensor filled(const Selection &selection, Local otherwise) const {
    auto rank = static_cast<int64_t>(shapeOf(selection.elements).size());
    MutableTensor isOut =
        (*this)("logical_not", {{"self", mask(selection.mask, rank, /*isFlat=*/true)}});
    return (*this)(
        "masked_fill.Scalar",
        {{"self", selection.elements}, {"mask", isOut}, {"value", std::move(otherwise)}});
  }

  Caller &caller;
  Location loc;
  StringRef name;
};

} // namespace

// ---- reading ----

static std::optional<Selection> select(const Calls &call, const MutableTensor &x, Value mask) {
  auto maskType = cast<RankedTensorType>(mask.getType());
  ArrayRef<int64_t> shape = shapeOf(x);
  auto rank = static_cast<size_t>(maskType.getRank());
  if (rank == 0 || rank > shape.size() || shape.take_front(rank) != maskType.getShape() ||
      maskType.getNumElements() == 0 || isComplex(x.type()))
    return std::nullopt;
  SmallVector<int64_t> rows = {maskType.getNumElements()}, one = {1};
  llvm::append_range(rows, shape.drop_front(rank));
  llvm::append_range(one, shape.drop_front(rank));
  MutableTensor all = call.view(x, rows);
  MutableTensor flatMask = call.mask(mask, 1, /*isFlat=*/true);
  MutableTensor flags = call(
      "to.dtype", {{"self", flatMask}, {"dtype", Type(IntegerType::get(mask.getContext(), 64))}});
  MutableTensor first = call("argmax", {{"self", flags}, {"dim", int64_t(0)}, {"keepdim", true}});
  MutableTensor selected =
      call("index_select", {{"self", all}, {"dim", int64_t(0)}, {"index", first}});
  selected = call("detach", {{"self", selected}});
  MutableTensor ones = call("ones_like", {{"self", selected}});
  MutableTensor otherwise =
      call("where.self", {{"condition", call.isAny(mask)}, {"self", selected}, {"other", ones}});
  auto dense = static_cast<int64_t>(rows.size());
  return Selection{call("where.self", {{"condition", call.mask(mask, dense, /*isFlat=*/true)},
                                       {"self", all},
                                       {"other", otherwise}}),
                   mask};
}

/// The one mask of an index, which stands first; or null.
static MutableTensor onlyMask(const MutableTensors &indices) {
  if (indices.empty() || !indices.front() ||
      llvm::count_if(indices, [](const MutableTensor &each) { return bool(each); }) != 1)
    return MutableTensor();
  return getElementTypeOrSelf(indices.front().type()).isInteger(1) ? indices.front()
                                                                   : MutableTensor();
}

template <typename T>
static const T *argument(const llvm::StringMap<Local> &locals, StringRef name) {
  auto found = locals.find(name);
  return found == locals.end() ? nullptr : std::get_if<T>(&found->second);
}

std::optional<Selection> accc::aten::readByMask(Caller &caller, Location loc, const Operator &op,
                                                const llvm::StringMap<Local> &locals,
                                                StringRef name) {
  const auto *x = argument<MutableTensor>(locals, "self");
  if (!x || !*x || op.inPlace)
    return std::nullopt;
  Calls call(caller, loc, name);
  MutableTensor mask, source = *x;
  if (op.signature.name == "index") {
    if (const auto *indices = argument<MutableTensors>(locals, "indices"))
      mask = onlyMask(*indices);
  } else if (op.signature.name == "masked_select") {
    if (const auto *given = argument<MutableTensor>(locals, "mask"))
      mask = *given;
  }
  if (!mask || caller.isKnown(loc, caller.read(loc, mask)))
    return std::nullopt;
  if (op.signature.name == "masked_select" && shapeOf(mask) != shapeOf(source))
    return std::nullopt;
  return select(call, source, caller.read(loc, mask));
}

// ---- writing ----

/// x with the selection where its mask is true, or nothing.
static std::optional<MutableTensor> written(const Calls &call, const MutableTensor &x,
                                            const Selection &values, bool accumulates) {
  ArrayRef<int64_t> shape = shapeOf(x);
  auto maskType = cast<RankedTensorType>(values.mask.getType());
  auto rank = static_cast<size_t>(maskType.getRank());
  bool fits = rank <= shape.size() && shape.take_front(rank) == maskType.getShape() &&
              shapeOf(values.elements).drop_front() == shape.drop_front(rank) &&
              getElementTypeOrSelf(x.type()) == getElementTypeOrSelf(values.elements.type());
  if (!fits)
    return std::nullopt;
  MutableTensor there = call.view(values.elements, shape);
  if (accumulates)
    there = call("add.Tensor", {{"self", x}, {"other", there}});
  auto all = static_cast<int64_t>(shape.size());
  return call("where.self", {{"condition", call.mask(values.mask, all, /*isFlat=*/false)},
                             {"self", there},
                             {"other", x}});
}

// ---- operators ----

/// The sum or the mean along dimensions, of which the first, that of the mask, is one.
static MutableTensor reduced(const Calls &call, const Selection &x, bool isMean,
                             const Integers &dims, bool keepsDims = false) {
  MutableTensor sum =
      call("sum.dim_IntList",
           {{"self", call.filled(x, int64_t(0))}, {"dim", dims}, {"keepdim", keepsDims}});
  if (!isMean)
    return sum;
  ArrayRef<int64_t> shape = shapeOf(x.elements);
  int64_t each = 1;
  for (int64_t dim : dims)
    each *= dim == 0 ? 1 : shape[dim];
  MutableTensor count = call("sum", {{"self", call.tensor(x.mask)}});
  count = call("mul.Scalar", {{"self", count}, {"other", each}});
  return call("div.Tensor", {{"self", sum}, {"other", count}});
}

static Integers allDims(size_t rank) {
  Integers dims(rank);
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

/// The dimensions of a sum or a mean, in ascending order, if that of the mask is among them.
static std::optional<Integers> reducedDims(const llvm::StringMap<Local> &locals, size_t rank) {
  auto dim = locals.find("dim");
  if (dim == locals.end() || std::holds_alternative<NoValue>(dim->second))
    return allDims(rank);
  std::set<int64_t> dims;
  if (const auto *list = std::get_if<Integers>(&dim->second))
    for (int64_t d : *list)
      dims.insert(d < 0 ? d + static_cast<int64_t>(rank) : d);
  if (dims.empty() || *dims.begin() != 0 || *dims.rbegin() >= static_cast<int64_t>(rank))
    return std::nullopt;
  return Integers(dims.begin(), dims.end());
}

/// The arguments with the elements of selections in their place. Others that have a gradient do not
/// have one where nothing is selected.
static Arguments withElements(const Calls &call, const Arguments &given, Value mask) {
  Arguments all = given;
  for (NamedLocal &each : all) {
    auto *selection = std::get_if<Selection>(&each.value);
    auto *tensor = std::get_if<MutableTensor>(&each.value);
    if (selection)
      each.value = Local(selection->elements);
    else if (tensor && *tensor && !tensor->isNumber() &&
             isa<FloatType>(getElementTypeOrSelf(tensor->type())))
      each.value = Local(call("where.self", {{"condition", call.isAny(mask)},
                                             {"self", *tensor},
                                             {"other", call("detach", {{"self", *tensor}})}}));
  }
  return all;
}

/// Whether what an operator gives for an element of the selections depends on those in its place
/// and on tensors that have nothing along the mask.
static bool isAligned(const Arguments &given, size_t rank) {
  return llvm::all_of(given, [&](const NamedLocal &each) {
    if (auto *selection = std::get_if<Selection>(&each.value))
      return shapeOf(selection->elements).size() == rank;
    auto *tensor = std::get_if<MutableTensor>(&each.value);
    if (!tensor || !*tensor)
      return !std::holds_alternative<MutableTensors>(each.value) &&
             !std::holds_alternative<Selections>(each.value);
    ArrayRef<int64_t> shape = shapeOf(*tensor);
    return shape.size() < rank || (shape.size() == rank && shape.front() == 1);
  });
}

static bool isOfOneShape(const Selections &list) {
  return llvm::all_of(list, [&](const Selection &each) {
    return shapeOf(each.elements) == shapeOf(list.front().elements);
  });
}

/// Whether the dimensions in the arguments are all given, and none is that of the mask.
static bool isAlongOthers(const Arguments &given, size_t rank) {
  auto isOther = [&](int64_t dim) {
    return dim > 0 || (dim < 0 && dim > -static_cast<int64_t>(rank));
  };
  bool hasDims = false;
  for (const NamedLocal &each : given) {
    if (!namesDims(each.name))
      continue;
    hasDims = true;
    auto *dim = std::get_if<int64_t>(&each.value);
    auto *list = std::get_if<Integers>(&each.value);
    if (dim ? !isOther(*dim) : !list || list->empty() || !llvm::all_of(*list, isOther))
      return false;
  }
  return hasDims;
}

/// Whether a slice is x[:], which TorchScript has for the first dimension of x[:, 1].
static bool isWholeSlice(const llvm::StringMap<Local> &locals) {
  auto isOr = [&](StringRef name, int64_t expected) {
    const auto *number = argument<int64_t>(locals, name);
    return !number || *number == expected;
  };
  return isOr("dim", 0) && isOr("start", 0) && isOr("step", 1) &&
         isOr("end", std::numeric_limits<int64_t>::max());
}

/// Whether the call gives its tensor the shape [-1].
static bool isAsVector(const llvm::StringMap<Local> &locals) {
  return llvm::any_of(ArrayRef<StringRef>{"shape", "size"}, [&](StringRef name) {
    const auto *shape = argument<Integers>(locals, name);
    return shape && ArrayRef<int64_t>(*shape) == ArrayRef<int64_t>{-1};
  });
}

static Arguments withTarget(Arguments all, MutableTensor target) {
  for (NamedLocal &each : all)
    if (each.name == "target")
      each.value = Local(target);
  return all;
}

// Losses that are the mean or the sum of an elementwise function.
static constexpr StringRef kLosses[] = {"mse_loss",
                                        "l1_loss",
                                        "smooth_l1_loss",
                                        "huber_loss",
                                        "soft_margin_loss",
                                        "binary_cross_entropy",
                                        "binary_cross_entropy_with_logits"};

static constexpr int64_t kNone = 0, kMean = 1, kIgnored = -100;

std::vector<Local> accc::aten::callOnSelections(Caller &caller, Location loc, StringRef op,
                                                const Arguments &given,
                                                const llvm::StringMap<Local> &locals,
                                                StringRef name) {
  Calls call(caller, loc, name);
  std::optional<Operator> known = findOperator(op);
  std::optional<Selection> first;
  bool isOne = llvm::none_of(given, [](const NamedLocal &each) { return each.name == "out"; });
  auto note = [&](const Selection &each) {
    isOne &= !first || isSameValue(first->mask, each.mask);
    first = first ? first : each;
  };
  for (const NamedLocal &each : given) {
    if (auto *selection = std::get_if<Selection>(&each.value))
      note(*selection);
    if (auto *list = std::get_if<Selections>(&each.value))
      llvm::for_each(*list, note);
  }
  auto refuse = [&]() { caller.requireKnown(loc, first->mask); };
  if (!isOne)
    refuse();
  size_t rank = shapeOf(first->elements).size();
  const auto *self = argument<Selection>(locals, "self");
  StringRef plain = known->signature.name;

  if (isElementwise(op) && isAligned(given, rank) && (!known->inPlace || self)) {
    std::vector<Local> results = caller.call(loc, op, withElements(call, given, first->mask), name);
    return {Selection{std::get<MutableTensor>(results.front()), first->mask}};
  }
  if (plain == "index_put") {
    const auto *x = argument<MutableTensor>(locals, "self");
    const auto *values = argument<Selection>(locals, "values");
    const auto *indices = argument<MutableTensors>(locals, "indices");
    const auto *accumulate = argument<bool>(locals, "accumulate");
    MutableTensor mask = indices ? onlyMask(*indices) : MutableTensor();
    std::optional<MutableTensor> result;
    if (x && values && mask && isSameValue(caller.read(loc, mask), first->mask))
      result = written(call, *x, *values, accumulate && *accumulate);
    if (!result)
      refuse();
    if (known->inPlace)
      return caller.call(loc, "copy_", {{"self", *x}, {"src", *result}}, name);
    return {*result};
  }
  if ((plain == "sum" || plain == "mean") && self && !argument<Type>(locals, "dtype"))
    if (std::optional<Integers> dims = reducedDims(locals, rank)) {
      const auto *keepsDims = argument<bool>(locals, "keepdim");
      return {reduced(call, *self, plain == "mean", *dims, keepsDims && *keepsDims)};
    }
  if (llvm::is_contained(kLosses, plain) && isAligned(given, rank)) {
    const auto *reduction = argument<int64_t>(locals, "reduction");
    int64_t kind = reduction ? *reduction : kMean;
    Arguments each = withElements(call, given, first->mask);
    llvm::erase_if(each, [](const NamedLocal &argument) { return argument.name == "reduction"; });
    each.push_back({"reduction", kNone});
    Selection losses{call(op, each), first->mask};
    if (kind == kNone)
      return {losses};
    return {reduced(call, losses, kind == kMean, allDims(rank))};
  }
  if (plain == "broadcast_tensors")
    if (const auto *list = argument<Selections>(locals, "tensors"); list && isOfOneShape(*list))
      return {*list};
  if (plain == "slice" && self && isWholeSlice(locals))
    return {*self};
  if (self && rank == 1 &&
      (plain == "flatten" || ((plain == "view" || plain == "reshape") && isAsVector(locals))))
    return {*self};
  // What treats the elements of the mask alike.
  bool isLinear = plain == "linear" && argument<Selection>(locals, "input") &&
                  !argument<Selection>(locals, "weight") && rank > 1;
  if (isLinear || (self && isAlongDims(op) && isAlongOthers(given, rank))) {
    std::vector<Local> results = caller.call(loc, op, withElements(call, given, first->mask), name);
    for (Local &result : results)
      if (auto *tensor = std::get_if<MutableTensor>(&result))
        result = Local(Selection{*tensor, first->mask});
      else
        refuse();
    return results;
  }
  if (known->signature.find("ignore_index") && rank == 2)
    if (const auto *classes = argument<Selection>(locals, "target");
        classes && self && isa<IntegerType>(getElementTypeOrSelf(classes->elements.type())) &&
        shapeOf(classes->elements).size() == 1) {
      const auto *ignored = argument<int64_t>(locals, "ignore_index");
      const auto *reduction = argument<int64_t>(locals, "reduction");
      if (!reduction || *reduction != kNone)
        return caller.call(loc, op,
                           withTarget(withElements(call, given, first->mask),
                                      call.filled(*classes, ignored ? *ignored : kIgnored)),
                           name);
    }
  refuse();
  return {};
}
