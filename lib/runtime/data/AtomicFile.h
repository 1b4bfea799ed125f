// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file that appears whole or not at all.
#ifndef ACCC_RUNTIME_DATA_ATOMICFILE_H
#define ACCC_RUNTIME_DATA_ATOMICFILE_H

#include <cstddef>
#include <string>

namespace accc::detail {

/// Collects writes in a temporary file beside `path`, which commit() synchronises and renames over
/// `path`. Destroyed before that, it removes the temporary file and leaves `path` as it was.
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
  [[noreturn]] void fail(const std::string &action, int error);

  std::string path;      // as the caller said it, for messages
  std::string target;    // with symbolic links resolved
  std::string temporary; // in the folder of `target`; empty once renamed
  int file = -1;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_DATA_ATOMICFILE_H
