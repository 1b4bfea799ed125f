// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Optimizers as functions in `prim`, with the formulas and defaults of torch.optim.
#ifndef ACCC_TRAINING_OPTIMIZER_OPTIMIZER_H
#define ACCC_TRAINING_OPTIMIZER_OPTIMIZER_H

#include "ir/prim/Tensor.h"
#include "support/Spec.h"

#include "llvm/Support/Error.h"

#include <limits>
#include <memory>

namespace accc {

class Optimizer {
public:
  virtual ~Optimizer() = default;

  /// A tensor that is kept for a parameter, and starts as zeros.
  struct Slot {
    std::string name;
    mlir::RankedTensorType type;
  };

  /// What a parameter would have to be to be updated, if this one cannot be: "it updates
  /// matrices". Else nothing.
  virtual std::string whyNot(mlir::RankedTensorType) const { return {}; }

  /// The tensors kept for a parameter of this type, by torch's names ("exp_avg"), with elements of
  /// its type.
  virtual std::vector<Slot> slots(mlir::RankedTensorType parameter) const = 0;

  /// The scalars kept for all parameters together, of the type of prepare(), which start as zeros.
  virtual std::vector<std::string> sharedSlots() const { return {}; }

  /// True if the update depends on how many were done before.
  virtual bool countsSteps() const = 0;

  /// What all parameters share, computed once for an update: tensors of rank 0, all of one type,
  /// f64 where one of the parameters is, else f32.
  ///   learningRate
  ///   step          1 at the first update; null unless countsSteps()
  ///   state         the values of sharedSlots(); receives the new ones
  virtual llvm::SmallVector<prim::Tensor>
  prepare(prim::Tensor learningRate, std::optional<prim::Tensor> step,
          llvm::MutableArrayRef<prim::Tensor> state) const = 0;

  /// A parameter with its gradient and the values of its slots(). Receives the new values.
  struct Update {
    prim::Tensor parameter, gradient;
    llvm::SmallVector<prim::Tensor> state;
  };

  /// Updates all parameters of the optimizer. `shared` is what prepare() gave.
  virtual void updateAll(llvm::MutableArrayRef<Update> updates,
                         llvm::ArrayRef<prim::Tensor> shared) const = 0;

  /// `lr=`: what a trainer uses where it says nothing else. The rate itself is an input of each
  /// step.
  double learningRate = 1e-3;
  /// Of a parameter group: its rate by that of --optimizer, which is an input of each step.
  double rateScale = 1.0;
  /// `clip_grad_norm=`: all gradients are scaled so that their common 2-norm is at most this.
  std::optional<double> clipGradNorm;
  /// `clip_grad_value=`: each element of all gradients is brought into [-value, value].
  std::optional<double> clipGradValue;
  /// All options with their values (Spec::getSettings).
  std::vector<std::pair<std::string, std::string>> settings;
};

/// One that updates each parameter by itself, as all do that gain nothing from several at once.
class SingleOptimizer : public Optimizer {
public:
  /// The new value of a parameter. `state` holds the values of slots() and receives the new ones;
  /// `shared` is what prepare() gave, in the parameter's element type.
  virtual prim::Tensor update(prim::Tensor parameter, prim::Tensor gradient,
                              llvm::MutableArrayRef<prim::Tensor> state,
                              llvm::ArrayRef<prim::Tensor> shared) const = 0;

  void updateAll(llvm::MutableArrayRef<Update> updates,
                 llvm::ArrayRef<prim::Tensor> shared) const final;
};

/// Limits of options: of numbers that are not negative, and of what is less than 1.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kBelowOne = 1.0 - std::numeric_limits<double>::epsilon();

inline constexpr llvm::StringLiteral kClipGradNorm = "clip_grad_norm",
                                     kClipGradValue = "clip_grad_value";

/// The names in Optimizers.def, in the order of messages.
std::vector<std::string> optimizerNames();

/// Whether Optimizers.def has an optimizer of this name.
bool isOptimizer(llvm::StringRef name);

/// Reads a spec whose name is in Optimizers.def. The error is one line, fit for a user, that begins
/// with `what`.
llvm::Expected<std::unique_ptr<Optimizer>> parseOptimizer(llvm::StringRef text,
                                                          llvm::StringRef what = "--optimizer");

/// What most updates start with: the gradient g, or -g to maximize the loss, and weightDecay p.
prim::Tensor withDecay(prim::Tensor g, prim::Tensor p, bool maximize, double weightDecay);

/// Slots of the parameter's own type.
std::vector<Optimizer::Slot> slotsLike(mlir::RankedTensorType parameter,
                                       llvm::ArrayRef<llvm::StringRef> names);

/// 1 - beta^step, by which an average of `step` values that began as zero falls short.
prim::Tensor biasCorrection(double beta, prim::Tensor step);

/// torch.nn.utils.clip_grad_norm_: scales all gradients by min(1, maxNorm / (norm + 1e-6)), where
/// norm is the 2-norm of all of them together.
void clipGradNorm(llvm::MutableArrayRef<prim::Tensor> gradients, double maxNorm);

// One for each line of Optimizers.def: takes its options from the spec.
#define ACCC_OPTIMIZER(name, Name) std::unique_ptr<Optimizer> create##Name##Optimizer(Spec &spec);
#include "training/optimizer/Optimizers.def"

} // namespace accc

#endif
