// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Device.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace standin {

std::string setting(const char *name, const char *otherwise) {
  const char *value = std::getenv(name);
  return value && *value ? value : otherwise;
}

bool &contextIsCurrent() {
  static thread_local bool current = false;
  return current;
}

Device &Device::get() {
  static Device device;
  return device;
}

uint64_t Device::memoryLimit() const {
  return std::strtoull(setting("STANDIN_MEMORY", "17179869184").c_str(), nullptr, 10);
}

bool Device::fails(const char *function, std::optional<int> &code) {
  const std::lock_guard lock(mutex); // libraries ask, too
  ++counts[function];
  std::string wanted = setting("STANDIN_FAIL", "");
  if (wanted != failing) {
    failing = wanted;
    failingCalls = 0;
  }
  size_t colon = wanted.find(':');
  if (colon == std::string::npos || wanted.substr(0, colon) != function)
    return false;
  char *end = nullptr;
  long number = std::strtol(wanted.c_str() + colon + 1, &end, 10);
  if (*end == ':')
    code = int(std::strtol(end + 1, nullptr, 10));
  return ++failingCalls == number;
}

CUresult Device::enter(const char *function, bool needsContext) {
  std::optional<int> code;
  if (fails(function, code)) {
    bool allocates = std::strncmp(function, "cuMemAlloc", 10) == 0;
    return code ? CUresult(*code) : allocates ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_UNKNOWN;
  }
  if (!started)
    return CUDA_ERROR_NOT_INITIALIZED;
  if (fault != CUDA_SUCCESS)
    return fault;
  return needsContext && (!contextIsCurrent() || contexts == 0) ? CUDA_ERROR_INVALID_CONTEXT
                                                                : CUDA_SUCCESS;
}

int Device::calls(const std::string &function) const {
  auto found = counts.find(function);
  return found == counts.end() ? 0 : found->second;
}

void Device::reset() {
  fault = CUDA_SUCCESS;
  counts.clear();
  failing.clear();
  failingCalls = 0;
}

CUresult Device::run(const Work &work) {
  if (fault != CUDA_SUCCESS)
    return fault;
  try {
    work();
  } catch (const Fault &thrown) {
    std::fprintf(stderr, "stand-in for the GPU: %s\n", thrown.text.c_str());
    fault = thrown.result;
    for (auto &[stream, state] : streams)
      state->pending.clear();
  }
  return fault;
}

CUresult Device::submit(CUstream stream, Work work) {
  const std::lock_guard lock(mutex);
  auto found = streams.find(stream);
  if (found == streams.end())
    return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture)
    stream->capture->add(std::move(work));
  else
    stream->pending.push_back(std::move(work));
  return CUDA_SUCCESS;
}

CUresult Device::wait(CUstream stream, const std::function<bool()> &isDone) {
  if (!streams.contains(stream))
    return CUDA_ERROR_INVALID_HANDLE;
  if (stream->capture) {
    stream->capture->invalid = true;
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  }
  if (setting("STANDIN_STREAMS", "") == "eager")
    for (auto &[other, state] : streams)
      if (other != stream)
        advance(other);
  return advance(stream, isDone);
}

CUresult Device::advance(CUstream stream, const std::function<bool()> &isDone) {
  CUresult result = fault;
  while (result == CUDA_SUCCESS && !stream->pending.empty() && !(isDone && isDone())) {
    Work work = std::move(stream->pending.front());
    stream->pending.pop_front();
    result = run(work);
  }
  return result;
}

CUresult Device::waitForAll() {
  CUresult result = fault;
  for (auto &[stream, state] : streams)
    if (!stream->capture && result == CUDA_SUCCESS)
      result = wait(stream);
  return result;
}

CUresult Device::refuseInCapture() {
  for (auto &[stream, state] : streams) {
    if (!stream->capture || stream->capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
      continue;
    if (stream->capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL ||
        stream->capture->thread == std::this_thread::get_id()) {
      stream->capture->invalid = true;
      return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
  }
  return CUDA_SUCCESS;
}

bool Device::kernelsHaveStopped() {
  int64_t status = 0;
  const accc::ptx::Allocation *allocation = memory.find(statusWord);
  if (!allocation || !allocation->contains(statusWord, sizeof status))
    return false;
  std::memcpy(&status, allocation->data + (statusWord - allocation->address), sizeof status);
  return status != 0;
}

void Device::check(const std::optional<accc::ptx::Error> &error) {
  using accc::ptx::ErrorKind;
  if (!error)
    return;
  switch (error->kind) {
  case ErrorKind::Misaligned:
    throw Fault{CUDA_ERROR_MISALIGNED_ADDRESS, error->message};
  case ErrorKind::Trap:
    throw Fault{CUDA_ERROR_LAUNCH_FAILED, error->message};
  case ErrorKind::Deadlock:
  case ErrorKind::StepLimit:
    throw Fault{CUDA_ERROR_LAUNCH_TIMEOUT, error->message};
  default:
    throw Fault{CUDA_ERROR_ILLEGAL_ADDRESS, error->message};
  }
}

// ---- Operand ----

Operand::Operand(CUdeviceptr address, const char *name)
    : allocation(Device::get().memory.find(address)), start(address), name(name) {
  if (!allocation)
    throw Fault{CUDA_ERROR_ILLEGAL_ADDRESS,
                std::string("a library's operand ") + name +
                    " is no device memory: " + Device::get().memory.describe(address)};
}

std::byte *Operand::at(int64_t offset, uint64_t bytes) const {
  uint64_t address = start + uint64_t(offset);
  if (!allocation->contains(address, bytes))
    throw Fault{CUDA_ERROR_ILLEGAL_ADDRESS,
                std::string("a library's operand ") + name +
                    " reaches out of its allocation: " + Device::get().memory.describe(address)};
  return allocation->data + (address - allocation->address);
}

const std::byte *Operand::read(int64_t offset, uint64_t bytes) const {
  const std::byte *data = at(offset, bytes);
  if (!allocation->initialized.empty()) {
    const uint8_t *known = allocation->initialized.data() + (data - allocation->data);
    if (std::find(known, known + bytes, 0) != known + bytes && !Device::get().kernelsHaveStopped())
      throw Fault{CUDA_ERROR_ILLEGAL_ADDRESS,
                  std::string("a library reads what nobody has written: operand ") + name + ", " +
                      std::to_string(offset) + " bytes from its start"};
  }
  return data;
}

std::byte *Operand::write(int64_t offset, uint64_t bytes) {
  std::byte *data = at(offset, bytes);
  if (!allocation->initialized.empty())
    std::fill_n(allocation->initialized.data() + (data - allocation->data), bytes, uint8_t(1));
  return data;
}

} // namespace standin
