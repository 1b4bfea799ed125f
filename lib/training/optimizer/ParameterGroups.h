// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which optimizer updates which parameter: `--optimizer` and `--param-group`.
#ifndef ACCC_TRAINING_OPTIMIZER_PARAMETERGROUPS_H
#define ACCC_TRAINING_OPTIMIZER_PARAMETERGROUPS_H

#include "support/NamePattern.h"
#include "training/optimizer/Optimizer.h"

namespace accc {

/// A regular expression for parameters, and what is theirs: options (`weight_decay=0,lr=1e-4`) in
/// place of those of --optimizer, or an optimizer of their own (`sgd,momentum=0.9`).
using GroupOption = std::pair<std::string, std::string>;

/// As PyTorch's parameter groups. A parameter belongs to the first group that finds it, or else to
/// the optimizer that all share.
class ParameterGroups {
public:
  struct Group {
    NamePattern parameters;
    std::unique_ptr<Optimizer> optimizer;
  };

  /// Reads the texts of --optimizer and of each --param-group. The error is one line for each
  /// fault, fit for a user.
  static llvm::Expected<ParameterGroups> parse(llvm::StringRef optimizer,
                                               llvm::ArrayRef<GroupOption> groups);

  /// Of the parameters that no group finds.
  const Optimizer &getCommon() const { return *common; }
  llvm::ArrayRef<Group> getGroups() const { return groups; }
  const Optimizer &choose(llvm::StringRef parameter, const OtherNames &otherNames) const;
  /// Multiplies the rateScale of all.
  void scaleRates(double factor);
  /// The common optimizer and those of the groups.
  llvm::SmallVector<const Optimizer *> all() const;

private:
  std::unique_ptr<Optimizer> common;
  std::vector<Group> groups;
};

} // namespace accc

#endif
