// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files beside the model that hold its large tensors.
#ifndef ACCC_FRONTEND_ONNX_EXTERNALDATA_H
#define ACCC_FRONTEND_ONNX_EXTERNALDATA_H

#include "frontend/onnx/Proto.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

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
  /// The `size` bytes that the tensor's external_data names. Throws ImportError, and FileError
  /// where the file cannot be read.
  Bytes read(const onnx::TensorProto &tensor, uint64_t size);

  /// What is wrong with each file that cannot be read, and how many of the tensors asked for are in
  /// it.
  std::vector<std::string> problems() const;

  /// The files that were read.
  std::vector<std::string> paths() const;

private:
  struct Mapping;
  struct Unreadable {
    std::string why;
    std::set<std::string> tensors;
  };
  std::shared_ptr<const Mapping> map(const std::string &location);
  /// The file, mapped once; throws FileError.
  std::shared_ptr<const Mapping> find(const std::string &location, const std::string &tensor);

  std::string directory;
  llvm::StringMap<std::shared_ptr<const Mapping>> mappings;
  std::map<std::string, Unreadable> unreadable; // by location
};

} // namespace accc::onnx_import

#endif
