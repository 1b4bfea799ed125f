// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A GPU as a device: the state is its memory, a step is work in one stream.
#ifndef ACCC_RUNTIME_CUDA_CUDADEVICE_H
#define ACCC_RUNTIME_CUDA_CUDADEVICE_H

#include "DeviceMemory.h"
#include "LibraryCall.h"
#include "Nccl.h"
#include "Transfers.h"
#include "core/Device.h"

#include <memory>
#include <vector>

namespace accc::detail {

/// The code of a model in a device's memory.
class LoadedCode {
public:
  /// Throws Error (machine) with the driver's log where it refuses the image.
  LoadedCode(const Context &context, const accc_code &code);
  LoadedCode(const LoadedCode &) = delete;
  ~LoadedCode();

  /// One for each of accc_code.kernels.
  std::vector<CUfunction> functions;

private:
  const Context &context;
  CUmodule module = nullptr;
};

class CudaDevice final : public Device {
public:
  CudaDevice(const Driver &driver, const accc_model_description &model, const accc_code &code,
             const DeviceOptions &options);
  ~CudaDevice() override { context.tryMakeCurrent(); } // in the thread in which the session ends

  std::unique_ptr<DeviceEntry> prepare(const accc_entry &entry) override;
  char *hostState() override { return nullptr; }
  void readState(uint64_t offset, void *to, uint64_t bytes) const override;
  void writeState(uint64_t offset, const void *from, uint64_t bytes) override;
  uint64_t stateBytes() const override { return state.size(); }
  uint64_t workingBytes() const override;
  int threads() const override { return 1; }
  std::string describe(bool inCalls) const override;

private:
  friend class CudaEntry;
  void upload(const DeviceMemory &to, const void *from);
  /// Makes arena and scratch large enough for `entry`. Where there is no memory for that they are
  /// gone, until an entry that needs less reserves them anew.
  void reserve(const accc_entry &entry, uint64_t scratchBytes);
  void growTo(DeviceMemory &memory, uint64_t bytes, const char *what, const accc_entry &entry);

  Context context;
  const accc_code &code;
  const CustomOperators *customOperators;
  LoadedCode loaded;
  Libraries libraries;
  Group *group;                 // as in DeviceOptions
  std::unique_ptr<Nccl> others; // that train together with this process; null where it is alone
  DeviceMemory state, constants, tables, arena, scratch;
  /// Raised when arena or scratch move: addresses that were taken before are void.
  uint64_t generation = 0;
  uint64_t stagingBytes = 0; // of the entries' inputs and outputs on the device
  TransferLimits limits;
  bool graphs;   // whether steps are replayed as graphs
  bool branches; // whether these may run side by side what does not wait for each other
  bool poison;   // ACCC_POISON=1
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDADEVICE_H
