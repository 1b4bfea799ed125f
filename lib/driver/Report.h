// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a compilation made, for people and scripts that compare.
#ifndef ACCC_DRIVER_REPORT_H
#define ACCC_DRIVER_REPORT_H

#include "codegen/Generate.h"
#include "fusion/Fuse.h"
#include "support/CompileLog.h"

#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace accc {

/// The decisions of the phase `fuse` for one target, at one of the sizes.
struct FusionDecisions {
  std::string target, sizes;
  std::vector<FusionNote> notes = {};
};

/// JSON: `summary` (model, parameters, entries with their kernels and memory, and the seconds of
/// each phase); `manifest`; `state_bytes`; `entries`, each with its target, sizes ("seq=64", or
/// empty), arena_bytes, flops, bytes and `steps` in the order of execution (a launch with its
/// kernel and what it computes, or a library call; with flops and the bytes of the buffers it reads
/// and writes, and the modules of the model that it belongs to); `fusion`, the decisions with their
/// reasons by target and sizes; `compile`, what the compile itself took: seconds of wall clock and
/// of CPU time and the peak of memory, `phases` with the same for each and for its parts, and
/// `work`, which is counted and thus the same on every machine. All but `compile` and the seconds
/// of the summary is the same for the same input.
///
/// It is written as it is made: the steps and decisions of a large model are a multiple of what the
/// compile itself needs.
void printReport(llvm::raw_ostream &os, llvm::ArrayRef<TargetProgram> programs,
                 llvm::StringRef manifest, llvm::ArrayRef<FusionDecisions> decisions,
                 const CompileLog &log);

} // namespace accc

#endif
