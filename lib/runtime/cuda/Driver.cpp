// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Driver.h"

#include "SharedLibrary.h"
#include "accc/error.h"

#include <mutex>

namespace accc::detail {

namespace {

/// The version that all of ACCC_CUDA_DRIVER_FUNCTIONS are in.
constexpr int neededVersion = 12000;

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// After these nothing can be done with the device any more in this process.
bool isSticky(CUresult result) {
  switch (result) {
  case CUDA_ERROR_ECC_UNCORRECTABLE:
  case CUDA_ERROR_ILLEGAL_ADDRESS:
  case CUDA_ERROR_LAUNCH_TIMEOUT:
  case CUDA_ERROR_CONTEXT_IS_DESTROYED:
  case CUDA_ERROR_ASSERT:
  case CUDA_ERROR_HARDWARE_STACK_ERROR:
  case CUDA_ERROR_ILLEGAL_INSTRUCTION:
  case CUDA_ERROR_MISALIGNED_ADDRESS:
  case CUDA_ERROR_INVALID_ADDRESS_SPACE:
  case CUDA_ERROR_INVALID_PC:
  case CUDA_ERROR_LAUNCH_FAILED:
    return true;
  default:
    return false;
  }
}

} // namespace

bool Driver::load(std::string &why) {
  SharedLibrary library({"libcuda.so.1"}, /*toolkit=*/false, why);
  if (!library) {
    why = "NVIDIA's driver (" + why + ")";
    return false;
  }
  PFN_cuGetProcAddress_v12000 getAddress = nullptr;
  PFN_cuDriverGetVersion_v2020 getVersion = nullptr;
  int version = 0;
  if (library.find("cuDriverGetVersion", getVersion) && getVersion(&version) != CUDA_SUCCESS)
    version = 0;
  std::string tooOld = "an NVIDIA driver for CUDA " + versionText(neededVersion) +
                       " or later; the one here is for CUDA " + versionText(version);
  if (version < neededVersion || !library.find("cuGetProcAddress_v2", getAddress)) {
    why = tooOld;
    return false;
  }
  auto find = [&](const char *name, auto &function) {
    void *address = nullptr;
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SUCCESS;
    if (getAddress(name, &address, neededVersion, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found) !=
            CUDA_SUCCESS ||
        !address) {
      why = tooOld + " and lacks " + name;
      return false;
    }
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
    return true;
  };
#define ACCC_CUDA_FIND(name, version)                                                              \
  if (!find(#name, this->name))                                                                    \
    return false;
  ACCC_CUDA_DRIVER_FUNCTIONS(ACCC_CUDA_FIND)
#undef ACCC_CUDA_FIND
  CUresult result = cuInit(0);
  if (result == CUDA_SUCCESS)
    return true;
  const char *text = nullptr;
  cuGetErrorString(result, &text);
  why = result == CUDA_ERROR_NO_DEVICE
            ? std::string("an NVIDIA GPU, of which the driver sees none")
            : std::string("NVIDIA's driver, which does not start: ") + (text ? text : "unknown");
  return false;
}

const Driver *Driver::find(std::string &why) {
  static std::mutex mutex; // models may be loaded in several threads
  static Driver driver;
  static bool loaded = false; // else tried again: what was missing may have come
  std::lock_guard lock(mutex);
  if (!loaded)
    loaded = driver.load(why);
  return loaded ? &driver : nullptr;
}

void Driver::fail(CUresult result, const std::string &doing) const {
  const char *name = nullptr, *text = nullptr;
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &text);
  std::string message = "the GPU failed in " + doing + ": " + (text ? text : "unknown error") +
                        " (" + (name ? name : std::to_string(result)) + ")";
  size_t free = 0, total = 0;
  if (result == CUDA_ERROR_OUT_OF_MEMORY && cuMemGetInfo(&free, &total) == CUDA_SUCCESS)
    message += "; " + std::to_string(free) + " of its " + std::to_string(total) +
               " bytes of memory are free";
  if (isSticky(result))
    message += "; this process can use the GPU no more, and what the session held is lost: load "
               "the model again in a new process";
  throw Error(ErrorKind::machine, message);
}

} // namespace accc::detail
