// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a compilation made, for people and scripts that compare.
#ifndef ACCC_DRIVER_REPORT_H
#define ACCC_DRIVER_REPORT_H

#include "fusion/fuse/Fuse.h"

#include <string>

namespace accc {

/// JSON: `manifest`; `state_bytes`; `entries`, each with its sizes ("seq=64", or empty),
/// arena_bytes, flops, bytes and `steps` in the order of execution (a launch with its kernel and
/// what it computes, or a library call; with flops and the bytes of the buffers it reads and
/// writes); `fusion`, the decisions with their reasons, which `decisions` lists by sizes.
std::string makeReport(mlir::ModuleOp program, llvm::StringRef manifest,
                       llvm::ArrayRef<std::pair<std::string, std::vector<FusionNote>>> decisions);

} // namespace accc

#endif
