// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Files.h"

#include "accc/links.h"
#include "driver/HeldSignals.h"
#include "driver/TextFile.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

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

static void removeTemporary(const std::string &path) {
  (void)llvm::sys::fs::remove(path);
  llvm::sys::DontRemoveFileOnSignal(path);
}

OutputFiles::~OutputFiles() {
  for (const File &file : files)
    removeTemporary(file.temporary);
}

llvm::Error OutputFiles::add(llvm::StringRef name, llvm::function_ref<bool(llvm::StringRef)> write,
                             bool &written) {
  written = false;
  std::string path;
  try {
    path = follow_links(name.str());
  } catch (const std::exception &error) { // Error has its type information in code with RTTI
    return llvm::createStringError(std::errc::too_many_symbolic_link_levels, error.what());
  }
  // Renaming would put a file in the place of a device or a pipe.
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(path, status) && llvm::sys::fs::exists(status) &&
      !llvm::sys::fs::is_regular_file(status))
    return failure(path, std::make_error_code(llvm::sys::fs::is_directory(status)
                                                  ? std::errc::is_a_directory
                                                  : std::errc::not_supported));
  llvm::SmallString<128> temporary;
  int descriptor;
  {
    HeldSignals held;
    if (std::error_code code =
            llvm::sys::fs::createUniqueFile(path + ".tmp-%%%%%%%%", descriptor, temporary))
      return failure(path, code);
    ::close(descriptor);
    files.push_back({path, temporary.str().str(), {}});
    llvm::sys::RemoveFileOnSignal(temporary);
  }
  written = write(temporary);
  // Whole also after a power cut: the bytes are on the disk before the name is.
  std::error_code code = written ? synchronise(temporary) : std::error_code();
  if (written && !code)
    return llvm::Error::success();
  removeTemporary(files.back().temporary);
  files.pop_back();
  written = false;
  return code ? failure(path, code) : llvm::Error::success();
}

llvm::Error OutputFiles::addText(llvm::StringRef path,
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
  if (llvm::Error error = add(path, write, written))
    return error;
  return written ? llvm::Error::success() : failure(path, code);
}

llvm::Error OutputFiles::publish() {
  HeldSignals held;
  // Of several files, what they replace is kept until all have their names. A file system without
  // links keeps nothing.
  for (File &file : files)
    if (files.size() > 1 && llvm::sys::fs::exists(file.path)) {
      std::string old = file.temporary + "-old";
      if (!llvm::sys::fs::create_hard_link(file.path, old)) {
        file.old = old;
        llvm::sys::RemoveFileOnSignal(old);
      }
    }
  llvm::Error result = llvm::Error::success();
  size_t named = 0;
  for (; named < files.size() && !result; ++named) {
    File &file = files[named];
    if (std::error_code code = llvm::sys::fs::rename(file.temporary, file.path)) {
      result = failure(file.path, code);
      break;
    }
    llvm::sys::DontRemoveFileOnSignal(file.temporary);
    // The name is on the disk once the folder is. There is no more to be done where a file system
    // cannot synchronise a folder (EINVAL), or where the folder may not be read.
    llvm::StringRef folder = llvm::sys::path::parent_path(file.path);
    if (std::error_code code = synchronise(folder.empty() ? "." : folder);
        code && code != std::errc::invalid_argument && code != std::errc::permission_denied)
      result = failure(file.path, code);
  }
  bool failed = static_cast<bool>(result);
  for (size_t i = 0; failed && i < named; ++i)
    if (files[i].old.empty())
      (void)llvm::sys::fs::remove(files[i].path);
    else
      (void)llvm::sys::fs::rename(files[i].old, files[i].path);
  for (const File &file : files) {
    removeTemporary(file.temporary);
    if (!file.old.empty())
      removeTemporary(file.old);
  }
  files.clear();
  return result;
}

llvm::Error accc::writeAtomically(llvm::StringRef path,
                                  llvm::function_ref<bool(llvm::StringRef)> write, bool &written) {
  OutputFiles files;
  if (llvm::Error error = files.add(path, write, written))
    return error;
  return written ? files.publish() : llvm::Error::success();
}

llvm::Error accc::writeTextAtomically(llvm::StringRef path,
                                      llvm::function_ref<void(llvm::raw_ostream &)> print) {
  OutputFiles files;
  if (llvm::Error error = files.addText(path, print))
    return error;
  return files.publish();
}

llvm::Error accc::writeTextAtomically(llvm::StringRef path, llvm::StringRef text) {
  return writeTextAtomically(path, [&](llvm::raw_ostream &os) { os << text; });
}

std::string accc::writeTextFile(const std::string &path, const std::string &text) {
  return llvm::toString(writeTextAtomically(path, text)); // empty: no error
}
