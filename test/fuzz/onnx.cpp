// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/Import.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  accc::ImportOptions options;
  options.openDimension = 2;
  llvm::StringRef bytes(reinterpret_cast<const char *>(data), size);
  accc::ImportResult result = accc::importOnnxBytes(bytes, "/nonexistent", options, context);
  if (!result.module && result.problems.empty())
    abort(); // turned down without a word
  return 0;
}
