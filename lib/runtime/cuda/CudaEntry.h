// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An entry point on a GPU. Its inputs, outputs and status have fixed places in the device's memory
// and in pinned memory of the host, so that all of a run, transfers included, is the same work each
// time: after a first run it is captured as a graph, which later runs launch as a whole. Nothing in
// it waits for the host.
#ifndef ACCC_RUNTIME_CUDA_CUDAENTRY_H
#define ACCC_RUNTIME_CUDA_CUDAENTRY_H

#include "CudaDevice.h"

namespace accc::detail {

/// Work that was captured and can be launched again and again.
class Graph {
public:
  /// Captures what `enqueue` puts into the context's stream, which it does not run.
  template <typename Enqueue> Graph(const Context &context, Enqueue enqueue) : context(context) {
    begin();
    try {
      enqueue();
    } catch (...) {
      discard();
      throw;
    }
    end();
  }
  Graph(const Graph &) = delete;
  ~Graph();

  /// Puts the work into the stream.
  CUresult launch() const { return context.driver.cuGraphLaunch(graph, context.stream); }

private:
  void begin();
  void end();
  void discard();

  const Context &context;
  CUgraphExec graph = nullptr;
};

class CudaEntry final : public DeviceEntry {
public:
  CudaEntry(const accc_entry &entry, CudaDevice &device);
  ~CudaEntry() override;

  int32_t run(const std::vector<const Tensor *> &inputs, std::vector<Tensor> &outputs) override;
  std::string failure() const override { return ""; } // what fails throws
  void startProfile() override;
  const std::vector<double> &profile() const override { return seconds; }

  /// The most that one of its library calls needs.
  uint64_t scratchBytes() const;

private:
  struct Step {
    const accc_step *step;
    CUfunction function = nullptr; // of a launch
    const accc_kernel *kernel = nullptr;
    uint32_t blocks = 0;
    LibraryCall *call = nullptr;        // else
    std::vector<CUdeviceptr> addresses; // of its buffers
    CUdeviceptr table = 0;              // where they are, for a kernel that looks there
    std::vector<void *> parameters;     // of a launch, each points to its value
  };
  /// Tensors side by side, each aligned, in the device's and in pinned memory.
  struct Staging {
    Staging(const CudaDevice &device, const accc_value *values, int32_t count, uint64_t extra,
            const std::string &what);
    CUdeviceptr address(size_t number) const { return onDevice.address() + offsets[number]; }
    char *pinned(size_t number) const { return onHost.data() + offsets[number]; }

    std::vector<uint64_t> offsets; // of each, and of `extra` bytes after them
    DeviceMemory onDevice;
    PinnedMemory onHost;

  private:
    static std::vector<uint64_t> layOut(const accc_value *values, int32_t count, uint64_t extra);
  };

  void addStep(const accc_step &step);
  CUdeviceptr address(const accc_buffer &buffer) const;
  uint64_t stagingBytes() const {
    return inputs.onDevice.size() + outputs.onDevice.size() + tables.size();
  }
  /// Takes the addresses anew where memory that the entries share has moved.
  void resolve();
  void enqueue();
  void enqueue(const Step &step);
  void record(size_t event);
  void addTimes();
  CUdeviceptr statusAddress() const { return outputs.address(outputs.offsets.size() - 2); }
  /// "<what> <entry>", put together when it is called for.
  auto doing(const char *what) const {
    return [what, this] { return std::string(what) + " " + entry.name; };
  }

  const accc_entry &entry;
  CudaDevice &device;
  const Context &context;
  const Driver &driver;
  std::vector<std::unique_ptr<LibraryCall>> calls;
  std::vector<Step> steps;            // without those of nothing
  Staging inputs, outputs;            // the status comes last
  DeviceMemory tables;                // of steps with a table
  uint64_t generation = ~uint64_t(0); // of the device, when the addresses were taken
  bool hasRun = false;
  std::unique_ptr<Graph> graph;
  std::vector<double> seconds; // one for each launch and call; empty unless a profile is taken
  std::vector<CUevent> events; // before the first and after each, likewise
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDAENTRY_H
