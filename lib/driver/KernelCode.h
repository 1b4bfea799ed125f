// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which kernels of two libraries have the same code. Free of LLVM.
#ifndef ACCC_DRIVER_KERNELCODE_H
#define ACCC_DRIVER_KERNELCODE_H

#include "accc/abi.h"

#include <cstdint>
#include <string>
#include <vector>

namespace accc {

/// A number for the instructions of each of code.kernels, whatever lies beside the kernel in its
/// library: of machine code addresses do not count, but the constants there do; of PTX it is the
/// text. 0 where it cannot be told (a stripped library). `library` is the file that `code` was
/// loaded from.
std::vector<uint64_t> fingerprintKernels(const std::string &library, const accc_code &code);

} // namespace accc

#endif
