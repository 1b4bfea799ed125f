// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/optimizer/Optimizer.h"

#include "support/Suggest.h"
#include "training/optimizer/OptimizerValues.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

static llvm::Error usageError(const std::string &message) {
  return llvm::createStringError(std::errc::invalid_argument, message.c_str());
}

std::vector<std::string> accc::optimizerNames() {
  return {
#define ACCC_OPTIMIZER(name, Name) #name,
#include "training/optimizer/Optimizers.def"
  };
}

bool accc::isOptimizer(llvm::StringRef name) { return llvm::is_contained(optimizerNames(), name); }

llvm::Expected<std::unique_ptr<Optimizer>> accc::parseOptimizer(llvm::StringRef text,
                                                                llvm::StringRef what) {
  Spec spec(what, text);
  std::unique_ptr<Optimizer> optimizer;
#define ACCC_OPTIMIZER(name, Name)                                                                 \
  if (spec.getName() == #name)                                                                     \
    optimizer = create##Name##Optimizer(spec);
#include "training/optimizer/Optimizers.def"
  if (!optimizer)
    return usageError((what + " " + text).str() + ": there is no optimizer '" +
                      spec.getName().str() + "'; there are " + llvm::join(optimizerNames(), ", ") +
                      didYouMean(spec.getName(), optimizerNames()));

  optimizer->learningRate = spec.number("lr", optimizer->learningRate, 0.0, kInfinity);
  if (double norm = spec.number(kClipGradNorm, 0.0, 0.0, kInfinity); norm > 0.0)
    optimizer->clipGradNorm = norm;
  if (double value = spec.number(kClipGradValue, 0.0, 0.0, kInfinity); value > 0.0)
    optimizer->clipGradValue = value;
  if (optimizer->clipGradNorm && optimizer->clipGradValue)
    spec.addError("clip_grad_norm and clip_grad_value are one or the other");
  if (spec.getValue())
    spec.addError("the name of an optimizer takes no value");
  if (std::string error = spec.error(); !error.empty())
    return usageError(error);
  optimizer->settings = spec.getSettings();
  return optimizer;
}

void SingleOptimizer::updateAll(MutableArrayRef<Update> updates, ArrayRef<Tensor> shared) const {
  for (Update &each : updates) {
    SmallVector<Tensor> own;
    for (Tensor scalar : shared)
      own.push_back(scalar.convert(each.parameter.elementType()));
    each.parameter = update(each.parameter, each.gradient, each.state, own);
  }
}

Tensor accc::withDecay(Tensor g, Tensor p, bool maximize, double weightDecay) {
  if (maximize)
    g = -g;
  return weightDecay == 0.0 ? g : g + p * weightDecay;
}

std::vector<Optimizer::Slot> accc::slotsLike(RankedTensorType parameter,
                                             llvm::ArrayRef<llvm::StringRef> names) {
  std::vector<Optimizer::Slot> slots;
  for (llvm::StringRef name : names)
    slots.push_back({name.str(), parameter});
  return slots;
}

// As -expm1(step log beta): 1 - 0.999^1 computed in f32 would be off by 1e-5 of itself.
Tensor accc::biasCorrection(double beta, Tensor step) {
  return beta == 0.0 ? step.full(1.0) : -expm1(step * std::log(beta));
}

void accc::clipGradNorm(MutableArrayRef<Tensor> gradients, double maxNorm) {
  if (gradients.empty())
    return;
  std::optional<Tensor> total;
  Type type = scalarType(llvm::map_to_vector(gradients, [](Tensor g) { return g.get(); }));
  for (Tensor g : gradients) {
    Tensor square = sumAll(g * g).convert(type);
    total = total ? *total + square : square;
  }
  Tensor scale = min(maxNorm / (sqrt(*total) + 1e-6), 1.0);
  for (Tensor &g : gradients)
    g = g * scale.convert(g.elementType());
}
