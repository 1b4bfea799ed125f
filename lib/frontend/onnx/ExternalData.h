// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files beside the model that hold its large tensors.
#ifndef ACCC_FRONTEND_ONNX_EXTERNALDATA_H
#define ACCC_FRONTEND_ONNX_EXTERNALDATA_H

#include "frontend/onnx/Proto.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>

namespace accc::onnx_import {

/// Maps files below one folder. A model must not make the importer read anything else, so a
/// location is refused if it is empty, absolute or contains `..`, if any part of it is a symbolic
/// link, and if the file is not a regular one or has more than one hard link.
class ExternalData {
public:
  explicit ExternalData(llvm::StringRef directory)
      : directory(directory.empty() ? "." : directory) {}

  struct Bytes {
    llvm::ArrayRef<char> bytes;
    std::shared_ptr<const void> owner;
  };
  /// The `size` bytes that the tensor's external_data names. Throws ImportError.
  Bytes read(const onnx::TensorProto &tensor, uint64_t size);

  /// The files that were read.
  std::vector<std::string> paths() const;

private:
  struct Mapping;
  std::shared_ptr<const Mapping> map(const std::string &location);

  std::string directory;
  llvm::StringMap<std::shared_ptr<const Mapping>> mappings;
};

} // namespace accc::onnx_import

#endif
