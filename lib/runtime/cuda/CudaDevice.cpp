// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudaDevice.h"

#include "CublasLt.h"
#include "CudaEntry.h"
#include "DeviceFacts.h"
#include "Environment.h"
#include "Tuning.h"

#include <algorithm>
#include <array>
#include <string>

namespace accc::detail {

namespace {

/// Copying this much takes little more than the start of the copy.
constexpr uint64_t defaultLargeBytes = 32 << 10;
/// Copying this much from the host takes longer than what a second stream costs: events, and a copy
/// on the device.
constexpr uint64_t defaultOverlapBytes = 1 << 20;

/// The one for this process among those of its machine. Where it sees a single one, that was chosen
/// for it.
int deviceNumber(const Driver &driver, const Group *group) {
  int count = 1;
  driver.check(driver.cuDeviceGetCount(&count), "counting the devices");
  return group ? group->local_rank() % std::max(count, 1) : 0;
}

/// What a kernel may ask for without saying so beforehand.
constexpr int32_t ordinarySharedBytes = 48 << 10;

} // namespace

// ---- LoadedCode ----

LoadedCode::LoadedCode(const Context &context, const accc_code &code) : context(context) {
  if (!code.image)
    return; // a model without kernels
  const Driver &driver = context.driver;
  std::array<char, 8192> log{};
  std::array options = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array values = {static_cast<void *>(log.data()), reinterpret_cast<void *>(log.size())};
  CUresult result =
      driver.cuModuleLoadDataEx(&module, code.image, options.size(), options.data(), values.data());
  driver.check(result, [&] {
    log.back() = 0;
    return std::string("loading the model's code for ") + code.arch +
           (log[0] ? std::string(" [") + log.data() + "]" : "");
  });
  try {
    for (int32_t i = 0; i < code.num_kernels; ++i) {
      const accc_kernel &kernel = code.kernels[i];
      CUfunction function = nullptr;
      driver.check(driver.cuModuleGetFunction(&function, module, kernel.name),
                   [&] { return std::string("looking for the kernel ") + kernel.name; });
      if (kernel.shared_bytes > ordinarySharedBytes)
        driver.check(driver.cuFuncSetAttribute(function,
                                               CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                               kernel.shared_bytes),
                     [&] {
                       return "giving the kernel " + std::string(kernel.name) + " " +
                              std::to_string(kernel.shared_bytes) + " bytes of shared memory";
                     });
      functions.push_back(function);
    }
  } catch (...) {
    driver.cuModuleUnload(module);
    throw;
  }
}

LoadedCode::~LoadedCode() {
  if (module && context.driver.cuStreamSynchronize(context.stream) == CUDA_SUCCESS)
    context.driver.cuModuleUnload(module);
}

// ---- CudaDevice ----

CudaDevice::CudaDevice(const Driver &driver, const accc_model_description &model,
                       const accc_code &code, const DeviceOptions &options)
    : context(driver, deviceNumber(driver, options.group)), code(code),
      customOperators(options.customOperators), loaded(context, code), libraries(context),
      group(options.group), state(context, model.state_size, "the model's state"),
      constants(context, model.constants_bytes, "the model's constants"),
      tables(context, code.tables_bytes, "the model's tables"),
      limits{environmentBytes("ACCC_CUDA_LARGE_BYTES", defaultLargeBytes),
             environmentBytes("ACCC_CUDA_OVERLAP_BYTES", defaultOverlapBytes)},
      graphs(options.graph && environmentFlag("ACCC_CUDA_GRAPH", true)),
      branches(environmentFlag("ACCC_CUDA_BRANCHES", false)),
      poison(environmentFlag("ACCC_POISON", false)) {
  if (options.group && options.group->size() > 1)
    others = std::make_unique<Nccl>(context, *options.group);
  if (state.size())
    driver.check(driver.cuMemsetD8Async(state.address(), 0, state.size(), context.stream),
                 "clearing the model's state");
  upload(constants, model.constants);
  upload(tables, code.tables);
  context.synchronize("writing the model's state and constants");
}

void CudaDevice::upload(const DeviceMemory &to, const void *from) {
  if (to.size())
    context.driver.check(
        context.driver.cuMemcpyHtoDAsync(to.address(), from, to.size(), context.stream),
        "writing the model's constants");
}

void CudaDevice::growTo(DeviceMemory &memory, uint64_t bytes, const char *what,
                        const accc_entry &entry) {
  if (memory.size() < bytes) {
    ++generation;
    memory = {}; // first, so that both are never there together; its contents are nobody's
    memory = DeviceMemory(context, bytes, std::string(what) + " " + entry.name);
  }
}

void CudaDevice::reserve(const accc_entry &entry, uint64_t scratchBytes) {
  growTo(arena, entry.arena_size, "the arena of", entry);
  growTo(scratch, scratchBytes, "the library's scratch of", entry);
}

std::unique_ptr<DeviceEntry> CudaDevice::prepare(const accc_entry &entry) {
  context.makeCurrent();
  auto made = std::make_unique<CudaEntry>(entry, *this);
  reserve(entry, made->scratchBytes());
  return made;
}

void CudaDevice::readState(uint64_t offset, void *to, uint64_t bytes) const {
  if (!bytes)
    return;
  context.makeCurrent();
  context.driver.check(
      context.driver.cuMemcpyDtoHAsync(to, state.address() + offset, bytes, context.stream),
      "reading the model's state");
  context.synchronize("reading the model's state");
}

void CudaDevice::writeState(uint64_t offset, const void *from, uint64_t bytes) {
  if (!bytes)
    return;
  context.makeCurrent();
  context.driver.check(
      context.driver.cuMemcpyHtoDAsync(state.address() + offset, from, bytes, context.stream),
      "writing the model's state");
  context.synchronize("writing the model's state");
}

std::string CudaDevice::describe(bool inCalls) const {
  auto facts = DeviceFacts::find(context.driver, deviceNumber(context.driver, group));
  if (!facts)
    return "";
  std::string text = "of compute capability " + facts->capability.text();
  if (inCalls)
    text += ", " + facts->name + ", cuBLASLt " + std::to_string(CublasLt::version());
  if (inCalls && isTuningOn()) // no other process is known to choose alike
    text += ", algorithms that process " + std::to_string(group ? group->rank() : 0) +
            " has measured (ACCC_CUDA_TUNE=1)";
  return text;
}

uint64_t CudaDevice::workingBytes() const {
  return arena.size() + scratch.size() + constants.size() + tables.size() + stagingBytes;
}

} // namespace accc::detail
