// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interfaces/InferenceError.h"

#include "mlir/IR/OperationSupport.h"

void accc::failInference(const mlir::OperationState &state) {
  throw InferenceError{state.name.getStringRef().str()};
}
