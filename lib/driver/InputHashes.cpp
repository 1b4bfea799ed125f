// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/InputHashes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

using namespace accc;

static std::string hashFile(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file)
    return "";
  auto hash = llvm::xxh3_128bits(llvm::arrayRefFromStringRef((*file)->getBuffer()));
  return llvm::utohexstr(hash.high64, /*LowerCase=*/true, /*Width=*/16) +
         llvm::utohexstr(hash.low64, /*LowerCase=*/true, /*Width=*/16);
}

std::shared_future<InputHashes> accc::hashInputs(const std::string &model,
                                                 std::vector<std::string> dataFiles) {
  auto hash = [model, dataFiles = std::move(dataFiles)] {
    InputHashes hashes{{llvm::sys::path::filename(model).str(), hashFile(model)}};
    llvm::StringRef folder = llvm::sys::path::parent_path(model);
    for (llvm::StringRef path : dataFiles) {
      llvm::StringRef name = path;
      name.consume_front(folder.empty() ? "." : folder);
      hashes[name.ltrim('/').str()] = hashFile(path.str());
    }
    return hashes;
  };
  return std::async(std::launch::async | std::launch::deferred, std::move(hash)).share();
}
