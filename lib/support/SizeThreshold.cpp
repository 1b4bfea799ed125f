// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/SizeThreshold.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"

#include <algorithm>
#include <cstdlib>

using namespace accc;

static int64_t &divisorOfProcess() {
  static int64_t divisor = [] {
    const char *text = std::getenv("ACCC_SIZE_DIVISOR");
    int64_t value = 1;
    if (text && (llvm::StringRef(text).getAsInteger(10, value) || value < 1))
      llvm::report_fatal_error("ACCC_SIZE_DIVISOR is no positive number",
                               /*gen_crash_diag=*/false);
    return value;
  }();
  return divisor;
}

int64_t accc::getSizeDivisor() { return divisorOfProcess(); }

void accc::setSizeDivisor(int64_t divisor) { divisorOfProcess() = divisor; }

int64_t accc::sizeThreshold(int64_t size) {
  return std::max<int64_t>(size / divisorOfProcess(), 1);
}
