// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Losses that the compiler adds to a model.
#ifndef ACCC_TRAINING_LOSS_LOSS_H
#define ACCC_TRAINING_LOSS_LOSS_H

#include "ir/prim/Tensor.h"
#include "support/Spec.h"

#include "llvm/Support/Error.h"

#include <memory>

namespace accc {

/// A loss on one output of the model, with the mean as its reduction, as PyTorch defines it.
class Loss {
public:
  virtual ~Loss() = default;

  /// The type of the input `target` for this output. Fails, with an error at `loc`, if the loss is
  /// not defined for the output.
  virtual mlir::FailureOr<mlir::RankedTensorType> targetType(mlir::RankedTensorType output,
                                                             mlir::Location loc) const = 0;

  /// Builds the loss: a tensor of rank 0, of the output's element type.
  virtual mlir::Value build(prim::Tensor output, mlir::Value target) const = 0;
};

/// What `--loss` says: which loss on which output.
struct LossChoice {
  /// Null if the model computes its loss itself (`output:NAME`).
  std::unique_ptr<Loss> loss;
  /// Which output; empty: the first.
  std::string output;
  /// All options with their values (Spec::getSettings).
  std::vector<std::pair<std::string, std::string>> settings;
  /// What was read for them (Spec::getFiles).
  std::vector<std::string> files;
};

/// The names in Losses.def, in the order of messages.
std::vector<std::string> lossNames();

/// Whether Losses.def has a loss of this name.
bool isLoss(llvm::StringRef name);

/// Reads `output:NAME` or a spec whose name is in Losses.def. The error is one line, fit for a
/// user.
llvm::Expected<LossChoice> parseLoss(llvm::StringRef text);

/// That the model has no output of this name, but those of `known`.
std::string unknownOutput(llvm::StringRef name, const std::vector<std::string> &known);

/// Numbers in the output's element type, as a constant of one dimension; null where there are none.
mlir::Value constantOf(prim::Tensor output, llvm::ArrayRef<double> numbers);

// One for each line of Losses.def: takes its options from the spec.
#define ACCC_LOSS(name, Name) std::unique_ptr<Loss> create##Name##Loss(Spec &spec);
#include "training/loss/Losses.def"

} // namespace accc

#endif
