// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A selection is a tensor with an element for each of the mask. Where the mask is false it repeats
// one that was selected, so that what is computed there is what is computed of another: no infinity
// or NaN arises, in a gradient either, that PyTorch's program does not have.
#include "frontend/aten/Selection.h"
#include "frontend/aten/FreshLayout.h"
#include "frontend/aten/Numbers.h"
#include "frontend/aten/SelectionRules.h"

#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;

using Arguments = std::vector<NamedLocal>;

static Integers numbersOf(ArrayRef<int64_t> shape) { return Integers(shape.begin(), shape.end()); }

bool accc::aten::hasSelection(const Arguments &arguments) {
  return llvm::any_of(arguments, [](const NamedLocal &each) {
    return std::holds_alternative<Selection>(each.value) ||
           std::holds_alternative<Selections>(each.value) ||
           std::holds_alternative<SelectedSizes>(each.value);
  });
}

static int64_t elementsOf(Value x) { return cast<RankedTensorType>(x.getType()).getNumElements(); }

static bool isSameComputation(Value a, Value b, int depth);

/// Whether both have the same elements, in whatever shapes.
static bool areSameElements(Value a, Value b, int depth) {
  if (elementsOf(a) != elementsOf(b))
    return false;
  if (isSameComputation(withoutReshapes(a), withoutReshapes(b), depth))
    return true;
  auto [first, times] = repeatedIn(a);
  auto [second, others] = repeatedIn(b);
  return times > 1 && times == others && areSameElements(first, second, depth);
}

/// Whether both are the same pointwise function of the same elements: ~x.view(...) has those of ~x.
static bool isSamePointwise(Operation *a, Operation *b, int depth) {
  return isa<Pointwise>(a) && a->getName() == b->getName() && a->getNumRegions() == 0 &&
         a->getAttrDictionary() == b->getAttrDictionary() &&
         a->getNumOperands() == b->getNumOperands() &&
         getElementTypeOrSelf(a->getResult(0)) == getElementTypeOrSelf(b->getResult(0)) &&
         llvm::all_of(llvm::zip(a->getOperands(), b->getOperands()), [&](auto pair) {
           auto [x, y] = pair;
           return elementsOf(x) == elementsOf(a->getResult(0)) && areSameElements(x, y, depth);
         });
}

static bool isSameComputation(Value a, Value b, int depth) {
  if (a == b)
    return true;
  auto first = dyn_cast<OpResult>(a), second = dyn_cast<OpResult>(b);
  if (!first || !second || depth == 0 || first.getResultNumber() != second.getResultNumber())
    return false;
  if (a.getType() != b.getType())
    return isSamePointwise(first.getOwner(), second.getOwner(), depth - 1);
  return OperationEquivalence::isEquivalentTo(
      first.getOwner(), second.getOwner(),
      [&](Value x, Value y) { return success(isSameComputation(x, y, depth - 1)); }, nullptr,
      OperationEquivalence::IgnoreLocations);
}

