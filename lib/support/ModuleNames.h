// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of a model's modules ("blocks.0.mlp"), as profiles and reports show them.
#ifndef ACCC_SUPPORT_MODULENAMES_H
#define ACCC_SUPPORT_MODULENAMES_H

#include <string>
#include <vector>

namespace accc {

/// What follows the names of a step that computes a part of the backward pass.
inline constexpr const char kBackwardSuffix[] = " (backward)";

/// The modules of one kernel in one name: what they have in common, and up to three rests in
/// braces: "blocks.0.{norm1,attn.qkv}", else "blocks.0.*". Of a module and its own members only the
/// module. Empty for none.
std::string nameModules(std::vector<std::string> modules);

/// What the names of several equal kernels have in common: "blocks.*.mlp" of "blocks.0.mlp" and
/// "blocks.1.mlp". Names without a module are left out.
std::string mergeModuleNames(const std::vector<std::string> &names);

} // namespace accc

#endif
