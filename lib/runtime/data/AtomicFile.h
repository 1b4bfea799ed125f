// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file that appears whole or not at all.
#ifndef ACCC_RUNTIME_DATA_ATOMICFILE_H
#define ACCC_RUNTIME_DATA_ATOMICFILE_H

#include <cstddef>
#include <string>

namespace accc::detail {

/// Collects writes in a file of the folder of `path` that has no name, which commit() synchronises,
/// names and renames over `path`. However the process ends before that, nothing of it remains and
/// `path` is as it was. Where the file system has no files without names the file is a temporary
/// one, which the destructor removes.
/// Every member throws Error (machine) that names the file and the system's reason.
class AtomicFile {
public:
  explicit AtomicFile(const std::string &path);
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;
  ~AtomicFile();

  void write(const void *data, size_t bytes);
  void commit();

private:
  bool openNameless();
  void openTemporary();
  void giveName();
  [[noreturn]] void fail(const std::string &action, int error);

  std::string path;      // as the caller said it, for messages
  std::string target;    // with symbolic links resolved
  std::string temporary; // the file's name in the folder of `target`; empty where it has none
  int file = -1;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_DATA_ATOMICFILE_H
