// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files that appear whole or not at all.
#ifndef ACCC_DRIVER_FILES_H
#define ACCC_DRIVER_FILES_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

namespace accc {

/// Files that appear together. Each is written to a temporary file beside its place; none has its
/// name before all are whole and on the disk. What was not published is removed, also where a
/// signal ends the process.
class OutputFiles {
public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles &) = delete;
  OutputFiles &operator=(const OutputFiles &) = delete;
  ~OutputFiles();

  /// Calls `write` with the name of a new file, which publish() calls `path`; where that is a
  /// symbolic link, it keeps pointing to the file. `write` returns false if it failed and has said
  /// why; the error is then llvm::Error::success() and `written` false.
  llvm::Error add(llvm::StringRef path, llvm::function_ref<bool(llvm::StringRef)> write,
                  bool &written);
  /// The same for what `print` writes.
  llvm::Error addText(llvm::StringRef path, llvm::function_ref<void(llvm::raw_ostream &)> print);

  /// Gives all files their names, in the order in which they were added. If one cannot be, the
  /// others are taken back: what they replaced is there again.
  llvm::Error publish();

private:
  struct File {
    std::string path, temporary;
    std::string old; // another name of what the file replaces; empty: there is nothing
  };
  std::vector<File> files;
};

/// Writes one file so.
llvm::Error writeAtomically(llvm::StringRef path, llvm::function_ref<bool(llvm::StringRef)> write,
                            bool &written);

/// The same for what `print` writes.
llvm::Error writeTextAtomically(llvm::StringRef path,
                                llvm::function_ref<void(llvm::raw_ostream &)> print);
/// The same for a text.
llvm::Error writeTextAtomically(llvm::StringRef path, llvm::StringRef text);

} // namespace accc

#endif
