// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry points: what each runs, and what a runtime needs to know to call it.
#include "codegen/host/Host.h"
#include "codegen/host/StepTable.h"
#include "support/Attributes.h"

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

/// One accc_entry_function: launches and library calls in order.
class EntryEmitter {
public:
  EntryEmitter(exec::EntryOp entry, llvm::Module &module, const KernelTasks &tasks,
               ConstantWriter &constants)
      : entry(entry), module(module), tasks(tasks), constants(constants) {}

  LogicalResult emit();

  llvm::Function *function = nullptr;
  SmallVector<accc_library_call> calls;
  SmallVector<std::string> labels; // of what runs, in order
  int64_t launches = 0;

private:
  int64_t place(exec::SliceOp op);
  void append(SmallVectorImpl<int64_t> &list, ValueRange buffers) const;
  void addLaunch(exec::LaunchOp launch);
  void addLaunch(exec::LaunchEachOp launch);
  LogicalResult addCall(exec::LibraryCallOp call);

  exec::EntryOp entry;
  llvm::Module &module;
  const KernelTasks &tasks;
  ConstantWriter &constants;
  StepTable table;
  DenseMap<Value, int64_t> places; // of buffers, as the table has them
};

int64_t EntryEmitter::place(exec::SliceOp op) {
  auto offset = static_cast<int64_t>(op.getOffset());
  switch (op.getSpace()) {
  case exec::Space::state:
    return StepTable::stateBuffer(offset);
  case exec::Space::arena:
    return StepTable::arenaBuffer(offset);
  case exec::Space::output:
    return StepTable::argumentBuffer(offset + static_cast<int64_t>(entry.getInputs().size()));
  case exec::Space::input:
    return StepTable::argumentBuffer(offset);
  case exec::Space::constant:
    return table.constantBuffer(module.getNamedGlobal(("constant." + *op.getSymbol()).str()));
  }
  llvm_unreachable("covered switch");
}

void EntryEmitter::append(SmallVectorImpl<int64_t> &list, ValueRange buffers) const {
  for (Value buffer : buffers)
    list.push_back(places.lookup(buffer));
}

void EntryEmitter::addLaunch(exec::LaunchOp launch) {
  int64_t count = tasks.lookup(launch.getKernel());
  if (count == 0)
    return; // nothing to compute: a tensor with an extent of 0
  ++launches;
  labels.push_back(labelOf(launch));
  SmallVector<int64_t> buffers;
  append(buffers, launch.getInputs());
  append(buffers, launch.getOutputs());
  buffers.push_back(StepTable::arenaBuffer(0)); // the status
  table.addLaunch(module.getFunction(kernelSymbol(launch.getKernel())), count, buffers);
}

void EntryEmitter::addLaunch(exec::LaunchEachOp launch) {
  SegmentTable segments(launch.getSizes());
  if (segments.tasks == 0)
    return;
  ++launches;
  size_t count = launch.getSizes().size();
  labels.push_back(launch.getKernel().str() + " -> " + std::to_string(count) + " tensors");
  ArrayRef<char> raw(reinterpret_cast<const char *>(segments.words.data()),
                     segments.words.size() * sizeof(int64_t));
  size_t ins = launch.getInputs().size() / count, outs = launch.getOutputs().size() / count;
  SmallVector<int64_t> buffers{table.constantBuffer(constants.bytes(raw, "segments"))};
  for (size_t s = 0; s < count; ++s) {
    append(buffers, launch.getInputs().slice(s * ins, ins));
    append(buffers, launch.getOutputs().slice(s * outs, outs));
  }
  table.addLaunch(module.getFunction(kernelSymbol(launch.getKernel())), segments.tasks, buffers);
}

LogicalResult EntryEmitter::addCall(exec::LibraryCallOp call) {
  FailureOr<accc_library_call> description = describeCall(call);
  if (failed(description))
    return failure();
  SmallVector<int64_t> buffers;
  append(buffers, call.getInputs());
  append(buffers, call.getOutputs());
  table.addLibraryCall(static_cast<int64_t>(calls.size()), buffers);
  calls.push_back(*description);
  labels.push_back(labelOf(call));
  return success();
}

