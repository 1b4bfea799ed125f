// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StagedInput.h"

namespace accc::detail {

StagedInput::StagedInput(const Context &context, uint64_t bytes, const std::string &entry)
    : context(context), doing("writing the inputs of " + entry),
      memory(context, bytes, "staging the inputs of " + entry), copies(context.copyStream()),
      arrived(context, CU_EVENT_DISABLE_TIMING), taken(context, CU_EVENT_DISABLE_TIMING) {}

void StagedInput::copy(CUdeviceptr to, const char *pinned) const {
  const Driver &driver = context.driver;
  taken.holdBack(copies, doing);
  driver.check(driver.cuMemcpyHtoDAsync(memory.address(), pinned, bytes(), copies), doing);
  arrived.record(copies, doing);

  arrived.holdBack(context.stream, doing);
  driver.check(driver.cuMemcpyDtoDAsync(to, memory.address(), bytes(), context.stream), doing);
  taken.record(context.stream, doing);
}

} // namespace accc::detail
