// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/element/ErrorTable.h"

#include "accc/abi.h"

#include "llvm/ADT/STLExtras.h"

using namespace accc;
using namespace accc::codegen;

int64_t ErrorTable::statusFor(llvm::StringRef message) {
  auto known = llvm::find(messages, message);
  int64_t index = known - messages.begin();
  if (known == messages.end())
    messages.push_back(message.str());
  return ACCC_FIRST_DATA_ERROR + index;
}
