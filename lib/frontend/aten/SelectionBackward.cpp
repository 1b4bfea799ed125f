// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators of a backward pass, of what a mask selects.
#include "frontend/aten/Selection.h"
#include "frontend/aten/SelectionRules.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;

using Arguments = std::vector<NamedLocal>;

/// The arguments with 0 for what is not selected of these.
static Arguments withZeros(const SelectedCall &call, ArrayRef<StringRef> parameters) {
  Arguments all = call.withElements();
  for (NamedLocal &each : all)
    if (const auto *x = call.argument<Selection>(each.name);
        x && llvm::is_contained(parameters, each.name))
      each.value = call.filled(*x, int64_t(0));
  return all;
}

bool selected::softmaxBackward(SelectedCall &call) {
  const auto *gradient = call.argument<Selection>("grad_output");
  std::optional<Integers> dims = gradient ? call.dims(*gradient) : std::nullopt;
  if (call.giveBesideWhole())
    return true;
  if (!dims || !call.isAligned())
    return false;
  int64_t dim = gradient->dim;
  auto sameDim = [&](int64_t) { return std::optional(dim); };
  if (!llvm::is_contained(*dims, dim))
    return call.giveForElements(sameDim);
  if (!call.giveSelections(withZeros(call, {"grad_output", "output"}), sameDim))
    return false;
  return call.give(call.repeated(std::get<Selection>(call.results.front())));
}

/// The gradient of the input, one for each element of the mask, and those of what all of them
/// share, to which what is not selected adds nothing: 0 times 0, as elements may have an infinity
/// or NaN where nothing is selected.
static bool giveGradients(SelectedCall &call, StringRef gradient, int64_t inner) {
  const auto *x = call.argument<Selection>(gradient);
  const auto *input = call.argument<Selection>("input");
  if (!x || !input || x->rank() != input->rank() || x->dim != input->dim ||
      x->dim >= x->rank() - inner)
    return false;
  call.giveCall(withZeros(call, {gradient, "input", "mean", "rstd"}));
  if (auto *tensor = std::get_if<MutableTensor>(&call.results.front()); tensor && *tensor)
    call.results.front() = Local(call.repeated({*tensor, x->mask, x->dim}));
  return true;
}

bool selected::normalizationBackward(SelectedCall &call) {
  const auto *shape = call.argument<Integers>("normalized_shape");
  return shape && giveGradients(call, "grad_out", static_cast<int64_t>(shape->size()));
}

/// The same of an operator that treats all samples, which are along the first dimension, alike.
static bool giveGradientsOfSamples(SelectedCall &call, StringRef gradient) {
  const auto *x = call.argument<Selection>(gradient);
  return x && giveGradients(call, gradient, x->rank() - 1);
}

bool selected::sampleNormalizationBackward(SelectedCall &call) {
  return giveGradientsOfSamples(call, "grad_out");
}

bool selected::convolutionBackward(SelectedCall &call) {
  return giveGradientsOfSamples(call, "grad_output");
}

bool selected::embeddingBackward(SelectedCall &call) {
  const auto *gradient = call.argument<Selection>("grad_output"),
             *indices = call.argument<Selection>("indices");
  const auto *counts = call.argument<bool>("scale_grad_by_freq"); // the repeated elements, too
  return gradient && indices && gradient->dim == indices->dim && (!counts || !*counts) &&
         call.giveCall(withZeros(call, {"grad_output"}));
}