LogicalResult EntryEmitter::emit() {
  for (Operation &op : entry.getBody().front()) {
    if (auto slice = dyn_cast<exec::SliceOp>(op))
      places[slice.getBuffer()] = place(slice);
    else if (auto launch = dyn_cast<exec::LaunchOp>(op))
      addLaunch(launch);
    else if (auto each = dyn_cast<exec::LaunchEachOp>(op))
      addLaunch(each);
    else if (isa<exec::CheckOp>(op))
      table.addCheck();
    else if (auto call = dyn_cast<exec::LibraryCallOp>(op)) {
      if (failed(addCall(call)))
        return failure();
    } else
      return op.emitError("bug in accc: not an op of an entry");
  }
  function = table.emit(module, ("entry." + entry.getSymName()).str(), constants);
  return success();
}

int32_t usageOf(StringRef roleName) {
  return llvm::StringSwitch<int32_t>(roleName)
      .Case(role::kTarget, ACCC_TARGET)
      .Case(role::kLearningRate, ACCC_LEARNING_RATE)
      .Case(role::kSeed, ACCC_SEED)
      .Case(role::kStep, ACCC_STEP)
      .Case(role::kLoss, ACCC_LOSS)
      .Case(role::kGradient, ACCC_GRADIENT)
      .Default(ACCC_DATA);
}

/// accc_value for each of {name, role, type}.
SmallVector<llvm::Constant *> describeValues(ConstantWriter &w, ArrayAttr list) {
  SmallVector<llvm::Constant *> result;
  for (auto value : list.getAsRange<DictionaryAttr>()) {
    auto type = cast<RankedTensorType>(cast<TypeAttr>(value.get("type")).getValue());
    result.push_back(
        w.structure({w.tensor(cast<StringAttr>(value.get("name")).getValue(), type),
                     w.i32(usageOf(cast<StringAttr>(value.get("role")).getValue())), w.i32(0)}));
  }
  return result;
}

} // namespace

LogicalResult codegen::addEntries(ModuleOp program, const KernelTasks &tasks,
                                  const ErrorTable &errors, StringRef symbol,
                                  llvm::Module &module) {
  ConstantWriter w(module);
  SmallVector<llvm::Constant *> entries, messages;
  for (auto constant : program.getOps<exec::ConstantOp>())
    w.declare(constantSymbol(constant));
  for (const std::string &message : errors.messages)
    messages.push_back(w.string(message));
  llvm::Constant *errorList = w.array(messages, "errors");

  for (auto entry : program.getOps<exec::EntryOp>()) {
    EntryEmitter emitter(entry, module, tasks, w);
    if (failed(emitter.emit()))
      return failure();
    SmallVector<llvm::Constant *> inputs = describeValues(w, entry.getInputs()),
                                  outputs = describeValues(w, entry.getOutputs());
    SmallVector<llvm::Constant *> steps;
    for (const std::string &label : emitter.labels)
      steps.push_back(w.string(label));
    llvm::Constant *calls = w.null();
    if (!emitter.calls.empty())
      calls = w.bytes(ArrayRef(reinterpret_cast<const char *>(emitter.calls.data()),
                               emitter.calls.size() * sizeof(accc_library_call)),
                      "library_calls");
    entries.push_back(w.structure(
        {w.string(entry.getEntryName()), w.string(entry.getSizesText()), emitter.function,
         w.i64(static_cast<int64_t>(entry.getArenaSize())),
         w.i32(static_cast<int64_t>(inputs.size())), w.i32(static_cast<int64_t>(outputs.size())),
         w.i32(static_cast<int64_t>(emitter.calls.size())),
         w.i32(static_cast<int64_t>(messages.size())), w.i32(emitter.launches), w.i32(0),
         w.array(inputs, "inputs"), w.array(outputs, "outputs"), calls, errorList,
         w.array(steps, "steps")}));
  }
  if (entries.empty())
    return program.emitError("bug in accc: the program has no entry point");
  w.share(w.array(entries, "entries"), symbol);
  return success();
}
