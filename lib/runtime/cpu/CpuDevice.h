// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The CPU as a device: the state is host memory, a step runs on the caller's thread and the team's.
#ifndef ACCC_RUNTIME_CPU_CPUDEVICE_H
#define ACCC_RUNTIME_CPU_CPUDEVICE_H

#include "Exchanges.h"
#include "Launches.h"
#include "LibraryCall.h"
#include "Memory.h"
#include "core/CustomCall.h"
#include "core/Device.h"

namespace accc::detail {

class CpuDevice final : public Device {
public:
  CpuDevice(const accc_model_description &model, const accc_code &code,
            const DeviceOptions &options);

  std::unique_ptr<DeviceEntry> prepare(const accc_entry &entry) override;
  char *hostState() override { return state.data(); }
  void readState(uint64_t offset, void *to, uint64_t bytes) const override;
  void writeState(uint64_t offset, const void *from, uint64_t bytes) override;
  uint64_t stateBytes() const override { return state.size(); }
  uint64_t workingBytes() const override { return arena.size() + scratch.size(); }
  int threads() const override { return team.threads(); }
  std::string describe(bool inCalls) const override;

private:
  friend class CpuEntry;
  /// Makes arena and scratch large enough for `entry`. Where there is no memory for that they are
  /// gone, until an entry that needs less reserves them anew.
  void reserve(const accc_entry &entry, uint64_t scratchBytes);

  const accc_model_description &model;
  const accc_code &code;
  const CustomOperators *customOperators;
  Team team;
  Memory state, arena, scratch;
  std::optional<GroupThread> others; // that train together with this process
  bool poison;                       // ACCC_POISON=1
};

class CpuEntry final : public DeviceEntry {
public:
  CpuEntry(const accc_entry &entry, CpuDevice &device);

  std::vector<Tensor> outputs(size_t) override { return written; }
  void start(size_t slot, const std::vector<Source> &inputs) override;
  int32_t wait(size_t) override { return static_cast<int32_t>(result); }
  Error failure() const override { return callError; }
  void startProfile() override;
  const std::vector<double> &profile() const override { return seconds; }

  /// The most that one of its calls needs.
  uint64_t scratchBytes() const { return mostScratch; }

private:
  /// Whether a run may write there: into its outputs, or the state.
  bool isWritten(const Tensor &given) const;
  char *inputBytes(size_t number, const Tensor &given);
  char *address(const accc_buffer &buffer);
  char *const *addresses(const accc_step &step);
  int64_t runSteps();
  /// A collective, or agreement on how to go on. False where the others cannot be reached.
  bool runTogether(const accc_step &step);
  /// Remembers why a call or an exchange failed; gives false.
  bool fail(const std::string &why);
  /// A library or custom call; false where it throws.
  bool runCall(const accc_step &step);
  template <typename Work> void measure(Work work);

  const accc_entry &entry;
  CpuDevice &device;
  Launches launches;
  std::vector<std::unique_ptr<LibraryCall>> calls;
  std::vector<CustomCall> customCalls;
  Exchanges exchanges;
  uint64_t mostScratch = 0;
  int64_t status = ACCC_DONE;  // of the kernels and calls
  int64_t result = ACCC_DONE;  // of the last run
  std::vector<char *> io;      // the entry's inputs, then its outputs
  std::vector<char *> buffers; // of the present step
  std::vector<Tensor> written; // the outputs
  std::vector<Tensor> aligned; // one an input: copies of what does not lie as entries need it
  std::vector<double> seconds; // one for each step; empty unless a profile is taken
  size_t nextStep = 0;         // of the present run
  Error callError{ErrorKind::machine, std::string(entry.name) + ": a call failed"}; // the last one
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CPU_CPUDEVICE_H
