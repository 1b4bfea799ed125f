// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A selection is a tensor with an element for each of the mask. Where the mask is false it repeats
// one that was selected, so that what is computed there is what is computed of another: no infinity
// or NaN arises, in a gradient either, that PyTorch's program does not have.
#include "frontend/aten/Selection.h"
#include "frontend/aten/FreshLayout.h"

#include "mlir/IR/OperationSupport.h"

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

static bool isSameComputation(Value a, Value b, int depth) {
  if (a == b)
    return true;
  auto first = dyn_cast<OpResult>(a), second = dyn_cast<OpResult>(b);
  return first && second && depth > 0 && first.getResultNumber() == second.getResultNumber() &&
         OperationEquivalence::isEquivalentTo(
             first.getOwner(), second.getOwner(),
             [&](Value x, Value y) { return success(isSameComputation(x, y, depth - 1)); }, nullptr,
             OperationEquivalence::IgnoreLocations);
}

bool accc::aten::isSameValue(Value a, Value b) { return isSameComputation(a, b, /*depth=*/8); }

// ---- arguments ----

SelectedCall::SelectedCall(Caller &caller, Location loc, const Operator &op, StringRef opName,
                           const Arguments &given, const llvm::StringMap<Local> &locals,
                           StringRef name)
    : caller(caller), loc(loc), called(op), opName(opName), given(given), locals(locals),
      name(name) {
  for (const NamedLocal &each : given) {
    isOne &= each.name != "out";
    if (auto *selection = std::get_if<Selection>(&each.value))
      note(*selection);
    if (auto *list = std::get_if<Selections>(&each.value))
      llvm::for_each(*list, [&](const Selection &selection) { note(selection); });
  }
}

void SelectedCall::note(const Selection &selection) {
  isOne &= !any || isSameValue(any->mask, selection.mask);
  any = any ? any : selection;
}

bool SelectedCall::isGiven(StringRef parameter) const {
  auto found = locals.find(parameter);
  return found != locals.end() && !std::holds_alternative<NoValue>(found->second);
}

int64_t SelectedCall::rank() const { return static_cast<int64_t>(shapeOf(any->elements).size()); }

bool SelectedCall::isAligned() const {
  auto all = static_cast<size_t>(rank());
  return llvm::all_of(given, [&](const NamedLocal &each) {
    if (auto *selection = std::get_if<Selection>(&each.value))
      return shapeOf(selection->elements).size() == all;
    auto *tensor = std::get_if<MutableTensor>(&each.value);
    if (!tensor || !*tensor)
      return !std::holds_alternative<MutableTensors>(each.value) &&
             !std::holds_alternative<Selections>(each.value);
    ArrayRef<int64_t> shape = shapeOf(*tensor);
    return shape.size() < all || (shape.size() == all && shape.front() == 1);
  });
}

