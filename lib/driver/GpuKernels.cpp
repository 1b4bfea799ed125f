// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/GpuKernels.h"

#include "codegen/cuda/Cuda.h"
#include "reference/ptx/Launch.h"
#include "support/ModuleNames.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>
#include <map>
#include <tuple>

using namespace accc;

namespace {

/// Of a larger launch, which full-size models have, the interpreter runs a sample.
constexpr uint64_t kMostBlocks = 256;

struct Registers {
  int registers = 0, spilled = 0;
};

/// What `ptxas -v` says of each kernel.
llvm::StringMap<Registers> parseResources(llvm::StringRef text) {
  llvm::StringMap<Registers> result;
  llvm::StringRef kernel;
  for (llvm::StringRef line : llvm::split(text, '\n')) {
    auto numberBefore = [&](llvm::StringRef what) {
      int number = 0;
      llvm::StringRef before = line.take_front(line.find(what)).rtrim();
      before.substr(before.find_last_of(' ') + 1).getAsInteger(10, number);
      return number;
    };
    if (line.contains("Compiling entry function"))
      kernel = line.split('\'').second.split('\'').first;
    if (line.contains(" bytes spill stores"))
      result[kernel].spilled = numberBefore(" bytes spill stores");
    if (line.contains(" registers"))
      result[kernel].registers = numberBefore(" registers");
  }
  return result;
}

/// Memory of a launch, all zeros; equal places of the model are the same address.
class Buffers {
public:
  uint64_t addressOf(const accc_buffer &buffer) {
    uint64_t &address = addresses[{buffer.space, buffer.offset, buffer.bytes}];
    if (!address)
      address = zeros(buffer.bytes);
    return address;
  }
  /// The model's own contents, for tables that kernels are told.
  uint64_t tableOf(const accc_buffer &buffer, const void *tables) {
    uint64_t address = addressOf(buffer);
    (void)memory.write(address, static_cast<const char *>(tables) + buffer.offset, buffer.bytes);
    return address;
  }
  uint64_t arrayOf(const std::vector<uint64_t> &pointers) {
    uint64_t address = zeros(pointers.size() * sizeof(uint64_t));
    (void)memory.write(address, pointers.data(), pointers.size() * sizeof(uint64_t));
    return address;
  }
  void clear() {
    for (uint64_t address : allocated)
      (void)memory.free(address);
    allocated.clear();
    addresses.clear();
  }
  ptx::Memory memory;

private:
  uint64_t zeros(uint64_t bytes) {
    uint64_t address = memory.allocate(std::max<uint64_t>(bytes, 1));
    (void)memory.fill(address, 0, 1, std::max<uint64_t>(bytes, 1));
    allocated.push_back(address);
    return address;
  }
  std::vector<uint64_t> allocated;
  std::map<std::tuple<int32_t, uint64_t, uint64_t>, uint64_t> addresses;
};

GpuLaunches failed(const std::string &label, const std::string &error) {
  GpuLaunches result;
  result.label = label;
  result.error = error;
  return result;
}

void run(GpuLaunches &launches, const accc_code &code, const accc_entry &entry,
         const accc_step &step, const ptx::Module &module, Buffers &buffers, uint64_t stepLimit) {
  const accc_kernel &kernel = code.kernels[step.index];
  const ptx::Kernel *found = module.kernel(kernel.name);
  if (!found) {
    launches.error = "the PTX has no such kernel";
    return;
  }
  std::vector<uint64_t> pointers;
  for (int32_t i = 0; i < step.num_buffers; ++i) {
    const accc_buffer &buffer = entry.buffers[step.first_buffer + i];
    pointers.push_back(buffer.space == ACCC_TABLE ? buffers.tableOf(buffer, code.tables)
                                                  : buffers.addressOf(buffer));
  }
  if (kernel.buffers_in_memory)
    pointers = {buffers.arrayOf(pointers)};
  std::vector<const void *> values;
  for (const uint64_t &pointer : pointers)
    values.push_back(&pointer);
  std::vector<std::byte> parameters = found->pack(values.data());
  ptx::LaunchOptions options;
  options.checkRaces = false; // buffers of their own may be one in the model
  options.stepLimit = stepLimit;
  options.mostBlocks = kMostBlocks;
  ptx::LaunchResult result =
      ptx::launch(*found, buffers.memory, {static_cast<uint32_t>(launches.blocks), 1, 1},
                  {static_cast<uint32_t>(kernel.threads), 1, 1},
                  static_cast<uint32_t>(kernel.shared_bytes), parameters, options);
  if (result.error)
    launches.error = result.error->message;
  const ptx::Counts &counts = result.counts;
  auto ofAll = [&](uint64_t count) {
    double blocks = static_cast<double>(std::max<uint64_t>(counts.blocks, 1));
    return static_cast<uint64_t>(static_cast<double>(count) *
                                 (static_cast<double>(launches.blocks) / blocks));
  };
  launches.movedBytes = ofAll(32 * (counts.globalReadSectors + counts.globalWriteSectors));
  launches.instructions = ofAll(counts.total());
  launches.bankConflicts = ofAll(counts.sharedExtraWavefronts);
}

} // namespace

std::vector<GpuLaunches> accc::countLaunches(const accc_code &code, const accc_entry &entry,
                                             uint64_t stepLimit) {
  llvm::StringRef text(static_cast<const char *>(code.image));
  ptx::Error error;
  std::optional<ptx::Module> module = ptx::Module::parse(std::string_view(text), error);
  if (!module)
    return {failed("PTX", error.message)};
  Buffers buffers;
  if (auto problem = module->load(buffers.memory))
    return {failed("PTX", problem->message)};
  llvm::StringMap<Registers> resources;
  if (std::optional<std::string> ptxas = codegen::findPtxas())
    resources = parseResources(
        codegen::describeResources(*ptxas, text, std::atoi(code.arch + std::strlen("compute_"))));

  std::vector<GpuLaunches> result;
  std::map<std::tuple<int32_t, int64_t>, size_t> known; // by kernel and tasks
  std::vector<std::vector<std::string>> modules;
  for (int32_t i = 0; i < entry.num_steps; ++i) {
    const accc_step &step = entry.steps[i];
    if (step.kind != ACCC_STEP_LAUNCH)
      continue;
    auto [it, isNew] = known.insert({{step.index, step.tasks}, result.size()});
    if (isNew)
      modules.emplace_back();
    modules[it->second].push_back(step.module ? step.module : "");
    if (!isNew) {
      ++result[it->second].count;
      continue;
    }
    const accc_kernel &kernel = code.kernels[step.index];
    GpuLaunches &launches = result.emplace_back();
    launches.label = step.label;
    launches.count = 1;
    launches.threads = kernel.threads;
    launches.blocks = static_cast<int64_t>(
        llvm::divideCeil(step.tasks, static_cast<int64_t>(kernel.tasks_per_block)));
    for (int32_t b = 0; b + 1 < step.num_buffers; ++b) // without the status
      launches.leastBytes += entry.buffers[step.first_buffer + b].bytes;
    if (auto known = resources.find(kernel.name); known != resources.end()) {
      launches.registers = known->second.registers;
      launches.spilledBytes = known->second.spilled;
    }
    run(launches, code, entry, step, *module, buffers, stepLimit);
    buffers.clear();
  }
  for (auto [launches, names] : llvm::zip_equal(result, modules))
    launches.module = mergeModuleNames(names);
  return result;
}
