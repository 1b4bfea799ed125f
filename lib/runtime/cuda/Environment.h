// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CUDA_ENVIRONMENT_H
#define ACCC_RUNTIME_CUDA_ENVIRONMENT_H

#include <cstdint>

namespace accc::detail {

/// Whether the variable is there and not 0; `otherwise` where it is not there or empty.
bool environmentFlag(const char *name, bool otherwise);

/// The number in the variable; `otherwise` where it is not there or empty. Throws Error (usage) for
/// what is no number.
uint64_t environmentBytes(const char *name, uint64_t otherwise);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_ENVIRONMENT_H
