// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions of what a mask selects, and losses that are such.
#include "frontend/aten/Selection.h"
#include "frontend/aten/SelectionRules.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <set>

using namespace mlir;
using namespace accc;
using namespace accc::aten;

using Arguments = std::vector<NamedLocal>;

// ---- dimensions ----

static Integers allDims(const Selection &x) {
  Integers dims(static_cast<size_t>(x.rank()));
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

/// The dimensions of a reduction of `self`, in ascending order, if that of the mask is among them.
static std::optional<Integers> reducedDims(const SelectedCall &call) {
  const auto *self = call.argument<Selection>("self");
  if (!self)
    return std::nullopt;
  int64_t rank = self->rank();
  const auto *list = call.argument<Integers>("dim");
  const auto *one = call.argument<int64_t>("dim");
  if (!call.isGiven("dim") || (list && list->empty()))
    return allDims(*self);
  std::set<int64_t> dims;
  for (int64_t d : list ? *list : one ? Integers{*one} : Integers())
    dims.insert(d < 0 ? d + rank : d);
  bool fits = dims.contains(self->dim) && *dims.begin() >= 0 && *dims.rbegin() < rank;
  return fits ? std::optional(Integers(dims.begin(), dims.end())) : std::nullopt;
}

static bool keepsDims(const SelectedCall &call) {
  const auto *keeps = call.argument<bool>("keepdim");
  return keeps && *keeps;
}

// ---- by a neutral element ----

/// Calls the operator with `neutral` for what is not selected.
static bool giveFilled(SelectedCall &call, const Local &neutral) {
  const auto *self = call.argument<Selection>("self");
  return reducedDims(call) && call.giveCall(call.withElements("self", call.filled(*self, neutral)));
}

/// The number that is less than all others of its type, or greater.
static Local extremeOf(const Selection &x, bool isLeast) {
  Type type = elementTypeOf(x);
  auto infinity = std::numeric_limits<double>::infinity();
  if (isa<FloatType>(type))
    return isLeast ? -infinity : infinity;
  if (type.isInteger(1))
    return !isLeast;
  unsigned width = type.getIntOrFloatBitWidth();
  APInt number =
      type.isUnsignedInteger()
          ? (isLeast ? APInt::getMinValue(width) : APInt::getMaxValue(width))
          : (isLeast ? APInt::getSignedMinValue(width) : APInt::getSignedMaxValue(width));
  return type.isUnsignedInteger() ? static_cast<int64_t>(number.getZExtValue())
                                  : number.getSExtValue();
}

/// Index 0, or `outside` where the mask selects nothing: with that, what reads there ends the step
/// with a data error.
static MutableTensor firstUnlessEmpty(const SelectedCall &call, Value mask, int64_t outside) {
  Type i64 = IntegerType::get(mask.getContext(), 64);
  MutableTensor isEmpty = call("logical_not", {{"self", call.isAny(mask)}});
  MutableTensor number = call("to.dtype", {{"self", isEmpty}, {"dtype", i64}});
  return call("mul.Scalar", {{"self", number}, {"other", outside}});
}

/// The same as giveFilled() where there is no result of nothing, as in PyTorch: what stands for
/// what is not selected is then missing.
static bool giveFilledUnlessEmpty(SelectedCall &call, const Local &neutral) {
  const auto *self = call.argument<Selection>("self");
  if (!reducedDims(call))
    return false;
  MutableTensor only = call(
      "full", {{"size", Integers{1}}, {"fill_value", neutral}, {"dtype", elementTypeOf(*self)}});
  MutableTensor filler =
      call("take", {{"self", only}, {"index", firstUnlessEmpty(call, self->mask, 1)}});
  MutableTensor filled =
      call("where.self",
           {{"condition", call.maskOf(*self)}, {"self", self->elements}, {"other", filler}});
  return call.giveCall(call.withElements("self", filled));
}

static bool giveExtreme(SelectedCall &call, bool isGreatest) {
  const auto *self = call.argument<Selection>("self");
  return self && giveFilledUnlessEmpty(call, extremeOf(*self, /*isLeast=*/isGreatest));
}

bool selected::sum(SelectedCall &call) { return giveFilled(call, int64_t(0)); }
bool selected::multiplied(SelectedCall &call) { return giveFilled(call, int64_t(1)); }
bool selected::any(SelectedCall &call) { return giveFilled(call, int64_t(0)); }
bool selected::all(SelectedCall &call) { return giveFilled(call, int64_t(1)); }
bool selected::greatest(SelectedCall &call) { return giveExtreme(call, /*isGreatest=*/true); }
bool selected::least(SelectedCall &call) { return giveExtreme(call, /*isGreatest=*/false); }
bool selected::logSumExp(SelectedCall &call) {
  return giveFilled(call, -std::numeric_limits<double>::infinity());
}

bool selected::norm(SelectedCall &call) {
  double power = 2;
  for (StringRef name : {"ord", "p"})
    if (const auto *integer = call.argument<int64_t>(name))
      power = static_cast<double>(*integer);
    else if (const auto *real = call.argument<double>(name))
      power = *real;
    else if (call.isGiven(name))
      return false;
  if (std::isinf(power)) // the greatest magnitude
    return power > 0 && giveFilledUnlessEmpty(call, int64_t(0));
  return power >= 0 && giveFilled(call, int64_t(0));
}

/// Where the mask is false there is what the first selected element is, which is no greater one.
bool selected::placeOfExtreme(SelectedCall &call) {
  std::optional<Integers> dims = reducedDims(call);
  if (!dims || dims->size() != 1)
    return false;
  const Selection &self = *call.argument<Selection>("self");
  if (!call.giveCall(call.withElements("self", call.repeated(self).elements)))
    return false;
  MutableTensor places =
      call("clamp_min", {{"self", call.placesAmong(self.mask)}, {"min", int64_t(0)}});
  int64_t extent = places.shape().front();
  MutableTensor index = call("add.Tensor", {{"self", call.results.front()},
                                            {"other", firstUnlessEmpty(call, self.mask, extent)}});
  return call.give(call("take", {{"self", places}, {"index", index}}));
}

// ---- means ----

static MutableTensor sumOf(const SelectedCall &call, const Selection &x, const Integers &dims,
                           bool keepsDims) {
  return call("sum.dim_IntList",
              {{"self", call.filled(x, int64_t(0))}, {"dim", dims}, {"keepdim", keepsDims}});
}

/// How many selected elements one along `dims` is made of.
static MutableTensor countOf(const SelectedCall &call, const Selection &x, const Integers &dims) {
  int64_t each = 1;
  for (int64_t dim : dims)
    each *= dim == x.dim ? 1 : x.elements.shape()[dim];
  MutableTensor count = call("sum", {{"self", call.tensor(x.mask)}});
  return call("mul.Scalar", {{"self", count}, {"other", each}});
}

/// In f32 where it has floats of 16 bits: a sum of many does not fit f16, of which the mean does.
static Selection widened(const SelectedCall &call, const Selection &x) {
  auto type = dyn_cast<FloatType>(elementTypeOf(x));
  if (!type || type.getWidth() >= 32)
    return x;
  Type f32 = Float32Type::get(type.getContext());
  return {call("to.dtype", {{"self", x.elements}, {"dtype", f32}}), x.mask, x.dim};
}

/// The result for what widened() gives of x.
static MutableTensor narrowed(const SelectedCall &call, const MutableTensor &result,
                              const Selection &x) {
  return call("to.dtype", {{"self", result}, {"dtype", elementTypeOf(x)}});
}

static MutableTensor meanOf(const SelectedCall &call, const Selection &x, const Integers &dims,
                            bool keepsDims) {
  MutableTensor sum = sumOf(call, widened(call, x), dims, keepsDims);
  MutableTensor mean = call("div.Tensor", {{"self", sum}, {"other", countOf(call, x, dims)}});
  return narrowed(call, mean, x);
}

bool selected::mean(SelectedCall &call) {
  std::optional<Integers> dims = reducedDims(call);
  return dims && !call.isGiven("dtype") &&
         call.give(meanOf(call, *call.argument<Selection>("self"), *dims, keepsDims(call)));
}

/// What var() takes off the number of elements; nothing where it is not known.
static std::optional<double> correctionOf(const SelectedCall &call) {
  const auto *unbiased = call.argument<bool>("unbiased");
  if (const auto *integer = call.argument<int64_t>("correction"))
    return static_cast<double>(*integer);
  if (const auto *real = call.argument<double>("correction"))
    return *real;
  if (call.isGiven("correction"))
    return std::nullopt;
  return unbiased && !*unbiased ? 0 : 1;
}

/// Of what widened() gives.
static std::optional<MutableTensor> varianceOf(const SelectedCall &call) {
  std::optional<Integers> dims = reducedDims(call);
  std::optional<double> correction = correctionOf(call);
  if (!dims || !correction)
    return std::nullopt;
  Selection x = widened(call, *call.argument<Selection>("self"));
  MutableTensor mean = meanOf(call, x, *dims, /*keepsDims=*/true);
  MutableTensor apart = call("sub.Tensor", {{"self", x.elements}, {"other", mean}});
  Selection squares{call("square", {{"self", apart}}), x.mask, x.dim};
  MutableTensor count =
      call("sub.Scalar", {{"self", countOf(call, x, *dims)}, {"other", *correction}});
  count = call("clamp_min", {{"self", count}, {"min", 0.0}});
  return call("div.Tensor",
              {{"self", sumOf(call, squares, *dims, keepsDims(call))}, {"other", count}});
}

bool selected::variance(SelectedCall &call) {
  std::optional<MutableTensor> variance = varianceOf(call);
  return variance && call.give(narrowed(call, *variance, *call.argument<Selection>("self")));
}

// The gradient of a deviation of 0 is 0.
bool selected::deviation(SelectedCall &call) {
  std::optional<MutableTensor> variance = varianceOf(call);
  if (!variance)
    return false;
  MutableTensor isZero = call("eq.Scalar", {{"self", *variance}, {"other", int64_t(0)}});
  MutableTensor safe =
      call("masked_fill.Scalar", {{"self", *variance}, {"mask", isZero}, {"value", 1.0}});
  MutableTensor root = call("sqrt", {{"self", safe}});
  root = call("masked_fill.Scalar", {{"self", root}, {"mask", isZero}, {"value", 0.0}});
  return call.give(narrowed(call, root, *call.argument<Selection>("self")));
}

// ---- an element for each ----

/// Calls the operator, along the mask's dimension, with `neutral` for what is not selected.
static bool giveScaled(SelectedCall &call, const Local &neutral) {
  std::optional<Integers> dims = reducedDims(call);
  if (!dims || dims->size() != 1)
    return false;
  const Selection &self = *call.argument<Selection>("self");
  call.giveCall(call.withElements("self", call.filled(self, neutral)));
  const auto *result = std::get_if<MutableTensor>(&call.results.front());
  return result && call.give(call.repeated({*result, self.mask, self.dim}));
}
bool selected::softmax(SelectedCall &call) {
  return giveScaled(call, -std::numeric_limits<double>::infinity());
}
bool selected::cumulativeSum(SelectedCall &call) { return giveScaled(call, int64_t(0)); }
bool selected::cumulativeProduct(SelectedCall &call) { return giveScaled(call, int64_t(1)); }

// ---- losses ----

static constexpr int64_t kNone = 0, kMean = 1, kSum = 2, kIgnored = -100;

/// The kind of reduction, which is a mean unless another is given.
static int64_t reductionOf(const SelectedCall &call) {
  const auto *reduction = call.argument<int64_t>("reduction");
  return reduction ? *reduction : kMean;
}

static Arguments withReduction(const SelectedCall &call, int64_t kind) {
  Arguments each = call.withElements();
  llvm::erase_if(each, [](const NamedLocal &argument) { return argument.name == "reduction"; });
  each.push_back({"reduction", kind});
  return each;
}

/// Calls a loss that is reduced in this way, or its gradient, of which the results are aligned with
/// the arguments.
static bool giveReduced(SelectedCall &call, int64_t kind) {
  return call.isAligned() && call.giveSelections(withReduction(call, kind), [&](int64_t rank) {
    return call.alignedDim(rank);
  });
}

bool selected::elementLoss(SelectedCall &call) {
  if (call.giveBesideWhole())
    return true;
  int64_t kind = reductionOf(call);
  if (!giveReduced(call, kNone))
    return false;
  Selection losses = std::get<Selection>(call.results.front());
  if (kind == kNone)
    return true;
  Integers dims = allDims(losses);
  return call.give(kind == kMean ? meanOf(call, losses, dims, /*keepsDims=*/false)
                                 : sumOf(call, losses, dims, /*keepsDims=*/false));
}

bool selected::elementLossBackward(SelectedCall &call) {
  if (call.giveBesideWhole())
    return true;
  int64_t kind = reductionOf(call);
  if (!giveReduced(call, kind == kMean ? kSum : kind))
    return false;
  Selection gradient = std::get<Selection>(call.results.front());
  if (kind != kMean)
    return true;
  MutableTensor count = countOf(call, gradient, allDims(gradient));
  MutableTensor mean = call("div.Tensor", {{"self", gradient.elements}, {"other", count}});
  return call.give(Selection{mean, gradient.mask, gradient.dim});
}

static bool fitsClassLoss(const SelectedCall &call) {
  const auto *scores = call.argument<Selection>("self"),
             *classes = call.argument<Selection>("target");
  return scores && classes && scores->dim == 0 && classes->dim == 0 && scores->rank() == 2 &&
         classes->rank() == 1 && isa<IntegerType>(elementTypeOf(*classes));
}

/// The arguments of a loss of scores and classes, with the class that it leaves out for what is not
/// selected.
static Arguments withoutOthers(const SelectedCall &call) {
  const auto *ignored = call.argument<int64_t>("ignore_index");
  return call.withElements(
      "target", call.filled(*call.argument<Selection>("target"), ignored ? *ignored : kIgnored));
}

/// Of scores or classes that a mask selects, and as many of the others.
static bool giveClassLossOfWhole(SelectedCall &call) {
  for (auto [parameter, other] : {std::pair("self", "target"), std::pair("target", "self")}) {
    const auto *selection = call.argument<Selection>(parameter);
    const auto *tensor = call.argument<MutableTensor>(other);
    if (selection && tensor && *tensor && selection->dim == 0 && tensor->rank() > 0)
      return call.giveCall(
          call.withElements(parameter, selected::whole(call, *selection, tensor->shape().front())));
  }
  return false;
}

bool selected::classLoss(SelectedCall &call) {
  if (giveClassLossOfWhole(call))
    return true;
  if (!fitsClassLoss(call))
    return false;
  call.giveCall(withoutOthers(call));
  if (reductionOf(call) != kNone)
    return true;
  // A loss for each, and of nll_loss_forward() a weight of all beside them, which is 0.
  const auto &losses = std::get<MutableTensor>(call.results.front());
  call.results.front() = call.repeated({losses, call.mask(), 0});
  return true;
}

bool selected::classLossBackward(SelectedCall &call) {
  if (giveClassLossOfWhole(call))
    return true;
  if (!fitsClassLoss(call) ||
      !call.giveSelections(withoutOthers(call), [](int64_t) { return std::optional<int64_t>(0); }))
    return false;
  return call.give(call.repeated(std::get<Selection>(call.results.front())));
}
