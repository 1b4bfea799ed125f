// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gradients of several batches, added up between calls.
#ifndef ACCC_TRAINING_ACCUMULATION_H
#define ACCC_TRAINING_ACCUMULATION_H

#include "training/StepFunction.h"
#include "training/optimizer/ApplyOptimizer.h"

namespace accc {

/// Appends to accumulate_step of a training step `name` what adds its gradients to the variables
/// `optimizer.grad_sum.<parameter>`, of f32 for 16-bit floats, and one to
/// `optimizer.accumulated_batches`.
void addToSums(StepFunction step, llvm::ArrayRef<TrainedParameter> trained, llvm::StringRef name);

/// Gives the parameters of update_step their mean gradients, zeros where nothing was added.
void takeMeans(StepFunction step, llvm::MutableArrayRef<TrainedParameter> trained,
               llvm::StringRef name);

/// Appends to update_step what lets the sums begin anew.
void clearSums(StepFunction step, llvm::ArrayRef<TrainedParameter> trained, llvm::StringRef name);

} // namespace accc

#endif
