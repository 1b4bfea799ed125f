// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SharedLibrary.h"

#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

namespace accc::detail {

static std::vector<std::string> toolkitFolders() {
  std::vector<std::string> folders;
  const char *path = std::getenv("CUDA_PATH");
  for (std::string root : {std::string(path ? path : ""), std::string("/usr/local/cuda")})
    if (!root.empty())
      for (const char *folder : {"/lib64", "/lib"})
        folders.push_back(root + folder);
  return folders;
}

SharedLibrary::SharedLibrary(const std::vector<std::string> &names, bool toolkit,
                             std::string &why) {
  std::vector<std::string> folders = toolkit ? toolkitFolders() : std::vector<std::string>();
  std::string tried, broken;
  for (const std::string &name : names) {
    tried += (tried.empty() ? "" : " or ") + name;
    handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; !handle && i < folders.size(); ++i) {
      std::string path = folders[i] + "/" + name;
      if (::access(path.c_str(), F_OK) == 0 &&
          !(handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)))
        broken = ::dlerror(); // there, but it cannot be loaded: that is the news
    }
    if (handle) {
      found = name;
      return;
    }
  }
  why = tried + " was not found: looked for by the loader (LD_LIBRARY_PATH, ldconfig)";
  for (const std::string &folder : folders)
    why += ", in " + folder;
  if (!broken.empty())
    why += "; " + broken;
}

void *SharedLibrary::address(const char *symbol) const { return ::dlsym(handle, symbol); }

} // namespace accc::detail
