// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LibraryFiles.h"

#include <algorithm>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <sys/stat.h>
#include <utility>

namespace accc::detail {

namespace {

/// The libraries that are loaded. A file that is in use keeps its number, also where it has no name
/// any more.
class LoadedFiles {
public:
  void *open(const std::string &path) {
    std::lock_guard lock(mutex);
    struct stat status = {};
    const bool isThere = ::stat(path.c_str(), &status) == 0; // else dlopen() says what is wrong
    const File file(status.st_dev, status.st_ino);
    std::string name = path;
    if (auto known = loaded.find(file); known != loaded.end())
      name = known->second.name;
    else
      while (isTaken(name)) // the same place, spelled otherwise
        name.insert(name.rfind('/'), "/.");
    void *handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle && isThere)
      ++loaded.try_emplace(file, Loaded{name, handle, 0}).first->second.users;
    return handle;
  }

  void close(void *handle) {
    std::lock_guard lock(mutex);
    ::dlclose(handle);
    auto entry =
        std::ranges::find(loaded, handle, [](const auto &item) { return item.second.handle; });
    if (entry != loaded.end() && --entry->second.users == 0)
      loaded.erase(entry);
  }

private:
  using File = std::pair<dev_t, ino_t>;
  struct Loaded {
    std::string name;
    void *handle;
    size_t users;
  };
  bool isTaken(const std::string &name) const {
    return std::ranges::any_of(loaded, [&](const auto &item) { return item.second.name == name; });
  }

  std::mutex mutex;
  std::map<File, Loaded> loaded;
};

/// Never destroyed: models may outlive all that is static.
LoadedFiles &files() {
  static LoadedFiles &all = *new LoadedFiles;
  return all;
}

} // namespace

void *openLibrary(const std::string &path) { return files().open(path); }
void closeLibrary(void *handle) { files().close(handle); }

} // namespace accc::detail
