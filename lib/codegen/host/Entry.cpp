// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry points: what each runs, and what a runtime needs to know to call it.
#include "codegen/host/Code.h"
#include "ir/nn/IndexBounds.h"
#include "ir/prim/ElementTypes.h"
#include "ir/prim/FunctionContract.h"
#include "support/Fault.h"
#include "support/ModuleLocation.h"
#include "support/TensorBytes.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {

std::string shapesOf(ValueRange buffers) {
  std::string text;
  for (Value buffer : buffers) {
    text += text.empty() ? "" : " ";
    std::string dims;
    for (int64_t extent : cast<exec::BufferType>(buffer.getType()).getTensor().getShape())
      dims += (dims.empty() ? "" : "x") + std::to_string(extent);
    text += dims.empty() ? "scalar" : dims;
  }
  return text;
}

/// What a profile calls a step: the kernel or callee, and the shapes.
std::string labelOf(exec::LaunchOp launch) {
  return launch.getKernel().str() + " -> " + shapesOf(launch.getOutputs().take_front(1));
}
std::string labelOf(exec::LibraryCallOp call) {
  return call.getCallee().str() + " " + shapesOf(call.getInputs()) + " -> " +
         shapesOf(call.getOutputs());
}

std::string labelOf(exec::CustomCallOp call) {
  return call.getCallee().str() + (call.getBackward() ? " backward " : " ") +
         shapesOf(call.getInputs()) + " -> " + shapesOf(call.getOutputs());
}

std::string labelOf(exec::CollectiveOp collective) {
  size_t count = collective.getInputs().size();
  return collective.getCallee().str() + " " +
         (count == 1 ? shapesOf(collective.getInputs()) : std::to_string(count) + " tensors");
}

accc_collective describeCollective(exec::CollectiveOp collective) {
  auto tensor = cast<exec::BufferType>(collective.getInputs().front().getType()).getTensor();
  return {.kind =
              llvm::StringSwitch<int32_t>(collective.getCallee())
                  .Case("all_reduce", collective.getConfig().contains("sum") ? ACCC_ALL_REDUCE_SUM
                                                                             : ACCC_ALL_REDUCE)
                  .Case("broadcast_from", ACCC_BROADCAST),
          .dtype = dtypeOf(tensor.getElementType())};
}

/// The steps of one entry.
class EntryEmitter {
public:
  EntryEmitter(exec::EntryOp entry, const KernelShapes &kernels,
               const llvm::StringMap<uint64_t> &constants, accc_compute compute, TableBytes &tables,
               ConstantWriter &w)
      : entry(entry), kernels(kernels), constants(constants), compute(compute), tables(tables),
        w(w) {}

  LogicalResult emit();

  SmallVector<llvm::Constant *> steps; // accc_step
  SmallVector<accc_buffer> buffers;    // of all steps
  SmallVector<accc_library_call, 0> calls;
  SmallVector<llvm::Constant *> customCalls; // accc_custom_call
  SmallVector<accc_collective> collectives;
  int64_t launches = 0;

private:
  accc_buffer place(exec::SliceOp op) const;
  void append(ValueRange values, accc_access access);
  void addStep(accc_step_kind kind, int64_t index, int64_t tasks, size_t firstBuffer,
               StringRef label, Operation *op);
  void addLaunch(StringRef kernel, int64_t tasks, size_t firstBuffer, StringRef label,
                 Operation *op);
  void addLaunch(exec::LaunchOp launch);
  void addLaunch(exec::LaunchEachOp launch);
  LogicalResult addCall(exec::LibraryCallOp call);
  void addCall(exec::CustomCallOp call);
  void addCollective(exec::CollectiveOp collective);

  exec::EntryOp entry;
  const KernelShapes &kernels;
  const llvm::StringMap<uint64_t> &constants;
  accc_compute compute;
  TableBytes &tables;
  ConstantWriter &w;
  DenseMap<Value, accc_buffer> places;
};

accc_buffer EntryEmitter::place(exec::SliceOp op) const {
  auto type = cast<exec::BufferType>(op.getBuffer().getType()).getTensor();
  accc_buffer buffer = {.space = ACCC_STATE,
                        .access = 0,
                        .offset = static_cast<uint64_t>(op.getOffset()),
                        .bytes = static_cast<uint64_t>(tensorBytes(type))};
  switch (op.getSpace()) {
  case exec::Space::state:
    break;
  case exec::Space::arena:
    buffer.space = ACCC_ARENA;
    break;
  case exec::Space::input:
    buffer.space = ACCC_INPUT;
    break;
  case exec::Space::output:
    buffer.space = ACCC_OUTPUT;
    break;
  case exec::Space::constant:
    buffer.space = ACCC_CONSTANT;
    buffer.offset = constants.lookup(*op.getSymbol());
    break;
  }
  return buffer;
}

