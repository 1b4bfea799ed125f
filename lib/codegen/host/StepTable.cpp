// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/host/StepTable.h"

#include "llvm/IR/IRBuilder.h"

using namespace accc;
using namespace accc::codegen;

void StepTable::add(Kind kind, int64_t target, int64_t tasks, llvm::ArrayRef<int64_t> stepBuffers) {
  steps.insert(steps.end(), {kind, target, tasks, static_cast<int64_t>(buffers.size()),
                             static_cast<int64_t>(stepBuffers.size())});
  buffers.insert(buffers.end(), stepBuffers.begin(), stepBuffers.end());
  mostBuffers = std::max(mostBuffers, stepBuffers.size());
}

// The arguments of an accc_entry_function, then: steps, their end, buffers, kernels, constants, and
// room for the pointers that a step is given. In C:
//
//   char *bases[] = {state, arena, io, constants};
//   *(int64_t *)arena = 0;
//   for (; steps != end; steps += kNumFields) {
//     for (i = 0; i < steps[kNumBuffers]; ++i) {
//       int64_t word = buffers[steps[kFirstBuffer] + i];
//       char *at = bases[word & 3] + (word >> kBaseBits);
//       room[i] = (word & 3) >= kArguments ? *(char **)at : at;
//     }
//     switch (steps[kKind]) {
//     case kLaunch: parallel_for(context, kernels[steps[kTarget]], room, steps[kTasks]); continue;
//     case kLibraryCall: status = library_call(context, steps[kTarget], room); break;
//     case kCheck: status = *(int64_t *)arena; break;
//     }
//     if (status) return status;
//   }
//   return *(int64_t *)arena;
llvm::Function *StepTable::getRunner(llvm::Module &module) {
  constexpr const char *name = "run_steps";
  if (llvm::Function *known = module.getFunction(name))
    return known;
  llvm::LLVMContext &context = module.getContext();
  llvm::IRBuilder<> b(context);
  llvm::Type *i32 = b.getInt32Ty(), *i64 = b.getInt64Ty(), *pointer = b.getPtrTy();
  llvm::SmallVector<llvm::Type *> types(10, pointer);
  auto *function = llvm::Function::Create(llvm::FunctionType::get(i32, types, false),
                                          llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoInline);
  llvm::Value *args[10];
  for (llvm::Argument &argument : function->args())
    args[argument.getArgNo()] = &argument;
  auto [services, state, arena, io, first, end, buffers, kernels, constants, room] = args;
  auto block = [&](llvm::StringRef label) {
    return llvm::BasicBlock::Create(context, label, function);
  };
  auto *start = block("start"), *loop = block("loop"), *fill = block("fill"), *put = block("put"),
       *load = block("load"), *store = block("store"), *run = block("run"),
       *launch = block("launch"), *call = block("call"), *check = block("check"),
       *test = block("test"), *next = block("next"), *leave = block("leave"), *done = block("done");
  auto at = [&](llvm::Type *type, llvm::Value *base, llvm::Value *index) {
    return b.CreateLoad(type, b.CreateInBoundsGEP(type, base, index));
  };
  auto status = [&] { return b.CreateTrunc(b.CreateLoad(i64, arena), i32); };

  b.SetInsertPoint(start);
  llvm::Value *bases = b.CreateAlloca(llvm::ArrayType::get(pointer, 4));
  for (auto [i, base] : llvm::enumerate(llvm::ArrayRef({state, arena, io, constants})))
    b.CreateStore(base, b.CreateConstInBoundsGEP1_64(pointer, bases, i));
  auto service = [&](uint64_t offset) {
    return b.CreateLoad(pointer, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), services, offset));
  };
  llvm::Value *services_context = service(offsetof(accc_services, context));
  llvm::Value *parallelFor = service(offsetof(accc_services, parallel_for));
  llvm::Value *libraryCall = service(offsetof(accc_services, library_call));
  b.CreateStore(b.getInt64(ACCC_DONE), arena);
  b.CreateBr(loop);

  b.SetInsertPoint(loop);
  llvm::PHINode *step = b.CreatePHI(pointer, 2);
  step->addIncoming(first, start);
  auto *body = block("body");
  b.CreateCondBr(b.CreateICmpEQ(step, end), done, body);
  b.SetInsertPoint(body);
  auto field = [&](Field which) { return at(i64, step, b.getInt64(which)); };
  llvm::Value *kind = field(kKind), *target = field(kTarget), *tasks = field(kTasks),
              *count = field(kNumBuffers);
  llvm::Value *own = b.CreateInBoundsGEP(i64, buffers, field(kFirstBuffer));
  b.CreateBr(fill);

  b.SetInsertPoint(fill);
  llvm::PHINode *i = b.CreatePHI(i64, 2);
  i->addIncoming(b.getInt64(0), body);
  b.CreateCondBr(b.CreateICmpEQ(i, count), run, put);
  b.SetInsertPoint(put);
  llvm::Value *word = at(i64, own, i);
  llvm::Value *base = b.CreateAnd(word, (1 << kBaseBits) - 1);
  llvm::Value *address =
      b.CreateInBoundsGEP(b.getInt8Ty(), at(pointer, bases, base), b.CreateAShr(word, kBaseBits));
  b.CreateCondBr(b.CreateICmpUGE(base, b.getInt64(kArguments)), load, store);
  b.SetInsertPoint(load);
  llvm::Value *loaded = b.CreateLoad(pointer, address);
  b.CreateBr(store);
  b.SetInsertPoint(store);
  llvm::PHINode *buffer = b.CreatePHI(pointer, 2);
  buffer->addIncoming(address, put);
  buffer->addIncoming(loaded, load);
  b.CreateStore(buffer, b.CreateInBoundsGEP(pointer, room, i));
  i->addIncoming(b.CreateAdd(i, b.getInt64(1)), store);
  b.CreateBr(fill);

  b.SetInsertPoint(run);
  llvm::SwitchInst *choice = b.CreateSwitch(kind, check, 2);
  choice->addCase(b.getInt64(kLaunch), launch);
  choice->addCase(b.getInt64(kLibraryCall), call);
  b.SetInsertPoint(launch);
  b.CreateCall(llvm::FunctionType::get(b.getVoidTy(), {pointer, pointer, pointer, i64}, false),
               parallelFor, {services_context, at(pointer, kernels, target), room, tasks});
  b.CreateBr(next);
  b.SetInsertPoint(call);
  llvm::Value *called =
      b.CreateCall(llvm::FunctionType::get(i32, {pointer, i32, pointer}, false), libraryCall,
                   {services_context, b.CreateTrunc(target, i32), room});
  b.CreateBr(test);
  b.SetInsertPoint(check);
  llvm::Value *checked = status();
  b.CreateBr(test);
  b.SetInsertPoint(test);
  llvm::PHINode *result = b.CreatePHI(i32, 2);
  result->addIncoming(called, call);
  result->addIncoming(checked, check);
  b.CreateCondBr(b.CreateICmpEQ(result, b.getInt32(ACCC_DONE)), next, leave);
  b.SetInsertPoint(leave);
  b.CreateRet(result);
  b.SetInsertPoint(next);
  step->addIncoming(b.CreateConstInBoundsGEP1_64(i64, step, kNumFields), next);
  b.CreateBr(loop);
  b.SetInsertPoint(done);
  b.CreateRet(status());
  return function;
}

