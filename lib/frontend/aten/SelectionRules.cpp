// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/aten/SelectionRules.h"
#include "frontend/aten/Selection.h"

#include <numeric>
#include <set>

using namespace mlir;
using namespace accc;
using namespace accc::aten;

using Arguments = std::vector<NamedLocal>;

static ArrayRef<int64_t> shapeOf(const MutableTensor &tensor) {
  return cast<RankedTensorType>(tensor.type()).getShape();
}

// ---- reading ----

/// The one mask of an index, which stands first; or null.
static MutableTensor onlyMask(const MutableTensors &indices) {
  if (indices.empty() || !indices.front() ||
      llvm::count_if(indices, [](const MutableTensor &each) { return bool(each); }) != 1)
    return MutableTensor();
  return getElementTypeOrSelf(indices.front().type()).isInteger(1) ? indices.front()
                                                                   : MutableTensor();
}

/// Gives what a mask selects of x, unless its value is known.
static bool giveSelected(SelectedCall &call, const MutableTensor &x, const MutableTensor &mask) {
  if (call.first() || !x || !mask || call.isKnown(call.read(mask)))
    return false;
  std::optional<Selection> found = call.select(x, call.read(mask));
  return found && call.give(*found);
}

bool selected::read(SelectedCall &call) {
  const auto *x = call.argument<MutableTensor>("self");
  const auto *indices = call.argument<MutableTensors>("indices");
  return x && indices && giveSelected(call, *x, onlyMask(*indices));
}

bool selected::readAll(SelectedCall &call) {
  const auto *x = call.argument<MutableTensor>("self"),
             *mask = call.argument<MutableTensor>("mask");
  return x && mask && *x && *mask && shapeOf(*x) == shapeOf(*mask) && giveSelected(call, *x, *mask);
}

// ---- writing ----

/// x with the selection where its mask is true, or nothing.
static std::optional<MutableTensor> written(const SelectedCall &call, const MutableTensor &x,
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

bool selected::write(SelectedCall &call) {
  const auto *x = call.argument<MutableTensor>("self");
  const auto *values = call.argument<Selection>("values");
  const auto *indices = call.argument<MutableTensors>("indices");
  const auto *accumulate = call.argument<bool>("accumulate");
  MutableTensor mask = indices ? onlyMask(*indices) : MutableTensor();
  if (!x || !values || !mask || !isSameValue(call.read(mask), values->mask))
    return false;
  std::optional<MutableTensor> result = written(call, *x, *values, accumulate && *accumulate);
  if (!result)
    return false;
  return call.give(call.op().inPlace ? call("copy_", {{"self", *x}, {"src", *result}}) : *result);
}

// ---- sums and means ----

/// The sum or the mean along dimensions, of which the first, that of the mask, is one.
static MutableTensor reduced(const SelectedCall &call, const Selection &x, bool isMean,
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

static Integers allDims(int64_t rank) {
  Integers dims(static_cast<size_t>(rank));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

/// The dimensions of a sum or a mean, in ascending order, if that of the mask is among them.
static std::optional<Integers> reducedDims(const SelectedCall &call) {
  int64_t rank = call.rank();
  if (!call.isGiven("dim"))
    return allDims(rank);
  std::set<int64_t> dims;
  if (const auto *list = call.argument<Integers>("dim"))
    for (int64_t d : *list)
      dims.insert(d < 0 ? d + rank : d);
  if (dims.empty() || *dims.begin() != 0 || *dims.rbegin() >= rank)
    return std::nullopt;
  return Integers(dims.begin(), dims.end());
}

static bool giveReduced(SelectedCall &call, bool isMean) {
  const auto *self = call.argument<Selection>("self");
  if (!self || call.argument<Type>("dtype"))
    return false;
  const auto *keepsDims = call.argument<bool>("keepdim");
  std::optional<Integers> dims = reducedDims(call);
  return dims && call.give(reduced(call, *self, isMean, *dims, keepsDims && *keepsDims));
}
bool selected::sum(SelectedCall &call) { return giveReduced(call, /*isMean=*/false); }
bool selected::mean(SelectedCall &call) { return giveReduced(call, /*isMean=*/true); }

// ---- losses ----

static constexpr int64_t kNone = 0, kMean = 1, kIgnored = -100;

bool selected::elementLoss(SelectedCall &call) {
  if (!call.first() || !call.isAligned())
    return false;
  const auto *reduction = call.argument<int64_t>("reduction");
  int64_t kind = reduction ? *reduction : kMean;
  Arguments each = call.withElements();
  llvm::erase_if(each, [](const NamedLocal &argument) { return argument.name == "reduction"; });
  each.push_back({"reduction", kNone});
  call.giveCall(each);
  Selection losses{std::get<MutableTensor>(call.results.front()), call.first()->mask};
  if (kind == kNone)
    return call.give(losses);
  return call.give(reduced(call, losses, kind == kMean, allDims(call.rank())));
}

bool selected::classLoss(SelectedCall &call) {
  const auto *scores = call.argument<Selection>("self"),
             *classes = call.argument<Selection>("target");
  const auto *reduction = call.argument<int64_t>("reduction");
  bool fits = scores && classes && shapeOf(scores->elements).size() == 2 &&
              shapeOf(classes->elements).size() == 1 &&
              isa<IntegerType>(getElementTypeOrSelf(classes->elements.type())) &&
              (!reduction || *reduction != kNone);
  if (!fits)
    return false;
  const auto *ignored = call.argument<int64_t>("ignore_index");
  Arguments all = call.withElements();
  for (NamedLocal &each : all)
    if (each.name == "target")
      each.value = Local(call.filled(*classes, ignored ? *ignored : kIgnored));
  return call.giveCall(all);
}

// ---- what treats the elements of the mask alike ----

bool selected::linear(SelectedCall &call) {
  return call.argument<Selection>("input") && !call.argument<Selection>("weight") &&
         call.rank() > 1 && call.giveForElements();
}

bool selected::broadcastTensors(SelectedCall &call) {
  const auto *list = call.argument<Selections>("tensors");
  bool isOfOneShape = list && llvm::all_of(*list, [&](const Selection &each) {
                        return shapeOf(each.elements) == shapeOf(list->front().elements);
                      });
  return isOfOneShape && call.give(*list);
}

bool selected::wholeSlice(SelectedCall &call) {
  auto isOr = [&](StringRef name, int64_t expected) {
    const auto *number = call.argument<int64_t>(name);
    return !number || *number == expected;
  };
  const auto *self = call.argument<Selection>("self");
  return self && isOr("dim", 0) && isOr("start", 0) && isOr("step", 1) &&
         isOr("end", std::numeric_limits<int64_t>::max()) && call.give(*self);
}

bool selected::flatten(SelectedCall &call) {
  const auto *self = call.argument<Selection>("self");
  return self && call.rank() == 1 && call.give(*self);
}

bool selected::asVector(SelectedCall &call) {
  bool isOfAll = llvm::any_of(ArrayRef<StringRef>{"shape", "size"}, [&](StringRef name) {
    const auto *shape = call.argument<Integers>(name);
    return shape && ArrayRef<int64_t>(*shape) == ArrayRef<int64_t>{-1};
  });
  return isOfAll && flatten(call);
}
