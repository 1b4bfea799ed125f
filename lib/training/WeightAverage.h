// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `--average-weights`: an average of the parameters over the updates, which is evaluated in their
// place.
#ifndef ACCC_TRAINING_WEIGHTAVERAGE_H
#define ACCC_TRAINING_WEIGHTAVERAGE_H

#include "training/StepFunction.h"
#include "training/optimizer/ApplyOptimizer.h"

#include "llvm/Support/Error.h"

namespace accc {

/// The exponential moving average of torch.optim.swa_utils: behind an update
/// average += (1 - decay) (parameter - average), and behind the first average = parameter.
struct WeightAverage {
  double decay = 0.999;
  /// With n updates before, the decay is at most (1 + n) / (10 + n), as in diffusers' EMAModel.
  bool warmsUp = false;
};

/// Whether there is an average of this name.
bool isWeightAverage(llvm::StringRef name);

/// Reads `ema[,decay=D][,warmup]`. The error is one line, fit for a user.
llvm::Expected<WeightAverage> parseWeightAverage(llvm::StringRef text);

/// Appends to a step, behind the updates of the parameters, those of their averages, which are
/// variables `optimizer.[<name>.]ema.<parameter>`, of f32 for 16-bit floats, and of
/// `optimizer.[<name>.]n_averaged`, the number of updates in them.
void averageWeights(StepFunction step, const WeightAverage &average,
                    llvm::ArrayRef<TrainedParameter> trained, llvm::StringRef name);

/// Adds average_eval_step: what `evalStep` computes, of averages in place of trained parameters.
/// Before the first update it is of these. It changes nothing.
void buildAverageEvalStep(StepFunction evalStep, llvm::StringRef name);

} // namespace accc

#endif
