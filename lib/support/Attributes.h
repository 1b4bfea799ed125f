// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The names of the attributes by which functions carry a model; docs/function-contract.md explains
// them.
#ifndef ACCC_SUPPORT_ATTRIBUTES_H
#define ACCC_SUPPORT_ATTRIBUTES_H

namespace accc {

inline constexpr const char kNameAttr[] = "accc.name";
inline constexpr const char kRoleAttr[] = "accc.role";
inline constexpr const char kUpdatesAttr[] = "accc.updates";
inline constexpr const char kFrozenAttr[] = "accc.frozen";

namespace role {
inline constexpr const char kParameter[] = "parameter";
inline constexpr const char kBuffer[] = "buffer";
inline constexpr const char kOptimizerState[] = "optimizer_state";
inline constexpr const char kInput[] = "input";
inline constexpr const char kTarget[] = "target";
inline constexpr const char kRandomKey[] = "random_key";
inline constexpr const char kLearningRate[] = "learning_rate";
inline constexpr const char kSeed[] = "seed";
inline constexpr const char kStep[] = "step";
inline constexpr const char kGradient[] = "gradient";
inline constexpr const char kOutput[] = "output";
inline constexpr const char kLoss[] = "loss";
inline constexpr const char kUpdate[] = "update";
} // namespace role

} // namespace accc

#endif