void EntryEmitter::append(ValueRange values, accc_access access) {
  for (Value value : values) {
    buffers.push_back(places.lookup(value));
    buffers.back().access = access;
  }
}

void EntryEmitter::addStep(accc_step_kind kind, int64_t index, int64_t tasks, size_t firstBuffer,
                           StringRef label, Operation *op) {
  steps.push_back(w.structure({w.i32(kind), w.i32(index), w.i64(tasks),
                               w.i32(static_cast<int64_t>(firstBuffer)),
                               w.i32(static_cast<int64_t>(buffers.size() - firstBuffer)),
                               w.string(label), w.string(moduleNames(op->getLoc()))}));
}

void EntryEmitter::addLaunch(StringRef kernel, int64_t tasks, size_t firstBuffer, StringRef label,
                             Operation *op) {
  ++launches;
  buffers.push_back(
      {.space = ACCC_STATUS, .access = ACCC_READ_WRITE, .offset = 0, .bytes = sizeof(int64_t)});
  auto index = kernels.find(kernel) - kernels.begin();
  addStep(ACCC_STEP_LAUNCH, index, tasks, firstBuffer, label, op);
}

void EntryEmitter::addLaunch(exec::LaunchOp launch) {
  int64_t tasks = kernels.lookup(launch.getKernel()).tasks;
  if (tasks == 0)
    return; // nothing to compute: a tensor with an extent of 0
  size_t first = buffers.size();
  append(launch.getInputs(), ACCC_READ);
  append(launch.getOutputs(), ACCC_WRITE);
  addLaunch(launch.getKernel(), tasks, first, labelOf(launch), launch);
}

void EntryEmitter::addLaunch(exec::LaunchEachOp launch) {
  SegmentTable segments(launch.getSizes(), kernels.lookup(launch.getKernel()).taskElements);
  if (segments.tasks == 0)
    return;
  size_t count = launch.getSizes().size(), first = buffers.size();
  buffers.push_back(tables.add(segments.words));
  size_t ins = launch.getInputs().size() / count, outs = launch.getOutputs().size() / count;
  for (size_t s = 0; s < count; ++s) {
    append(launch.getInputs().slice(s * ins, ins), ACCC_READ);
    append(launch.getOutputs().slice(s * outs, outs), ACCC_WRITE);
  }
  addLaunch(launch.getKernel(), segments.tasks, first,
            launch.getKernel().str() + " -> " + std::to_string(count) + " tensors", launch);
}

LogicalResult EntryEmitter::addCall(exec::LibraryCallOp call) {
  FailureOr<accc_library_call> description = describeCall(call, compute);
  if (failed(description))
    return failure();
  size_t first = buffers.size();
  append(call.getInputs(), ACCC_READ);
  append(outputsOf(call), ACCC_WRITE);
  addStep(ACCC_STEP_LIBRARY_CALL, static_cast<int64_t>(calls.size()), 0, first, labelOf(call),
          call);
  calls.push_back(*description);
  return success();
}

void EntryEmitter::addCall(exec::CustomCallOp call) {
  size_t first = buffers.size();
  append(call.getInputs(), ACCC_READ);
  append(call.getOutputs(), ACCC_WRITE);
  addStep(ACCC_STEP_CUSTOM_CALL, static_cast<int64_t>(customCalls.size()), 0, first, labelOf(call),
          call);
  customCalls.push_back(describeCustomCall(call, w));
}

void EntryEmitter::addCollective(exec::CollectiveOp collective) {
  size_t first = buffers.size();
  append(collective.getInputs(), ACCC_READ);
  append(collective.getOutputs(), ACCC_WRITE);
  addStep(ACCC_STEP_COLLECTIVE, static_cast<int64_t>(collectives.size()), 0, first,
          labelOf(collective), collective);
  collectives.push_back(describeCollective(collective));
}