Value accc::aten::withoutReshapes(Value value) {
  auto isWhole = [](Operation *op) { // x[:]
    return isa<prim::SliceOp>(op) && op->getOperand(0).getType() == op->getResult(0).getType();
  };
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<prim::ReshapeOp>(op) && !isWhole(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

bool accc::aten::isSameMask(Value a, Value b) { return areSameElements(a, b, /*depth=*/8); }

Local accc::aten::sizeOf(Caller &caller, Location loc, const Selection &selection,
                         std::optional<int64_t> dim) {
  ArrayRef<int64_t> shape = selection.elements.shape();
  int64_t rank = selection.rank(), others = 1;
  if (dim && (*dim < -rank || *dim >= rank))
    fail("asks for a size that the tensor does not have");
  if (dim && (*dim + rank) % rank != selection.dim)
    return shape[(*dim + rank) % rank];
  for (int64_t d = 0; !dim && d < rank; ++d)
    others *= d == selection.dim ? 1 : shape[d];
  MutableTensor mask(
      selection.mask, "mask",
      Layout::contiguous(cast<RankedTensorType>(selection.mask.getType()).getShape()));
  Local count = caller.call(loc, "sum", {{"self", mask}}, "count").front();
  std::get<MutableTensor>(count).markCount(selection.mask);
  return others == 1 ? count : evaluateNumbers(caller, loc, "mul", {count, others});
}

Local accc::aten::listOfTensors(ArrayRef<Local> tensors) {
  MutableTensors plain;
  Selections selections;
  for (const Local &each : tensors) {
    const auto *selection = std::get_if<Selection>(&each);
    const auto *tensor = std::get_if<MutableTensor>(&each);
    if (!selection && !tensor && !std::holds_alternative<NoValue>(each))
      fail("an element of a list is no tensor");
    plain.push_back(tensor ? *tensor : MutableTensor());
    selections.push_back(selection ? *selection : Selection{plain.back(), nullptr, 0});
  }
  bool isAny = llvm::any_of(selections, [](const Selection &each) { return bool(each.mask); });
  return isAny ? Local(selections) : Local(plain);
}

Local accc::aten::listOfSizes(Caller &caller, Location loc, ArrayRef<Local> sizes) {
  Integers integers;
  std::optional<SelectedSizes> selected;
  for (const Local &size : sizes) {
    const auto *tensor = std::get_if<MutableTensor>(&size);
    const auto *known = std::get_if<int64_t>(&size);
    Value mask = tensor ? tensor->countedMask() : Value();
    if (tensor && !mask)
      mask = maskOfNumber(caller, loc, caller.read(loc, *tensor));
    if (tensor && (!mask || selected))
      caller.requireKnownSize(loc, caller.read(loc, *tensor));
    if (!known && !mask)
      fail("a size is no integer that is known at compile time");
    if (mask)
      selected = SelectedSizes{{}, mask, static_cast<int64_t>(integers.size())};
    integers.push_back(known ? *known : cast<RankedTensorType>(mask.getType()).getNumElements());
  }
  if (!selected)
    return integers;
  selected->sizes = integers;
  return *selected;
}

// ---- arguments ----

SelectedCall::SelectedCall(Caller &caller, Location loc, const Operator &op, StringRef opName,
                           const Arguments &given, const llvm::StringMap<Local> &locals,
                           StringRef name)
    : caller(caller), loc(loc), called(op), opName(opName), given(given), locals(locals),
      name(name) {
  for (const NamedLocal &each : given) {
    isWritten |= each.name == "out";
    if (auto *selection = std::get_if<Selection>(&each.value))
      note(*selection);
    if (auto *list = std::get_if<Selections>(&each.value))
      for (const Selection &selection : *list)
        if (selection.mask)
          note(selection);
    if (auto *sizes = std::get_if<SelectedSizes>(&each.value))
      note(sizes->mask);
  }
}

void SelectedCall::note(Value mask) {
  isOne &= !firstMask || isSameMask(firstMask, mask);
  firstMask = firstMask ? firstMask : mask;
}

void SelectedCall::note(const Selection &selection) {
  note(selection.mask);
  any = any ? any : selection;
  ++selections;
}

bool SelectedCall::isGiven(StringRef parameter) const {
  auto found = locals.find(parameter);
  return found != locals.end() && !std::holds_alternative<NoValue>(found->second);
}

std::optional<int64_t> SelectedCall::rankOf(StringRef parameter) const {
  if (const auto *selection = argument<Selection>(parameter))
    return selection->rank();
  const auto *tensor = argument<MutableTensor>(parameter);
  return tensor && *tensor ? std::optional(tensor->rank()) : std::nullopt;
}

/// How many dimensions a selection has from that of the mask to the last.
static int64_t fromEnd(const Selection &selection) { return selection.rank() - selection.dim; }

std::optional<int64_t> SelectedCall::extentBeside() const {
  std::optional<int64_t> extent = 1;
  for (const NamedLocal &each : given) {
    auto *selection = std::get_if<Selection>(&each.value);
    auto *tensor = std::get_if<MutableTensor>(&each.value);
    bool isList = std::holds_alternative<MutableTensors>(each.value) ||
                  std::holds_alternative<Selections>(each.value);
    if (!any || isList || (selection && fromEnd(*selection) != fromEnd(*any)))
      return std::nullopt;
    int64_t place = tensor && *tensor ? tensor->rank() - fromEnd(*any) : -1;
    if (place < 0 || tensor->shape()[place] == 1)
      continue;
    if (extent != 1 && extent != tensor->shape()[place])
      return std::nullopt;
    extent = tensor->shape()[place];
  }
  return extent;
}

std::optional<Integers> SelectedCall::dims(const Selection &self) const {
  int64_t rank = self.rank();
  Integers all;
  for (const Signature::Parameter &parameter : called.signature.parameters) {
    if (!namesDims(parameter.name))
      continue;
    const auto *dim = argument<int64_t>(parameter.name);
    const auto *list = argument<Integers>(parameter.name);
    if (!locals.contains(parameter.name) && parameter.otherwise)
      dim = std::get_if<int64_t>(&*parameter.otherwise);
    if (!dim && (!list || list->empty()))
      return std::nullopt;
    for (int64_t d : dim ? Integers{*dim} : *list)
      all.push_back(d < 0 ? d + rank : d);
  }
  return all.empty() ? std::nullopt : std::optional(all);
}

Arguments SelectedCall::with(StringRef parameter, const Local &instead) const {
  Arguments all = given;
  replace(all, parameter, instead);
  return all;
}

Arguments SelectedCall::withElements() const {
  Arguments all = given;
  auto elementsOf = [&](const Selection &selection, StringRef parameter) {
    bool isIndex = parameter == "index" || parameter == "indices";
    return isIndex && selection.mask ? indices(selection) : selection.elements;
  };
  for (NamedLocal &each : all) {
    auto *selection = std::get_if<Selection>(&each.value);
    auto *list = std::get_if<Selections>(&each.value);
    auto *sizes = std::get_if<SelectedSizes>(&each.value);
    auto *tensor = std::get_if<MutableTensor>(&each.value);
    if (selection) {
      each.value = Local(elementsOf(*selection, each.name));
    } else if (sizes) {
      each.value = Local(Integers(sizes->sizes));
    } else if (list) {
      MutableTensors tensors;
      for (const Selection &selection : *list)
        tensors.push_back(elementsOf(selection, each.name));
      each.value = Local(tensors);
    } else if (tensor && *tensor && !tensor->isNumber() &&
               isa<FloatType>(getElementTypeOrSelf(tensor->type()))) {
      each.value =
          Local((*this)("where.self", {{"condition", isAny(firstMask)},
                                       {"self", *tensor},
                                       {"other", (*this)("detach", {{"self", *tensor}})}}));
    }
  }
  return all;
}

Arguments SelectedCall::withElements(StringRef parameter, const Local &instead) const {
  Arguments all = withElements();
  replace(all, parameter, instead);
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

MutableTensor SelectedCall::maskOf(const Selection &selection) const {
  Integers shape(static_cast<size_t>(selection.rank()), 1);
  shape[static_cast<size_t>(selection.dim)] =
      cast<RankedTensorType>(selection.mask.getType()).getNumElements();
  return view(tensor(selection.mask), shape);
}

MutableTensor SelectedCall::flags(Value mask) const {
  return view(tensor(mask), {cast<RankedTensorType>(mask.getType()).getNumElements()});
}

MutableTensor SelectedCall::placesAmong(Value mask) const {
  Type i64 = IntegerType::get(mask.getContext(), 64);
  MutableTensor counts =
      (*this)("cumsum", {{"self", flags(mask)}, {"dim", int64_t(0)}, {"dtype", i64}});
  return (*this)("sub.Scalar", {{"self", counts}, {"other", int64_t(1)}});
}

MutableTensor SelectedCall::isAny(Value mask) const {
  return (*this)("any", {{"self", tensor(mask)}});
}

MutableTensor SelectedCall::indices(const Selection &selection) const {
  if (!isa<IntegerType>(elementTypeOf(selection)) || elementTypeOf(selection).isInteger(1))
    return selection.elements;
  MutableTensor zeros = (*this)("zeros_like", {{"self", selection.elements}});
  return (*this)(
      "where.self",
      {{"condition", isAny(selection.mask)}, {"self", selection.elements}, {"other", zeros}});
}

MutableTensor SelectedCall::filled(const Selection &selection, Local otherwise) const {
  MutableTensor isOut = (*this)("logical_not", {{"self", maskOf(selection)}});
  return (*this)("masked_fill.Scalar",
                 {{"self", selection.elements}, {"mask", isOut}, {"value", std::move(otherwise)}});
}

std::optional<Selection> SelectedCall::select(const MutableTensor &x, Value mask,
                                              int64_t dim) const {
  auto maskType = cast<RankedTensorType>(mask.getType());
  ArrayRef<int64_t> shape = x.shape();
  auto first = static_cast<size_t>(dim), rank = static_cast<size_t>(maskType.getRank());
  if (rank == 0 || first + rank > shape.size() || shape.slice(first, rank) != maskType.getShape() ||
      maskType.getNumElements() == 0 || isComplex(x.type()))
    return std::nullopt;
  SmallVector<int64_t> flat(shape.take_front(first));
  flat.push_back(maskType.getNumElements());
  llvm::append_range(flat, shape.drop_front(first + rank));
  return repeated({view(x, flat), mask, dim});
}

Selection SelectedCall::repeated(const Selection &selection) const {
  const auto &[elements, mask, dim] = selection;
  Type i64 = IntegerType::get(mask.getContext(), 64);
  int64_t size = cast<RankedTensorType>(mask.getType()).getNumElements();
  MutableTensor flags = (*this)("to.dtype", {{"self", view(tensor(mask), {size})}, {"dtype", i64}});
  MutableTensor first =
      (*this)("argmax", {{"self", flags}, {"dim", int64_t(0)}, {"keepdim", true}});
  MutableTensor chosen =
      (*this)("index_select", {{"self", elements}, {"dim", dim}, {"index", first}});
  chosen = (*this)("detach", {{"self", chosen}});
  MutableTensor ones = (*this)("ones_like", {{"self", chosen}});
  MutableTensor otherwise =
      (*this)("where.self", {{"condition", isAny(mask)}, {"self", chosen}, {"other", ones}});
  return {(*this)("where.self",
                  {{"condition", maskOf(selection)}, {"self", elements}, {"other", otherwise}}),
          mask, dim};
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

bool SelectedCall::giveSelections(const Arguments &arguments,
                                  function_ref<std::optional<int64_t>(int64_t)> dimOf) {
  giveCall(arguments);
  int64_t size = cast<RankedTensorType>(firstMask.getType()).getNumElements();
  auto selected = [&](const MutableTensor &tensor) -> std::optional<Selection> {
    std::optional<int64_t> dim = tensor ? dimOf(tensor.rank()) : std::nullopt;
    bool fits = dim && *dim >= 0 && *dim < tensor.rank() && tensor.shape()[*dim] == size;
    return fits ? std::optional(Selection{tensor, firstMask, *dim}) : std::nullopt;
  };
  for (Local &result : results) {
    MutableTensors tensors;
    auto *list = std::get_if<MutableTensors>(&result);
    if (auto *tensor = std::get_if<MutableTensor>(&result))
      tensors = {*tensor};
    else if (list)
      tensors = *list;
    Selections selections;
    for (const MutableTensor &tensor : tensors)
      if (std::optional<Selection> each = selected(tensor))
        selections.push_back(*each);
    if (tensors.empty() || selections.size() != tensors.size())
      return false;
    result = list ? Local(selections) : Local(selections.front());
  }
  return true;
}

std::optional<int64_t> SelectedCall::alignedDim(int64_t rank) const { return rank - fromEnd(*any); }

bool SelectedCall::giveForElements(function_ref<std::optional<int64_t>(int64_t)> dimOf) {
  return giveSelections(withElements(), dimOf);
}

bool SelectedCall::giveForElements() {
  return giveForElements([&](int64_t rank) { return alignedDim(rank); });
}

bool SelectedCall::giveBesideWhole() {
  std::optional<int64_t> extent = extentBeside();
  if (!extent || *extent < 2)
    return false;
  bool isSpread = called.inPlace && argument<Selection>("self");
  Arguments all = isSpread ? withElements() : given;
  for (const NamedLocal &each : given) {
    auto *selection = std::get_if<Selection>(&each.value);
    auto *tensor = std::get_if<MutableTensor>(&each.value);
    int64_t place = tensor && *tensor ? tensor->rank() - fromEnd(*any) : -1;
    if (selection && !isSpread)
      replace(all, each.name, selected::whole(*this, *selection, *extent));
    if (isSpread && place >= 0 && tensor->shape()[place] == *extent)
      replace(all, each.name, selected::spread(*this, *tensor, firstMask, place).elements);
  }
  return isSpread ? giveSelections(all, [&](int64_t rank) { return alignedDim(rank); })
                  : giveCall(all);
}

bool SelectedCall::giveAlike(StringRef input, int64_t inner) {
  const auto *x = argument<Selection>(input);
  return x && isOnlySelection() && x->dim < x->rank() - inner &&
         giveForElements([&](int64_t) { return std::optional(x->dim); });
}

bool SelectedCall::giveAlongOthers(const Selection &self) {
  std::optional<Integers> all = dims(self);
  // An index is not broadcast: scatter() writes to as many rows as the index has.
  const auto *index = argument<MutableTensor>("index");
  if (!all || llvm::is_contained(*all, self.dim) || (index && *index && index->rank() > 0))
    return false;
  int64_t before = llvm::count_if(*all, [&](int64_t dim) { return dim < self.dim; });
  int64_t rank = self.rank(), count = static_cast<int64_t>(all->size());
  // The dimensions are there as before, or are gone.
  return giveForElements([&](int64_t left) -> std::optional<int64_t> {
    if (left != rank && left != rank - count)
      return std::nullopt;
    return left == rank ? self.dim : self.dim - before;
  });
}

std::optional<std::vector<Local>> accc::aten::callOnSelections(Caller &caller, Location loc,
                                                               const Operator &op, StringRef opName,
                                                               const Arguments &given,
                                                               const llvm::StringMap<Local> &locals,
                                                               StringRef name) {
  SelectedCall call(caller, loc, op, opName, given, locals, name);
  if (!call.mask()) {
    bool isRead = op.selected && op.selected(call);
    return isRead ? std::optional(std::move(call.results)) : std::nullopt;
  }
  bool takesSeveral = llvm::is_contained(
      {selected::concatenate, selected::pad, selected::write, selected::reshape}, op.selected);
  bool writesAll = op.inPlace && !call.argument<Selection>("self");
  auto isDone = [&] {
    if (!call.hasOneMask())
      return call.hasMasks() && takesSeveral && op.selected(call);
    if (op.selected && op.selected(call))
      return true;
    if (isElementwise(opName) && call.isAligned() && !writesAll)
      return call.giveForElements();
    if (isElementwise(opName) && call.giveBesideWhole())
      return true;
    const auto *self = call.argument<Selection>("self");
    return self && isAlongDims(opName) && call.isAligned() && call.giveAlongOthers(*self);
  };
  if (!isDone())
    caller.requireKnown(loc, call.mask());
  return std::move(call.results);
}
