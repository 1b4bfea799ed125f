// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The targets of one library, and which values of --arch are whose.
#ifndef ACCC_TARGET_TARGETCHOICE_H
#define ACCC_TARGET_TARGETCHOICE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace accc {

/// One of the values of --target, and the machines to generate code for: arguments of createTarget.
struct TargetChoice {
  std::string target;
  std::vector<std::string> archs;
};

/// What --target and --arch mean together, the best target first whatever their order. Of several
/// targets, each takes the archs that it knows, or its default where none is; a single one takes
/// all. An error names a target that there is not or that is named twice, or an arch that none of
/// several targets knows; what a target itself finds wrong with an arch is an error of
/// createTarget.
llvm::Expected<std::vector<TargetChoice>> chooseTargets(llvm::ArrayRef<std::string> targets,
                                                        llvm::ArrayRef<std::string> archs);

/// Says which targets there are.
llvm::Error unknownTarget(llvm::StringRef name);

} // namespace accc

#endif