LogicalResult EntryEmitter::emit() {
  for (Operation &op : entry.getBody().front()) {
    if (auto slice = dyn_cast<exec::SliceOp>(op))
      places[slice.getBuffer()] = place(slice);
    else if (auto launch = dyn_cast<exec::LaunchOp>(op))
      addLaunch(launch);
    else if (auto each = dyn_cast<exec::LaunchEachOp>(op))
      addLaunch(each);
    else if (auto call = dyn_cast<exec::CustomCallOp>(op))
      addCall(call);
    else if (auto collective = dyn_cast<exec::CollectiveOp>(op))
      addCollective(collective);
    else if (isa<exec::AgreeOp>(op))
      addStep(ACCC_STEP_AGREE, 0, 0, buffers.size(), "agree", &op);
    else if (isa<exec::CheckOp>(op))
      addStep(ACCC_STEP_CHECK, 0, 0, buffers.size(), "check", &op);
    else if (auto call = dyn_cast<exec::LibraryCallOp>(op)) {
      if (failed(addCall(call)))
        return failure();
    } else
      return emitBug(op.getLoc()) << "not an op of an entry";
  }
  return success();
}

int32_t usageOf(Role role) {
  switch (role) {
  case Role::Target:
    return ACCC_TARGET;
  case Role::LearningRate:
    return ACCC_LEARNING_RATE;
  case Role::Seed:
    return ACCC_SEED;
  case Role::Step:
    return ACCC_STEP;
  case Role::Loss:
    return ACCC_LOSS;
  case Role::Gradient:
    return ACCC_GRADIENT;
  default:
    return ACCC_DATA;
  }
}

/// accc_indices, or null.
llvm::Constant *describeIndices(ConstantWriter &w, DictionaryAttr attribute) {
  if (!attribute)
    return w.null();
  IndexBounds bounds = IndexBounds::fromAttr(attribute);
  return w.array(
      w.structure({w.i64(bounds.first), w.i64(bounds.end), w.i64(bounds.ignored.value_or(0)),
                   w.i32(bounds.ignored.has_value()), w.i32(0), w.string(bounds.what)}),
      "indices");
}

/// accc_value for each of {name, role, type}, and {indices}.
SmallVector<llvm::Constant *> describeValues(ConstantWriter &w, ArrayAttr list) {
  SmallVector<llvm::Constant *> result;
  for (auto value : list.getAsRange<DictionaryAttr>()) {
    auto type = cast<RankedTensorType>(cast<TypeAttr>(value.get("type")).getValue());
    result.push_back(
        w.structure({w.tensor(cast<StringAttr>(value.get("name")).getValue(), type),
                     w.i32(usageOf(cast<prim::RoleAttr>(value.get("role")).getValue())), w.i32(0),
                     describeIndices(w, value.getAs<DictionaryAttr>("indices"))}));
  }
  return result;
}

} // namespace

FailureOr<llvm::Constant *> codegen::describeEntry(exec::EntryOp entry, const KernelShapes &kernels,
                                                   const llvm::StringMap<uint64_t> &constants,
                                                   accc_compute compute,
                                                   ArrayRef<llvm::Constant *> errors,
                                                   TableBytes &tables, ConstantWriter &w) {
  EntryEmitter emitter(entry, kernels, constants, compute, tables, w);
  if (failed(emitter.emit()))
    return failure();
  SmallVector<llvm::Constant *> inputs = describeValues(w, entry.getInputs()),
                                outputs = describeValues(w, entry.getOutputs());
  auto count = [&](const auto &list) { return w.i32(static_cast<int64_t>(list.size())); };
  return w.structure({w.string(entry.getEntryName()),
                      w.string(entry.getSizesText()),
                      w.i64(static_cast<int64_t>(entry.getArenaSize())),
                      count(inputs),
                      count(outputs),
                      count(emitter.calls),
                      count(errors),
                      count(emitter.steps),
                      count(emitter.buffers),
                      w.i32(emitter.launches),
                      count(emitter.customCalls),
                      count(emitter.collectives),
                      w.array(inputs, "inputs"),
                      w.array(outputs, "outputs"),
                      w.structs(ArrayRef(emitter.calls), "library_calls"),
                      w.array(emitter.customCalls, "custom_calls"),
                      w.structs(ArrayRef(emitter.collectives), "collectives"),
                      w.array(errors, "errors"),
                      w.array(emitter.steps, "steps"),
                      w.structs(ArrayRef(emitter.buffers), "buffers")});
}
