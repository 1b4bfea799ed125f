// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where state spaces lie among generic addresses.
#ifndef ACCC_REFERENCE_PTX_WINDOWS_H
#define ACCC_REFERENCE_PTX_WINDOWS_H

#include <cstdint>

namespace accc::ptx::windows {

inline constexpr uint64_t size = uint64_t(1) << 32;
inline constexpr uint64_t shared = 1 * size;
inline constexpr uint64_t local = 2 * size;
inline constexpr uint64_t param = 3 * size;
inline constexpr uint64_t end = 4 * size;
inline constexpr uint64_t global = uint64_t(1) << 37; ///< the first allocation

} // namespace accc::ptx::windows

#endif