bool SelectedCall::isAlongOthers() const {
  auto isOther = [&](int64_t dim) { return dim > 0 || (dim < 0 && dim > -rank()); };
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

Arguments SelectedCall::withElements() const {
  Arguments all = given;
  for (NamedLocal &each : all) {
    auto *selection = std::get_if<Selection>(&each.value);
    auto *tensor = std::get_if<MutableTensor>(&each.value);
    if (selection)
      each.value = Local(selection->elements);
    else if (tensor && *tensor && !tensor->isNumber() &&
             isa<FloatType>(getElementTypeOrSelf(tensor->type())))
      each.value =
          Local((*this)("where.self", {{"condition", isAny(any->mask)},
                                       {"self", *tensor},
                                       {"other", (*this)("detach", {{"self", *tensor}})}}));
  }
  return all;
}

// ---- building ----

MutableTensor SelectedCall::operator()(StringRef op, const Arguments &arguments) const {
  return std::get<MutableTensor>(caller.call(loc, op, arguments, name).front());
}

MutableTensor SelectedCall::view(const MutableTensor &x, ArrayRef<int64_t> shape) const {
  return (*this)("reshape", {{"self", x}, {"shape", numbersOf(shape)}});
}

MutableTensor SelectedCall::tensor(Value value) const {
  return MutableTensor(value, name,
                       Layout::contiguous(cast<RankedTensorType>(value.getType()).getShape()));
}

MutableTensor SelectedCall::mask(Value mask, int64_t rank, bool isFlat) const {
  auto type = cast<RankedTensorType>(mask.getType());
  Integers shape = isFlat ? Integers{type.getNumElements()} : numbersOf(type.getShape());
  shape.resize(static_cast<size_t>(rank), 1);
  return view(tensor(mask), shape);
}

MutableTensor SelectedCall::isAny(Value mask) const {
  return (*this)("any", {{"self", tensor(mask)}});
}

MutableTensor SelectedCall::filled(const Selection &selection, Local otherwise) const {
  auto rank = static_cast<int64_t>(shapeOf(selection.elements).size());
  MutableTensor isOut =
      (*this)("logical_not", {{"self", mask(selection.mask, rank, /*isFlat=*/true)}});
  return (*this)("masked_fill.Scalar",
                 {{"self", selection.elements}, {"mask", isOut}, {"value", std::move(otherwise)}});
}

std::optional<Selection> SelectedCall::select(const MutableTensor &x, Value mask) const {
  auto maskType = cast<RankedTensorType>(mask.getType());
  ArrayRef<int64_t> shape = shapeOf(x);
  auto rank = static_cast<size_t>(maskType.getRank());
  if (rank == 0 || rank > shape.size() || shape.take_front(rank) != maskType.getShape() ||
      maskType.getNumElements() == 0 || isComplex(x.type()))
    return std::nullopt;
  SmallVector<int64_t> rows = {maskType.getNumElements()};
  llvm::append_range(rows, shape.drop_front(rank));
  MutableTensor all = view(x, rows);
  MutableTensor flags =
      (*this)("to.dtype", {{"self", this->mask(mask, 1, /*isFlat=*/true)},
                           {"dtype", Type(IntegerType::get(mask.getContext(), 64))}});
  MutableTensor first =
      (*this)("argmax", {{"self", flags}, {"dim", int64_t(0)}, {"keepdim", true}});
  MutableTensor selected =
      (*this)("index_select", {{"self", all}, {"dim", int64_t(0)}, {"index", first}});
  selected = (*this)("detach", {{"self", selected}});
  MutableTensor ones = (*this)("ones_like", {{"self", selected}});
  MutableTensor otherwise =
      (*this)("where.self", {{"condition", isAny(mask)}, {"self", selected}, {"other", ones}});
  auto dense = static_cast<int64_t>(rows.size());
  return Selection{(*this)("where.self", {{"condition", this->mask(mask, dense, /*isFlat=*/true)},
                                          {"self", all},
                                          {"other", otherwise}}),
                   mask};
}

// ---- results ----

bool SelectedCall::give(Local result) {
  results = {std::move(result)};
  return true;
}

bool SelectedCall::giveCall(const Arguments &arguments) {
  results = caller.call(loc, opName, arguments, name);
  return true;
}

bool SelectedCall::giveForElements() {
  giveCall(withElements());
  for (Local &result : results) {
    auto *tensor = std::get_if<MutableTensor>(&result);
    if (!tensor)
      return false;
    result = Local(Selection{*tensor, any->mask});
  }
  return true;
}

std::optional<std::vector<Local>> accc::aten::callOnSelections(Caller &caller, Location loc,
                                                               const Operator &op, StringRef opName,
                                                               const Arguments &given,
                                                               const llvm::StringMap<Local> &locals,
                                                               StringRef name) {
  SelectedCall call(caller, loc, op, opName, given, locals, name);
  if (!call.first()) {
    bool isRead = op.selected && op.selected(call);
    return isRead ? std::optional(std::move(call.results)) : std::nullopt;
  }
  bool writesAll = op.inPlace && !call.argument<Selection>("self");
  auto isDone = [&] {
    if (op.selected && op.selected(call))
      return true;
    if (isElementwise(opName) && call.isAligned() && !writesAll)
      return call.giveForElements();
    return call.argument<Selection>("self") && isAlongDims(opName) && call.isAlongOthers() &&
           call.giveForElements();
  };
  if (!call.hasOneMask() || !isDone())
    caller.requireKnown(loc, call.first()->mask);
  return std::move(call.results);
}
