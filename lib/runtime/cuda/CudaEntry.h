// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An entry point on a GPU. Its inputs, outputs and status have fixed places in the device's memory,
// so that a run is the same work each time, transfers left out: after a first run it is captured as
// a graph, which later runs launch as a whole. Neither waits for the other: the device finds the
// inputs of a run in pinned memory, and the host looks there for the outputs when it needs them.
#ifndef ACCC_RUNTIME_CUDA_CUDAENTRY_H
#define ACCC_RUNTIME_CUDA_CUDAENTRY_H

#include "CudaDevice.h"
#include "core/CustomCall.h"

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

  size_t slots() const override { return Transfers::slots; }
  std::vector<Tensor> outputs(size_t slot) override { return transfers.outputTensors(slot); }
  bool staysOnDevice(size_t output) const override { return transfers.isLarge(output); }
  Tensor fetch(size_t output) override;
  void start(size_t slot, const std::vector<Source> &inputs) override;
  const void *input(size_t slot, size_t number) const override {
    return transfers.sentInput(slot, number);
  }
  int32_t wait(size_t slot) override;
  Error failure() const override { return {ErrorKind::bug, ""}; } // what fails throws
  void startProfile() override;
  const std::vector<double> &profile() const override { return seconds; }

  /// The most that one of its calls needs.
  uint64_t scratchBytes() const;

private:
  struct Step {
    const accc_step *step;
    CUfunction function = nullptr; // of a launch
    const accc_kernel *kernel = nullptr;
    uint32_t blocks = 0;
    LibraryCall *call = nullptr; // else one of these
    CustomCall *customCall = nullptr;
    const accc_collective *collective = nullptr;
    bool isAgreement = false;
    uint64_t scratch = 0;               // where its scratch begins in the device's
    std::vector<CUdeviceptr> addresses; // of its buffers
    CUdeviceptr table = 0;              // where they are, for a kernel that looks there
    std::vector<void *> parameters;     // of a launch, each points to its value
  };
  void addStep(const accc_step &step);
  CUdeviceptr address(const accc_buffer &buffer) const;
  uint64_t stagingBytes() const { return transfers.deviceBytes() + tables.size(); }
  /// Takes the addresses anew where memory that the entries share has moved.
  void resolve();
  /// Puts the copying of inputs that are on the device already into the stream.
  void copyOnDevice(const std::vector<Source> &inputs);
  /// Finds the most that a call needs.
  void measureScratch();
  /// Gives calls that may run side by side scratch of their own, and finds out which steps may.
  void findBranches();
  /// Everything of a run but the transfers.
  void enqueue();
  /// The same for a capture, in the order that findBranches() has found.
  void capture();
  void fillMemory();
  void enqueue(const Step &step);
  void enqueueCollective(const Step &step);
  std::span<const accc_buffer> buffersOf(const Step &step) const;
  void record(size_t event);
  void addTimes();
  /// "<what> <entry>", put together when it is called for.
  auto doing(const char *what) const {
    return [what, this] { return std::string(what) + " " + entry.name; };
  }

  const accc_entry &entry;
  CudaDevice &device;
  const Context &context;
  const Driver &driver;
  std::vector<LibraryCall *> calls; // of the device's
  std::vector<CustomCall> customCalls;
  std::vector<Step> steps;   // without those of nothing
  uint64_t scratchBlock = 0; // bytes of one of the blocks of scratch
  int scratchBlocks = 1;
  std::vector<std::vector<size_t>> waitsFor; // stepsToWaitFor; empty where all steps are in order
  Transfers transfers;
  DeviceMemory tables;                // of steps with a table
  uint64_t generation = ~uint64_t(0); // of the device, when the addresses were taken
  bool hasRun = false;
  uint64_t fingerprint = 0; // fingerprintOf, where others exchange it
  std::unique_ptr<Graph> graph;
  std::vector<double> seconds; // one for each launch and call; empty unless a profile is taken
  std::vector<Event> events;   // before the first and after each, likewise
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDAENTRY_H
