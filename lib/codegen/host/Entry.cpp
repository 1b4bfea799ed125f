// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry points: what each runs, and what a runtime needs to know to call it.
#include "codegen/host/Host.h"
#include "support/Attributes.h"

#include "llvm/IR/IRBuilder.h"

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
      : entry(entry), module(module), tasks(tasks), constants(constants), b(module.getContext()),
        pointer(llvm::PointerType::getUnqual(module.getContext())) {}

  LogicalResult emit();

  llvm::Function *function = nullptr;
  SmallVector<accc_library_call> calls;
  SmallVector<std::string> labels; // of what runs, in order
  int64_t launches = 0;

private:
  llvm::Value *serviceField(unsigned offset) {
    llvm::Value *address = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), function->getArg(0), offset);
    return b.CreateLoad(pointer, address);
  }
  llvm::Value *slice(exec::SliceOp op);
  llvm::Value *fill(ValueRange inputs, ValueRange outputs, bool withStatus);
  llvm::Value *fillSegments(exec::LaunchEachOp launch, llvm::Constant *table);
  void returnIf(llvm::Value *condition, llvm::Value *value);

  exec::EntryOp entry;
  llvm::Module &module;
  const KernelTasks &tasks;
  ConstantWriter &constants;
  llvm::IRBuilder<> b;
  llvm::PointerType *pointer;
  llvm::AllocaInst *buffers = nullptr;
  DenseMap<Value, llvm::Value *> values;
};

llvm::Value *EntryEmitter::slice(exec::SliceOp op) {
  int64_t offset = static_cast<int64_t>(op.getOffset());
  switch (op.getSpace()) {
  case exec::Space::state:
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), function->getArg(1),
                                        static_cast<uint64_t>(offset));
  case exec::Space::arena:
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), function->getArg(2),
                                        static_cast<uint64_t>(offset));
  case exec::Space::output:
    offset += static_cast<int64_t>(entry.getInputs().size());
    [[fallthrough]];
  case exec::Space::input:
    return b.CreateLoad(pointer, b.CreateConstInBoundsGEP1_64(pointer, function->getArg(3),
                                                              static_cast<uint64_t>(offset)));
  case exec::Space::constant:
    return module.getNamedGlobal(("constant." + *op.getSymbol()).str());
  }
  llvm_unreachable("covered switch");
}

llvm::Value *EntryEmitter::fill(ValueRange inputs, ValueRange outputs, bool withStatus) {
  SmallVector<llvm::Value *> pointers;
  for (Value v : inputs)
    pointers.push_back(values[v]);
  for (Value v : outputs)
    pointers.push_back(values[v]);
  if (withStatus)
    pointers.push_back(function->getArg(2));
  for (auto [i, p] : llvm::enumerate(pointers))
    b.CreateStore(p, b.CreateConstInBoundsGEP1_64(pointer, buffers, i));
  return buffers;
}

llvm::Value *EntryEmitter::fillSegments(exec::LaunchEachOp launch, llvm::Constant *table) {
  size_t segments = launch.getSizes().size();
  size_t ins = launch.getInputs().size() / segments, outs = launch.getOutputs().size() / segments;
  uint64_t slot = 0;
  auto put = [&](llvm::Value *p) {
    b.CreateStore(p, b.CreateConstInBoundsGEP1_64(pointer, buffers, slot++));
  };
  put(table);
  for (size_t s = 0; s < segments; ++s) {
    for (Value v : launch.getInputs().slice(s * ins, ins))
      put(values[v]);
    for (Value v : launch.getOutputs().slice(s * outs, outs))
      put(values[v]);
  }
  return buffers;
}

void EntryEmitter::returnIf(llvm::Value *condition, llvm::Value *value) {
  auto *leave = llvm::BasicBlock::Create(module.getContext(), "leave", function);
  auto *next = llvm::BasicBlock::Create(module.getContext(), "next", function);
  b.CreateCondBr(condition, leave, next);
  b.SetInsertPoint(leave);
  b.CreateRet(value);
  b.SetInsertPoint(next);
}

