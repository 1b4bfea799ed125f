// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What accc's own exporter says of a file's initialisers: metadata `accc.export` of the model.
#ifndef ACCC_FRONTEND_ONNX_EXPORTMETADATA_H
#define ACCC_FRONTEND_ONNX_EXPORTMETADATA_H

#include "frontend/onnx/Proto.h"

#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>
#include <vector>

namespace accc::onnx_import {

struct ExportedTensor {
  bool isParameter = false;
  /// Of a parameter: whether it is trained; of a buffer: whether the module saves it.
  bool isTrained = true, isPersistent = true;
  /// Other names of the same tensor.
  std::vector<std::string> aliases;
  /// The row of an embedding that takes no gradient.
  std::optional<int64_t> paddingIndex;
};

/// By the initialiser's name.
using ExportMetadata = llvm::StringMap<ExportedTensor>;

/// The metadata, if there is any: initialisers that it does not name are constants. Throws
/// ImportError if it is not what docs/exports.md says.
std::optional<ExportMetadata> readExportMetadata(const onnx::ModelProto &model);

} // namespace accc::onnx_import

#endif
