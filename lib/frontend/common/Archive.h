// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The zip archives that PyTorch writes.
#ifndef ACCC_FRONTEND_COMMON_ARCHIVE_H
#define ACCC_FRONTEND_COMMON_ARCHIVE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <memory>
#include <string>
#include <vector>

namespace accc::frontend {

/// A zip archive, whose records may all lie below one folder that their names here leave out. Every
/// record is read within bounds: what the archive says of itself is not trusted.
class Archive {
public:
  struct Record {
    llvm::ArrayRef<char> bytes;
    std::shared_ptr<const void> owner;
  };

  /// Throws ImportError for what is no archive.
  explicit Archive(const std::string &path);
  /// An archive in memory.
  explicit Archive(Record bytes);

  /// In the archive's order.
  const std::vector<std::string> &names() const { return records; }
  bool has(llvm::StringRef name) const;

  /// A record's bytes. Throws ImportError if there is none, if it is larger than `limit`, or if
  /// reading fails.
  Record read(llvm::StringRef name, uint64_t limit) const;
  std::string text(llvm::StringRef name, uint64_t limit) const;

private:
  void list();

  struct Handle;
  std::shared_ptr<Handle> handle;
  std::vector<std::string> records;
  llvm::StringMap<uint64_t> indices;
};

} // namespace accc::frontend

#endif
