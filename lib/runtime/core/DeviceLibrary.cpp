// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DeviceLibrary.h"

#include <dlfcn.h>
#include <filesystem>

namespace accc::detail {

namespace {

/// Where to look before the loader does.
std::vector<std::string> foldersOfProgram() {
  std::error_code error;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error)
    return {};
  std::filesystem::path folder = program.parent_path();
  return {folder.string(), (folder.parent_path() / ACCC_LIBRARY_FOLDER).string()};
}

} // namespace

const Platform *DeviceLibrary::load(std::string &why) const {
  std::lock_guard lock(loading);
  if (loaded)
    return loaded;
  std::string name = "libaccc_" + target + ".so", path = name;
  std::string missing = "accc's runtime for " + target + ", " + name;
  void *handle = nullptr;
  std::string folders;
  for (const std::string &folder : foldersOfProgram()) {
    std::error_code error;
    folders += folder + ", ";
    if (!handle && std::filesystem::exists(folder + "/" + name, error)) {
      path = folder + "/" + name;
      break;
    }
  }
  handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *text = ::dlerror();
    why = missing + ", which was looked for in " + folders + "and by the loader (RPATH, " +
          "LD_LIBRARY_PATH, ldconfig): " + (text ? text : "it cannot be loaded");
    return nullptr;
  }
  auto function =
      reinterpret_cast<accc_device_platform_function *>(::dlsym(handle, devicePlatformSymbol));
  loaded = function ? function(deviceInterface) : nullptr;
  if (!loaded) {
    why = missing + " of the same release as the program (" + deviceInterface + "); " + path +
          " is of another";
    ::dlclose(handle);
  }
  return loaded;
}

std::optional<std::string> DeviceLibrary::whyUnable(std::string_view arch) const {
  std::string why;
  const Platform *platform = load(why);
  return platform ? platform->whyUnable(arch) : why;
}

std::optional<std::string> DeviceLibrary::whyUnsupported(const accc_library_call &call) const {
  std::string why;
  const Platform *platform = load(why);
  return platform ? platform->whyUnsupported(call) : why;
}

std::unique_ptr<Device> DeviceLibrary::open(const accc_model_description &model,
                                            const accc_code &code,
                                            const DeviceOptions &options) const {
  std::string why;
  const Platform *platform = load(why);
  if (!platform)
    throw Error(ErrorKind::machine, "a session on " + target + " needs " + why);
  return platform->open(model, code, options);
}

} // namespace accc::detail
