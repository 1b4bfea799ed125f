// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_TOOLS_GPURUNNER_DISTINCTCALLS_H
#define ACCC_TOOLS_GPURUNNER_DISTINCTCALLS_H

#include "accc/abi.h"

#include <cstdint>
#include <vector>

namespace accc::tool {

/// A library call of an entry point, with the bytes of its buffers and how often it is made.
struct DistinctCall {
  const accc_library_call *call;
  std::vector<uint64_t> bytes;
  int times;
};

/// In the order in which each is first made.
std::vector<DistinctCall> distinctCalls(const accc_entry &entry);

} // namespace accc::tool

#endif // ACCC_TOOLS_GPURUNNER_DISTINCTCALLS_H
