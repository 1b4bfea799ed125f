// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sizes that one library is compiled for: `-D seq=64,128` are two.
#ifndef ACCC_DRIVER_SIZES_H
#define ACCC_DRIVER_SIZES_H

#include "driver/Options.h"

#include <map>
#include <string>
#include <vector>

namespace accc {

/// One size for each open dimension.
struct Sizes {
  /// The dimensions of which there are several, "batch=32,seq=64"; empty where there are none.
  std::string text;
  std::map<std::string, int64_t> dimensions;
};

/// More are not compiled into one library.
inline constexpr size_t kMaxSizes = 32;

/// How many sizes the options ask for: each value of a dimension with each of the others.
size_t countSizes(const CompileOptions &options);

/// These sizes, the last dimension's values running fastest. There must not be more than kMaxSizes.
std::vector<Sizes> allSizes(const CompileOptions &options);

} // namespace accc

#endif