LogicalResult EntryEmitter::emit() {
  auto *type = llvm::FunctionType::get(b.getInt32Ty(), {pointer, pointer, pointer, pointer}, false);
  function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage,
                                    "entry." + entry.getSymName(), module);
  // Hundreds of calls in a row and nothing to optimise; LLVM's scheduler takes the square of it.
  function->addFnAttr(llvm::Attribute::OptimizeNone);
  function->addFnAttr(llvm::Attribute::NoInline);
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "start", function));
  size_t most = 1;
  entry.walk([&](Operation *op) { most = std::max<size_t>(most, op->getNumOperands() + 1); });
  buffers = b.CreateAlloca(llvm::ArrayType::get(pointer, most));
  llvm::Value *context = serviceField(offsetof(accc_services, context));
  llvm::Value *parallelFor = serviceField(offsetof(accc_services, parallel_for));
  llvm::Value *libraryCall = serviceField(offsetof(accc_services, library_call));
  auto *launchType =
      llvm::FunctionType::get(b.getVoidTy(), {pointer, pointer, pointer, b.getInt64Ty()}, false);
  auto *callType =
      llvm::FunctionType::get(b.getInt32Ty(), {pointer, b.getInt32Ty(), pointer}, false);
  b.CreateStore(b.getInt64(0), function->getArg(2));

  auto loadStatus = [&] {
    return b.CreateTrunc(b.CreateLoad(b.getInt64Ty(), function->getArg(2)), b.getInt32Ty());
  };
  for (Operation &op : entry.getBody().front()) {
    if (auto sliceOp = dyn_cast<exec::SliceOp>(op)) {
      values[sliceOp.getBuffer()] = slice(sliceOp);
    } else if (auto launch = dyn_cast<exec::LaunchOp>(op)) {
      int64_t count = tasks.lookup(launch.getKernel());
      if (count == 0)
        continue; // nothing to compute: a tensor with an extent of 0
      ++launches;
      labels.push_back(labelOf(launch));
      llvm::Value *list = fill(launch.getInputs(), launch.getOutputs(), true);
      b.CreateCall(launchType, parallelFor,
                   {context, module.getFunction(launch.getKernel()), list,
                    b.getInt64(static_cast<uint64_t>(count))});
    } else if (auto each = dyn_cast<exec::LaunchEachOp>(op)) {
      SegmentTable table(each.getSizes());
      if (table.tasks == 0)
        continue;
      ++launches;
      labels.push_back(each.getKernel().str() + " -> " + std::to_string(each.getSizes().size()) +
                       " tensors");
      ArrayRef<char> raw(reinterpret_cast<const char *>(table.words.data()),
                         table.words.size() * sizeof(int64_t));
      llvm::Value *list = fillSegments(each, constants.bytes(raw, "segments"));
      b.CreateCall(launchType, parallelFor,
                   {context, module.getFunction(each.getKernel()), list,
                    b.getInt64(static_cast<uint64_t>(table.tasks))});
    } else if (auto call = dyn_cast<exec::LibraryCallOp>(op)) {
      FailureOr<accc_library_call> description = describeCall(call);
      if (failed(description))
        return failure();
      llvm::Value *list = fill(call.getInputs(), call.getOutputs(), false);
      llvm::Value *status = b.CreateCall(
          callType, libraryCall, {context, b.getInt32(static_cast<uint32_t>(calls.size())), list});
      calls.push_back(*description);
      labels.push_back(labelOf(call));
      returnIf(b.CreateICmpNE(status, b.getInt32(0)), status);
    } else if (isa<exec::CheckOp>(op)) {
      llvm::Value *status = loadStatus();
      returnIf(b.CreateICmpNE(status, b.getInt32(0)), status);
    } else {
      return op.emitError("bug in accc: not an op of an entry");
    }
  }
  b.CreateRet(loadStatus());
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
