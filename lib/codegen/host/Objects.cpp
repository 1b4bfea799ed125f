// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/host/Objects.h"

#include "support/Fault.h"

#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

Objects::~Objects() {
  for (int descriptor : descriptors)
    ::close(descriptor);
}

FailureOr<std::string> Objects::add(Location loc) {
  int descriptor = ::memfd_create("accc-object", 0);
  if (descriptor < 0) {
    emitMachineFault(loc) << "cannot create a file in memory: " << llvm::sys::StrError();
    return failure();
  }
  descriptors.push_back(descriptor);
  return paths.emplace_back("/proc/self/fd/" + std::to_string(descriptor));
}

LogicalResult codegen::dump(StringRef folder, StringRef name, Location loc,
                            llvm::function_ref<void(llvm::raw_ostream &)> print) {
  if (folder.empty())
    return success();
  SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (!code) {
    print(stream);
    stream.close();
    code = stream.error();
    stream.clear_error(); // a stream that is destroyed with one ends the process
  }
  if (code)
    return emitMachineFault(loc) << "cannot write '" << path << "': " << code.message();
  return success();
}

std::string codegen::dumpFolder(StringRef folder, StringRef machine, bool several) {
  SmallString<128> path(folder);
  if (!path.empty() && several) {
    llvm::sys::path::append(path, machine);
    llvm::sys::fs::create_directories(path);
  }
  return path.str().str();
}
