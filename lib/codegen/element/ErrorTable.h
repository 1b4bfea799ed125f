// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_CODEGEN_ELEMENT_ERRORTABLE_H
#define ACCC_CODEGEN_ELEMENT_ERRORTABLE_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <string>
#include <vector>

namespace accc::codegen {

/// What kernels may report at run time. The status word is an accc_status: the data error i is
/// messages[i]; shared by the whole library.
struct ErrorTable {
  std::vector<std::string> messages;
  /// The status word for `message`, adding it if it is new.
  int64_t statusFor(llvm::StringRef message);
};

} // namespace accc::codegen

#endif
