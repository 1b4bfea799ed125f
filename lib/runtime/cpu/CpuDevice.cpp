// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CpuDevice.h"

#include "FloatModes.h"
#include "Instructions.h"
#include "OneDnn.h"
#include "core/Agreement.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <span>

namespace accc::detail {

namespace {

// As a float of any width this is a NaN, as an integer -1: what is read before it is written shows.
constexpr char poisonByte = '\xff';

bool environmentFlag(const char *name) {
  const char *value = std::getenv(name);
  return value && *value && std::string_view(value) != "0";
}

void growTo(Memory &memory, uint64_t bytes, const char *what, const accc_entry &entry) {
  if (memory.size() < bytes) {
    memory = {}; // first, so that both are never there together; its contents are nobody's
    memory = Memory(bytes, std::string(what) + " " + entry.name);
  }
}

bool isAligned(const void *data) { return reinterpret_cast<uintptr_t>(data) % ACCC_ALIGNMENT == 0; }

class CpuPlatform final : public Platform {
public:
  std::optional<std::string> whyUnable(std::string_view arch) const override {
    return missingInstructions(arch);
  }
  std::optional<std::string> whyUnsupported(const accc_library_call &call) const override {
    return whyCpuCannot(call);
  }
  std::unique_ptr<Device> open(const accc_model_description &model, const accc_code &code,
                               const DeviceOptions &options) const override {
    return std::make_unique<CpuDevice>(model, code, options);
  }
};

} // namespace

const Platform &cpuPlatform() {
  static const CpuPlatform platform;
  return platform;
}

// ---- CpuDevice ----

CpuDevice::CpuDevice(const accc_model_description &model, const accc_code &code,
                     const DeviceOptions &options)
    : model(model), code(code), customOperators(options.customOperators), team(options.threads),
      state(model.state_size, "the model's state"), poison(environmentFlag("ACCC_POISON")) {
  if (options.group && options.group->size() > 1)
    others.emplace(*options.group);
}

std::unique_ptr<DeviceEntry> CpuDevice::prepare(const accc_entry &entry) {
  auto made = std::make_unique<CpuEntry>(entry, *this);
  reserve(entry, made->scratchBytes());
  if (entry.num_library_calls)
    requireMemoryForCode();
  return made;
}

std::string CpuDevice::describe(bool inCalls) const {
  if (!inCalls)
    return "";
  return std::string("with oneDNN for ") + dnnl_cpu_isa2str(dnnl_get_effective_cpu_isa()) + ", " +
         std::to_string(threads()) + (threads() == 1 ? " thread" : " threads");
}

void CpuDevice::reserve(const accc_entry &entry, uint64_t scratchBytes) {
  growTo(arena, entry.arena_size, "the arena of", entry);
  growTo(scratch, scratchBytes, "the library's scratch of", entry);
}

void CpuDevice::readState(uint64_t offset, void *to, uint64_t bytes) const {
  if (bytes)
    std::memcpy(to, state.data() + offset, bytes);
}

void CpuDevice::writeState(uint64_t offset, const void *from, uint64_t bytes) {
  if (bytes)
    std::memcpy(state.data() + offset, from, bytes);
}

// ---- CpuEntry ----

CpuEntry::CpuEntry(const accc_entry &entry, CpuDevice &device)
    : entry(entry), device(device), launches(static_cast<size_t>(entry.num_launches), device.team),
      exchanges(entry, device.others ? &*device.others : nullptr),
      io(static_cast<size_t>(entry.num_inputs + entry.num_outputs)),
      aligned(static_cast<size_t>(entry.num_inputs)) {
  Team::Scope scope(device.team); // oneDNN fixes the number of threads when it generates its code
  for (int32_t i = 0; i < entry.num_library_calls; ++i)
    calls.push_back(createLibraryCall(entry.library_calls[i], device.team));
  for (const auto &call : calls)
    mostScratch = std::max(mostScratch, call->scratchBytes());
  for (const accc_custom_call &call :
       std::span(entry.custom_calls, static_cast<size_t>(entry.num_custom_calls))) {
    customCalls.emplace_back(call, device.customOperators->find(call), CustomTarget::cpu,
                             device.team.threads());
    mostScratch = std::max(mostScratch, customCalls.back().workspaceBytes());
  }
  size_t most = 0;
  for (int32_t i = 0; i < entry.num_steps; ++i)
    most = std::max(most, static_cast<size_t>(entry.steps[i].num_buffers));
  buffers.resize(most);
  for (int32_t i = 0; i < entry.num_outputs; ++i) {
    written.push_back(makeTensor(entry.outputs[i].tensor));
    io[static_cast<size_t>(entry.num_inputs + i)] = static_cast<char *>(written.back().raw());
  }
}

static bool overlap(const void *a, size_t aBytes, const void *b, size_t bBytes) {
  auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
  return first < second + bBytes && second < first + aBytes;
}

bool CpuEntry::isWritten(const Tensor &given) const {
  auto holds = [&](const void *data, size_t bytes) {
    return overlap(given.raw(), given.size_bytes(), data, bytes);
  };
  return holds(device.state.data(), device.state.size()) ||
         std::ranges::any_of(written, [&](const Tensor &output) {
           return holds(output.raw(), output.size_bytes());
         });
}

char *CpuEntry::inputBytes(size_t number, const Tensor &given) {
  if (isAligned(given.raw()) && !isWritten(given)) // entry points only read their inputs
    return const_cast<char *>(static_cast<const char *>(given.raw()));
  Tensor &copy = aligned[number];
  if (!copy.raw() || copy.size_bytes() != given.size_bytes())
    copy = Tensor(given.dtype(), given.shape());
  std::memcpy(copy.raw(), given.raw(), given.size_bytes());
  return static_cast<char *>(copy.raw());
}

void CpuEntry::start(size_t, const std::vector<Source> &inputs) {
  device.reserve(entry, mostScratch); // as it was prepared, unless another found no memory since
  for (size_t i = 0; i < inputs.size(); ++i)
    io[i] = inputBytes(i, *inputs[i].tensor);
  if (device.poison) {
    std::fill_n(device.arena.data(), device.arena.size(), poisonByte);
    std::fill_n(device.scratch.data(), device.scratch.size(), poisonByte);
    for (Tensor &output : written)
      std::fill_n(static_cast<char *>(output.raw()), output.size_bytes(), poisonByte);
  }
  device.team.runOutside([&] {
    Team::Scope scope(device.team);
    FloatModes modes(device.team);
    launches.begin();
    nextStep = 0;
    exchanges.begin(learningRateOf(entry, inputs));
    result = runSteps();
  });
}

char *CpuEntry::address(const accc_buffer &buffer) {
  switch (buffer.space) {
  case ACCC_STATE:
    return device.state.data() + buffer.offset;
  case ACCC_ARENA:
    return device.arena.data() + buffer.offset;
  case ACCC_INPUT:
    return io[buffer.offset];
  case ACCC_OUTPUT:
    return io[static_cast<size_t>(entry.num_inputs) + buffer.offset];
  case ACCC_CONSTANT: // never written: accc_buffer.access
    return static_cast<char *>(const_cast<void *>(device.model.constants)) + buffer.offset;
  case ACCC_TABLE:
    return static_cast<char *>(const_cast<void *>(device.code.tables)) + buffer.offset;
  default:
    return reinterpret_cast<char *>(&status);
  }
}

char *const *CpuEntry::addresses(const accc_step &step) {
  const accc_buffer *own = entry.buffers + step.first_buffer;
  for (int32_t i = 0; i < step.num_buffers; ++i)
    buffers[static_cast<size_t>(i)] = address(own[i]);
  return buffers.data();
}

int64_t CpuEntry::runSteps() {
  status = ACCC_DONE;
  for (const accc_step &step : std::span(entry.steps, static_cast<size_t>(entry.num_steps))) {
    const bool isTogether = step.kind == ACCC_STEP_COLLECTIVE || step.kind == ACCC_STEP_AGREE;
    // Where a call has failed, the others still wait for what this process sends.
    if (isTogether || (entry.num_collectives && status != ACCC_CALL_FAILED)) {
      if (!runTogether(step))
        return ACCC_CALL_FAILED;
    }
    if (isTogether)
      continue;
    if (step.kind == ACCC_STEP_CHECK) {
      if (status != ACCC_DONE)
        break;
    } else if (status == ACCC_CALL_FAILED) {
      continue;
    } else if (step.kind == ACCC_STEP_LAUNCH) {
      accc_kernel_function kernel = device.code.kernels[step.index].function;
      measure([&] { launches.run(kernel, addresses(step), step.tasks); });
    } else if (!runCall(step)) {
      status = ACCC_CALL_FAILED;
    }
  }
  return status;
}

bool CpuEntry::fail(const std::string &why) {
  callError = Error(ErrorKind::machine, std::string(entry.name) + ": " + why);
  return false;
}

bool CpuEntry::runTogether(const accc_step &step) {
  try {
    exchanges.waitBefore(step);
    if (step.kind == ACCC_STEP_COLLECTIVE) {
      measure([&] {
        exchanges.start(step, addresses(step));
        if (!seconds.empty())
          exchanges.finish();
      });
    } else if (step.kind == ACCC_STEP_AGREE && !exchanges.agree(status == ACCC_DONE) &&
               status == ACCC_DONE) {
      status = ACCC_OTHER_FAILED;
    }
    return true;
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::usage)
      return fail(error.what());
    callError = error; // what the processes refuse names the entry
    return false;
  } catch (const std::exception &error) {
    return fail(error.what());
  }
}

bool CpuEntry::runCall(const accc_step &step) {
  auto index = static_cast<size_t>(step.index);
  bool isCustom = step.kind == ACCC_STEP_CUSTOM_CALL;
  char *scratch = device.scratch.data();
  try {
    measure([&] {
      char *const *own = addresses(step);
      if (isCustom)
        customCalls.at(index).run([&](int32_t buffer) { return own[buffer]; }, scratch, nullptr);
      else
        calls.at(index)->run(own, scratch);
    });
    return true;
  } catch (const std::exception &error) {
    return fail(isCustom ? error.what()
                         : "library call " + std::to_string(index) + " failed: " + error.what());
  }
}

void CpuEntry::startProfile() {
  seconds.assign(static_cast<size_t>(entry.num_launches + entry.num_library_calls +
                                     entry.num_custom_calls + entry.num_collectives),
                 0);
}

/// Runs one step, measured if a profile is taken.
template <typename Work> void CpuEntry::measure(Work work) {
  if (seconds.empty()) {
    work();
    return;
  }
  auto start = std::chrono::steady_clock::now();
  work();
  std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  if (nextStep < seconds.size())
    seconds[nextStep++] += taken.count();
}

} // namespace accc::detail
