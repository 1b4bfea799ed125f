// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Files.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

using namespace accc;

static llvm::Error failure(llvm::StringRef path, std::error_code code) {
  return llvm::createStringError(code, "cannot write '%s': %s", path.str().c_str(),
                                 code.message().c_str());
}

/// Brings a file, or what a folder lists, to the disk.
static std::error_code synchronise(llvm::StringRef path) {
  int descriptor = ::open(path.str().c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    return std::error_code(errno, std::generic_category());
  std::error_code code;
  if (::fsync(descriptor) != 0)
    code = std::error_code(errno, std::generic_category());
  ::close(descriptor);
  return code;
}

llvm::Error accc::writeAtomically(llvm::StringRef path,
                                  llvm::function_ref<bool(llvm::StringRef)> write, bool &written) {
  written = false;
  // Renaming would put a file in the place of a device or a pipe.
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(path, status) && llvm::sys::fs::exists(status) &&
      !llvm::sys::fs::is_regular_file(status))
    return failure(path, std::make_error_code(std::errc::not_supported));
  llvm::SmallString<128> temporary;
  int descriptor;
  if (std::error_code code =
          llvm::sys::fs::createUniqueFile(path + ".tmp-%%%%%%%%", descriptor, temporary))
    return failure(path, code);
  ::close(descriptor);
  if (!write(temporary)) {
    (void)llvm::sys::fs::remove(temporary);
    return llvm::Error::success();
  }
  // Whole also after a power cut: the bytes are on the disk before the name is.
  std::error_code code = synchronise(temporary);
  if (!code)
    code = llvm::sys::fs::rename(temporary, path);
  if (code) {
    (void)llvm::sys::fs::remove(temporary);
    return failure(path, code);
  }
  written = true;
  // The name is on the disk once the folder is. There is no more to be done where a file system
  // cannot synchronise a folder (EINVAL), or where the folder may not be read.
  llvm::StringRef folder = llvm::sys::path::parent_path(path);
  if (std::error_code synced = synchronise(folder.empty() ? "." : folder);
      synced && synced != std::errc::invalid_argument && synced != std::errc::permission_denied)
    return failure(path, synced);
  return llvm::Error::success();
}

llvm::Error accc::writeTextAtomically(llvm::StringRef path,
                                      llvm::function_ref<void(llvm::raw_ostream &)> print) {
  std::error_code code;
  bool written;
  auto write = [&](llvm::StringRef temporary) {
    llvm::raw_fd_ostream stream(temporary, code);
    if (code)
      return false;
    print(stream);
    stream.close();
    code = stream.error();
    stream.clear_error();
    return !code;
  };
  if (llvm::Error error = writeAtomically(path, write, written))
    return error;
  return written ? llvm::Error::success() : failure(path, code);
}

llvm::Error accc::writeTextAtomically(llvm::StringRef path, llvm::StringRef text) {
  return writeTextAtomically(path, [&](llvm::raw_ostream &os) { os << text; });
}
