// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ONNX importer: a model file in, `@forward` in nn and prim out.
#ifndef ACCC_FRONTEND_ONNX_IMPORT_H
#define ACCC_FRONTEND_ONNX_IMPORT_H

#include "frontend/common/ImportResult.h"

#include "llvm/ADT/StringRef.h"

namespace accc {

/// Reads the model at `path` (with its external data, from the same folder or below). The file need
/// not be trusted: whatever is wrong with it becomes a problem. Never throws.
///
/// Float initialisers become parameters, running statistics and PyTorch's buffers become buffers,
/// other initialisers constants. A parameter that may as well be a constant is marked
/// `accc.unclear`. Open dimensions are fixed by `options.dimensions`. All that stands in the way is
/// collected; the module is null then.
ImportResult importOnnx(llvm::StringRef path, const ImportOptions &options,
                        mlir::MLIRContext &context);

/// The same for a model in memory; external data is looked up below `directory`.
ImportResult importOnnxBytes(llvm::StringRef bytes, llvm::StringRef directory,
                             const ImportOptions &options, mlir::MLIRContext &context);

/// An operator that the importer knows.
struct OnnxOperator {
  /// "Domain.Name" for other than the standard domain.
  std::string name;
  /// The oldest version of its operator set in whose form it is read.
  int64_t oldest;
};

/// All of them, by name.
std::vector<OnnxOperator> onnxOperators();

/// The newest version of the standard operators that a model may use.
int64_t newestOnnxOpset();

} // namespace accc

#endif