llvm::Function *StepTable::emit(llvm::Module &module, llvm::StringRef name,
                                ConstantWriter &writer) const {
  auto data = [&](const std::vector<int64_t> &words, llvm::StringRef what) {
    return writer.bytes({reinterpret_cast<const char *>(words.data()), words.size() * 8}, what);
  };
  auto list = [&](const Pointers &pointers, llvm::StringRef what) {
    llvm::SmallVector<llvm::Constant *> all;
    for (auto &[pointer, index] : pointers)
      all.push_back(pointer);
    return writer.array(all, what);
  };
  llvm::IRBuilder<> b(module.getContext());
  llvm::Type *pointer = b.getPtrTy();
  auto *function = llvm::Function::Create(
      llvm::FunctionType::get(b.getInt32Ty(), {pointer, pointer, pointer, pointer}, false),
      llvm::GlobalValue::InternalLinkage, name, module);
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", function));
  llvm::Value *first = data(steps, "steps");
  llvm::SmallVector<llvm::Value *> arguments;
  for (llvm::Argument &argument : function->args())
    arguments.push_back(&argument);
  arguments.append({first, b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), first, steps.size()),
                    data(buffers, "buffers"), list(kernels, "kernels"),
                    list(constants, "constants"),
                    b.CreateAlloca(llvm::ArrayType::get(pointer, mostBuffers))});
  b.CreateRet(b.CreateCall(getRunner(module), arguments));
  return function;
}
