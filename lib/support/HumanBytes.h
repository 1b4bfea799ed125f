// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes for people. Free of LLVM.
#ifndef ACCC_SUPPORT_HUMANBYTES_H
#define ACCC_SUPPORT_HUMANBYTES_H

#include <string>

namespace accc {

/// As in "1.5 GB", with so many digits behind the point; bytes have none. A kB is 1000 bytes.
std::string humanBytes(double bytes, int digits = 1);

} // namespace accc

#endif
