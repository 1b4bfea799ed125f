// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudaEntry.h"

#include "CaptureOrder.h"
#include "core/Agreement.h"
#include "core/StepOrder.h"

#include <algorithm>
#include <numeric>
#include <span>

namespace accc::detail {

namespace {

// As a float of any width this is a NaN, as an integer -1: what is read before it is written shows.
constexpr unsigned char poisonByte = 0xff;

/// Of a grid's first dimension.
constexpr int64_t mostBlocks = (int64_t(1) << 31) - 1;

/// Calls that may run side by side have two blocks of scratch, unless one is larger than this: 1 GB
/// is what cuDNN asks for some convolutions.
constexpr uint64_t mostScratchTwice = uint64_t(64) << 20;

/// What cublasLtMatmul asks of its workspace, in bytes.
constexpr uint64_t scratchAlignment = 256;

/// The alignment in bytes that the buffers of a library call have wherever it is made.
uint64_t alignmentOf(const accc_entry &entry, int32_t call) {
  uint64_t alignment = ACCC_ALIGNMENT;
  for (const accc_step &step : std::span(entry.steps, static_cast<size_t>(entry.num_steps)))
    if (step.kind == ACCC_STEP_LIBRARY_CALL && step.index == call)
      for (int32_t i = 0; i < step.num_buffers; ++i) {
        const accc_buffer &buffer = entry.buffers[step.first_buffer + i];
        if (buffer.space != ACCC_INPUT && buffer.space != ACCC_OUTPUT)
          alignment = std::gcd(alignment, buffer.offset);
      }
  return alignment;
}

} // namespace

// ---- Graph ----

void Graph::begin() {
  context.driver.check(
      context.driver.cuStreamBeginCapture(context.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
      "capturing a step");
}

void Graph::end() {
  CUgraph captured = nullptr;
  const Driver &driver = context.driver;
  driver.check(driver.cuStreamEndCapture(context.stream, &captured), "capturing a step");
  CUresult result = driver.cuGraphInstantiateWithFlags(&graph, captured, 0);
  driver.cuGraphDestroy(captured);
  driver.check(result, "making a graph of a step");
}

void Graph::discard() {
  CUgraph captured = nullptr;
  context.driver.cuStreamEndCapture(context.stream, &captured);
  if (captured)
    context.driver.cuGraphDestroy(captured);
}

Graph::~Graph() {
  if (graph)
    context.driver.cuGraphExecDestroy(graph);
}

// ---- CudaEntry ----

CudaEntry::CudaEntry(const accc_entry &entry, CudaDevice &device)
    : entry(entry), device(device), context(device.context), driver(device.context.driver),
      transfers(context, entry, device.limits, device.others && entry.num_collectives) {
  for (int32_t i = 0; i < entry.num_library_calls; ++i)
    calls.push_back(&device.libraries.find(entry.library_calls[i], alignmentOf(entry, i)));
  for (const accc_custom_call &call :
       std::span(entry.custom_calls, static_cast<size_t>(entry.num_custom_calls)))
    customCalls.emplace_back(call, device.customOperators->find(call), CustomTarget::cuda,
                             /*threads=*/1);
  uint64_t inTables = 0;
  for (int32_t i = 0; i < entry.num_steps; ++i)
    if (entry.steps[i].kind != ACCC_STEP_CHECK && // kernels look at the status themselves
        (entry.steps[i].kind != ACCC_STEP_AGREE || device.others)) {
      addStep(entry.steps[i]);
      const Step &added = steps.back();
      if (added.kernel && added.kernel->buffers_in_memory)
        inTables += added.addresses.size() * sizeof(CUdeviceptr);
    }
  measureScratch();
  if (device.graphs && device.branches)
    findBranches();
  else if (device.graphs && device.others && entry.num_collectives)
    waitsFor = stepsBesideCollectives(entry);
  if (device.others && entry.num_collectives)
    fingerprint = fingerprintOf(entry);
  tables = DeviceMemory(context, inTables, doing("the buffers' addresses of")());
  device.stagingBytes += stagingBytes();
}

CudaEntry::~CudaEntry() {
  context.tryMakeCurrent(); // in the thread in which the session ends
  context.finish();
  device.stagingBytes -= stagingBytes();
}

void CudaEntry::addStep(const accc_step &step) {
  Step added{&step};
  added.addresses.resize(static_cast<size_t>(step.num_buffers));
  if (step.kind == ACCC_STEP_LIBRARY_CALL) {
    added.call = calls.at(static_cast<size_t>(step.index));
  } else if (step.kind == ACCC_STEP_CUSTOM_CALL) {
    added.customCall = &customCalls.at(static_cast<size_t>(step.index));
  } else if (step.kind == ACCC_STEP_COLLECTIVE) {
    added.collective = entry.collectives + step.index;
  } else if (step.kind == ACCC_STEP_AGREE) {
    added.isAgreement = true;
  } else {
    added.kernel = device.code.kernels + step.index;
    added.function = device.loaded.functions.at(static_cast<size_t>(step.index));
    int64_t share = added.kernel->tasks_per_block;
    int64_t blocks = step.tasks / share + (step.tasks % share != 0);
    if (blocks > mostBlocks)
      throw Error(ErrorKind::bug, "the kernel " + std::string(added.kernel->name) + " of " +
                                      entry.name + " wants " + std::to_string(blocks) +
                                      " blocks, more than a GPU launches");
    added.blocks = static_cast<uint32_t>(blocks);
  }
  steps.push_back(std::move(added));
}

void CudaEntry::measureScratch() {
  for (const LibraryCall *call : calls)
    scratchBlock = std::max(scratchBlock, call->scratchBytes());
  for (const CustomCall &call : customCalls)
    scratchBlock = std::max(scratchBlock, call.workspaceBytes());
}

void CudaEntry::findBranches() {
  scratchBlock = (scratchBlock + scratchAlignment - 1) / scratchAlignment * scratchAlignment;
  scratchBlocks = scratchBlock <= mostScratchTwice ? 2 : 1;
  std::vector<int> blocks(static_cast<size_t>(entry.num_steps), -1);
  int next = 0;
  for (Step &step : steps)
    if (step.call && step.call->scratchBytes()) {
      blocks[static_cast<size_t>(step.step - entry.steps)] = next;
      step.scratch = static_cast<uint64_t>(next) * scratchBlock;
      next = (next + 1) % scratchBlocks;
    }
  waitsFor = stepsToWaitFor(entry, blocks);
}

uint64_t CudaEntry::scratchBytes() const {
  return scratchBlock * static_cast<uint64_t>(scratchBlocks);
}

CUdeviceptr CudaEntry::address(const accc_buffer &buffer) const {
  switch (buffer.space) {
  case ACCC_STATE:
    return device.state.address() + buffer.offset;
  case ACCC_ARENA:
    return device.arena.address() + buffer.offset;
  case ACCC_INPUT:
    return transfers.input(buffer.offset);
  case ACCC_OUTPUT:
    return transfers.output(buffer.offset);
  case ACCC_CONSTANT:
    return device.constants.address() + buffer.offset;
  case ACCC_TABLE:
    return device.tables.address() + buffer.offset;
  default:
    return transfers.status();
  }
}

void CudaEntry::resolve() {
  graph.reset();
  device.reserve(entry, scratchBytes());
  std::vector<CUdeviceptr> inTables;
  for (Step &step : steps) {
    for (size_t i = 0; i < step.addresses.size(); ++i)
      step.addresses[i] = address(entry.buffers[step.step->first_buffer + static_cast<int32_t>(i)]);
    step.parameters.clear();
    if (step.call)
      step.call->prepare(step.addresses);
    if (!step.kernel)
      continue;
    if (step.kernel->buffers_in_memory) {
      step.table = tables.address() + inTables.size() * sizeof(CUdeviceptr);
      inTables.insert(inTables.end(), step.addresses.begin(), step.addresses.end());
      step.parameters.push_back(&step.table);
    } else {
      for (CUdeviceptr &value : step.addresses)
        step.parameters.push_back(&value);
    }
  }
  if (!inTables.empty()) {
    driver.check(
        driver.cuMemcpyHtoDAsync(tables.address(), inTables.data(), tables.size(), context.stream),
        doing("writing the buffers' addresses of"));
    context.synchronize(doing("writing the buffers' addresses of"));
  }
  generation = device.generation;
}

Tensor CudaEntry::fetch(size_t output) {
  context.makeCurrent();
  return transfers.fetch(output);
}

void CudaEntry::copyOnDevice(const std::vector<Source> &inputs) {
  for (size_t i = 0; i < inputs.size(); ++i)
    if (const auto *from = static_cast<const CudaEntry *>(inputs[i].entry))
      driver.check(driver.cuMemcpyDtoDAsync(transfers.input(i),
                                            from->transfers.output(inputs[i].output),
                                            inputs[i].tensor->size_bytes(), context.stream),
                   doing("copying the inputs of"));
}

void CudaEntry::start(size_t slot, const std::vector<Source> &inputs) {
  context.makeCurrent();
  if (generation != device.generation)
    resolve();
  if (device.others && entry.num_collectives)
    requireSameForAll(*device.group, entry, fingerprint, learningRateOf(entry, inputs));
  try {
    transfers.send(slot, inputs);
    copyOnDevice(inputs);
    // The first run is not captured: libraries may yet have something to load, which would fail
    // then.
    if (device.graphs && hasRun && seconds.empty()) {
      if (!graph)
        graph = std::make_unique<Graph>(context, [this] { capture(); });
      driver.check(graph->launch(), doing("running"));
    } else {
      enqueue();
    }
    transfers.receive(slot);
  } catch (...) {
    context.finish(); // nothing uses the slot any more
    throw;
  }
  hasRun = true;
  if (!seconds.empty()) {
    context.synchronize(doing("profiling"));
    addTimes();
  }
}

int32_t CudaEntry::wait(size_t slot) {
  context.makeCurrent();
  return transfers.wait(slot);
}

void CudaEntry::fillMemory() {
  auto fill = [&](CUdeviceptr address, uint64_t bytes, unsigned char byte) {
    if (bytes)
      driver.check(driver.cuMemsetD8Async(address, byte, bytes, context.stream),
                   doing("filling the memory of"));
  };
  if (device.poison) {
    fill(device.arena.address(), device.arena.size(), poisonByte);
    fill(device.scratch.address(), device.scratch.size(), poisonByte);
    fill(transfers.results(), transfers.resultBytes(), poisonByte);
  }
  fill(transfers.status(), sizeof(int64_t), 0);
}

void CudaEntry::capture() {
  if (waitsFor.empty())
    return enqueue();
  fillMemory();
  CaptureOrder order(context);
  const std::vector<CUgraphNode> first = order.last();
  // What the work of each step of the entry ends with: for one without work, what it waits for.
  std::vector<std::vector<CUgraphNode>> ends;
  std::vector<CUgraphNode> all = first;
  auto next = steps.begin();
  for (const std::vector<size_t> &before : waitsFor) {
    std::vector<CUgraphNode> nodes = before.empty() ? first : std::vector<CUgraphNode>();
    for (size_t step : before)
      nodes.insert(nodes.end(), ends[step].begin(), ends[step].end());
    if (next != steps.end() && next->step == entry.steps + ends.size()) {
      order.waitFor(std::move(nodes));
      enqueue(*next++);
      nodes = order.last();
      all.insert(all.end(), nodes.begin(), nodes.end());
    }
    ends.push_back(std::move(nodes));
  }
  order.waitFor(std::move(all)); // a graph ends when all of it has
}

void CudaEntry::enqueue() {
  fillMemory();
  size_t event = 0;
  record(event);
  for (const Step &step : steps) {
    enqueue(step);
    record(++event);
  }
}

void CudaEntry::enqueue(const Step &step) {
  if (step.call) {
    step.call->enqueue(step.addresses, device.scratch.address() + step.scratch);
    return;
  }
  if (step.customCall) {
    auto pointer = [](CUdeviceptr address) { return reinterpret_cast<void *>(address); };
    step.customCall->run(
        [&](int32_t buffer) { return pointer(step.addresses[static_cast<size_t>(buffer)]); },
        pointer(device.scratch.address()), context.stream);
    return;
  }
  if (step.collective)
    return enqueueCollective(step);
  if (step.isAgreement) {
    driver.check(driver.cuMemcpyDtoDAsync(transfers.ownStatus(), transfers.status(),
                                          sizeof(int64_t), context.stream),
                 doing("keeping the status of"));
    return device.others->enqueueMaximum(transfers.status());
  }
  if (step.blocks == 0)
    return;
  driver.check(
      driver.cuLaunchKernel(step.function, step.blocks, 1, 1,
                            static_cast<uint32_t>(step.kernel->threads), 1, 1,
                            static_cast<uint32_t>(step.kernel->shared_bytes), context.stream,
                            const_cast<void **>(step.parameters.data()), nullptr),
      [&] {
        return "launching the kernel " + std::string(step.kernel->name) + " of " + entry.name;
      });
}

std::span<const accc_buffer> CudaEntry::buffersOf(const Step &step) const {
  return {entry.buffers + step.step->first_buffer, static_cast<size_t>(step.step->num_buffers)};
}

void CudaEntry::enqueueCollective(const Step &step) {
  if (device.others)
    return device.others->enqueue(*step.collective, buffersOf(step), step.addresses);
  const size_t count = step.addresses.size() / 2;
  for (size_t i = 0; i < count; ++i)
    if (CUdeviceptr from = step.addresses[i], to = step.addresses[count + i];
        from != to && buffersOf(step)[i].bytes)
      driver.check(driver.cuMemcpyDtoDAsync(to, from, buffersOf(step)[i].bytes, context.stream),
                   doing("copying tensors of"));
}

void CudaEntry::startProfile() {
  context.makeCurrent();
  const auto agreements = std::ranges::count_if(steps, &Step::isAgreement);
  seconds.assign(steps.size() - static_cast<size_t>(agreements), 0);
  while (events.size() < steps.size() + 1)
    events.emplace_back(context, CU_EVENT_DEFAULT);
}

void CudaEntry::record(size_t event) {
  if (!seconds.empty())
    events[event].record(context.stream, doing("profiling"));
}

void CudaEntry::addTimes() {
  auto next = seconds.begin();
  for (size_t i = 0; i < steps.size(); ++i)
    if (!steps[i].isAgreement)
      *next++ += events[i].secondsTo(events[i + 1], doing("profiling"));
}

} // namespace accc::detail
