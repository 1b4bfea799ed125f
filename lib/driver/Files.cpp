// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Files.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace accc;

static llvm::Error failure(llvm::StringRef path, std::error_code code) {
  return llvm::createStringError(code, "cannot write '%s': %s", path.str().c_str(),
                                 code.message().c_str());
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
  if (llvm::sys::fs::openFileForRead(temporary, descriptor) == std::error_code()) {
    ::fsync(descriptor);
    ::close(descriptor);
  }
  if (std::error_code code = llvm::sys::fs::rename(temporary, path)) {
    (void)llvm::sys::fs::remove(temporary);
    return failure(path, code);
  }
  written = true;
  return llvm::Error::success();
}

llvm::Error accc::writeTextAtomically(llvm::StringRef path, llvm::StringRef text) {
  std::error_code code;
  bool written;
  auto write = [&](llvm::StringRef temporary) {
    llvm::raw_fd_ostream stream(temporary, code);
    if (code)
      return false;
    stream << text;
    stream.close();
    code = stream.error();
    stream.clear_error();
    return !code;
  };
  if (llvm::Error error = writeAtomically(path, write, written))
    return error;
  return written ? llvm::Error::success() : failure(path, code);
}
