// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_TEST_GPU_STANDIN_ENTRY_H
#define ACCC_TEST_GPU_STANDIN_ENTRY_H

#include "Device.h"

/// The first statement of the driver's function `name`: see Device::enter. The name is as in
/// cuda.h's documentation, without the version that a macro there gives it.
#define STANDIN_ENTER(name, needsContext)                                                          \
  if (CUresult refused = standin::Device::get().enter(#name, needsContext))                        \
  return refused

#endif // ACCC_TEST_GPU_STANDIN_ENTRY_H
