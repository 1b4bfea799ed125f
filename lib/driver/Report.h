// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a compilation made, for people and scripts that compare.
#ifndef ACCC_DRIVER_REPORT_H
#define ACCC_DRIVER_REPORT_H

#include "fusion/Fuse.h"
#include "support/CompileLog.h"

#include "llvm/Support/raw_ostream.h"

#include <string>

namespace accc {

/// JSON: `manifest`; `state_bytes`; `entries`, each with its sizes ("seq=64", or empty),
/// arena_bytes, flops, bytes and `steps` in the order of execution (a launch with its kernel and
/// what it computes, or a library call; with flops and the bytes of the buffers it reads and
/// writes); `fusion`, the decisions with their reasons, which `decisions` lists by sizes;
/// `compile`, what the compile itself took: seconds of wall clock and of CPU time and the peak of
/// memory, `phases` with the same for each and for its parts, and `work`, which is counted and thus
/// the same on every machine. All but `compile` is the same for the same input.
///
/// It is written as it is made: the steps and decisions of a large model are a multiple of what the
/// compile itself needs.
void printReport(llvm::raw_ostream &os, mlir::ModuleOp program, llvm::StringRef manifest,
                 llvm::ArrayRef<std::pair<std::string, std::vector<FusionNote>>> decisions,
                 const CompileLog &log);

} // namespace accc

#endif
