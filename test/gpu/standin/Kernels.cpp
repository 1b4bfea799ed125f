// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modules and launches.
#include "Entry.h"

#include "reference/ptx/Launch.h"

#include <cstdlib>
#include <cstring>
#include <memory>

using namespace standin;
namespace ptx = accc::ptx;

struct CUfunc_st {
  const ptx::Kernel *kernel = nullptr;
  uint32_t mostDynamicShared = 48 << 10;
};

struct CUmod_st {
  ptx::Module module;
  std::map<std::string, std::unique_ptr<CUfunc_st>> functions;
};

namespace {

/// Shared memory that a block may have on the largest of devices.
constexpr uint32_t mostShared = 227 << 10;

/// The compute capability that `.target sm_NN` asks for, ten times; 0 where there is none.
int targetOf(const std::string &text) {
  size_t place = text.find(".target sm_");
  return place == std::string::npos ? 0 : std::atoi(text.c_str() + place + 11);
}

int capabilityTimesTen() {
  std::string text = setting("STANDIN_CAPABILITY", "9.0");
  return std::atoi(text.c_str()) * 10 + std::atoi(text.c_str() + text.find('.') + 1);
}

/// The buffer that the caller has given for messages, if it has.
class Log {
public:
  Log(unsigned count, CUjit_option *options, void **values) {
    for (unsigned i = 0; i < count; ++i) {
      if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
        buffer = static_cast<char *>(values[i]);
      else if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
        size = reinterpret_cast<size_t>(values[i]);
    }
  }
  void write(const std::string &text) const {
    if (buffer && size)
      std::snprintf(buffer, size, "%s", text.c_str());
  }

private:
  char *buffer = nullptr;
  size_t size = 0;
};

} // namespace

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            CUjit_option *options, void **values) {
  STANDIN_ENTER(cuModuleLoadDataEx, true);
  if (CUresult refused = Device::get().refuseInCapture())
    return refused;
  Log log(count, options, values);
  if (std::memcmp(image, "\177ELF", 4) == 0) {
    log.write("the stand-in for the driver runs PTX only: compile with --arch compute_80");
    return CUDA_ERROR_NO_BINARY_FOR_GPU;
  }
  std::string text = static_cast<const char *>(image);
  if (targetOf(text) > capabilityTimesTen()) {
    log.write("PTX for sm_" + std::to_string(targetOf(text)));
    return CUDA_ERROR_INVALID_PTX;
  }
  ptx::Error error;
  auto parsed = ptx::Module::parse(text, error);
  if (!parsed) {
    log.write(error.message);
    return CUDA_ERROR_INVALID_PTX;
  }
  auto loaded = std::make_unique<CUmod_st>(CUmod_st{std::move(*parsed), {}});
  if (auto failed = loaded->module.load(Device::get().memory)) {
    log.write(failed->message);
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *module = loaded.release();
  return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module) {
  STANDIN_ENTER(cuModuleUnload, true);
  CUresult result = Device::get().waitForAll();
  module->module.unload(Device::get().memory);
  delete module;
  return result;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  STANDIN_ENTER(cuModuleGetFunction, true);
  const ptx::Kernel *kernel = module->module.kernel(name);
  if (!kernel)
    return CUDA_ERROR_NOT_FOUND;
  auto &made = module->functions[name];
  if (!made)
    made = std::make_unique<CUfunc_st>(CUfunc_st{kernel});
  *function = made.get();
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  STANDIN_ENTER(cuFuncSetAttribute, true);
  if (attribute != CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES || value < 0 ||
      uint32_t(value) + function->kernel->sharedBytes > mostShared)
    return CUDA_ERROR_INVALID_VALUE;
  function->mostDynamicShared = uint32_t(value);
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ,
                        unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,
                        CUstream stream, void **parameters, void **extra) {
  STANDIN_ENTER(cuLaunchKernel, true);
  const ptx::Kernel &kernel = *function->kernel;
  ptx::Dim3 grid{gridX, gridY, gridZ}, block{blockX, blockY, blockZ};
  if (extra || grid.count() == 0 || block.count() == 0 || block.count() > 1024 ||
      gridX > 0x7fffffffu || gridY > 0xffff || gridZ > 0xffff ||
      sharedBytes > function->mostDynamicShared ||
      (kernel.requiredBlock && *kernel.requiredBlock != block) ||
      (kernel.largestBlock && kernel.largestBlock->count() < block.count()))
    return CUDA_ERROR_INVALID_VALUE;
  Device &device = Device::get();
  std::vector<std::byte> packed = kernel.pack(parameters); // now, as the driver does
  return device.submit(stream, [=, &kernel, &device, packed = std::move(packed)] {
    ptx::LaunchOptions options;
    // Behind an error in the data the others work on with whatever lies there.
    options.checkInitialized = !device.kernelsHaveStopped();
    if (std::string seed = setting("STANDIN_SEED", ""); !seed.empty())
      options.orderSeed = std::strtoull(seed.c_str(), nullptr, 10);
    device.check(
        ptx::launch(kernel, device.memory, grid, block, sharedBytes, packed, options).error);
  });
}
