// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Branches, calls, barriers and fences.
#include "reference/ptx/FunctionDecoder.h"
#include "reference/ptx/Lanes.h"

#include <algorithm>

namespace accc::ptx {

namespace {

constexpr Type b32{TypeKind::Bits, 32};

void nothing(Warp &, const Instruction &, uint32_t) {}

bool decodeBranch(Decoder &decoder) {
  decoder.modifiers.take("uni");
  decoder.expectOperands(1);
  decoder.in.flow = Flow::Branch;
  decoder.in.target = decoder.owner().target(decoder.operand(0).name, decoder.source().line);
  return true;
}

bool decodeIndexedBranch(Decoder &decoder) {
  if (!decoder.modifiers.take("idx"))
    decoder.unsupported();
  decoder.modifiers.take("uni");
  decoder.expectOperands(2);
  decoder.in.flow = Flow::BranchIndexed;
  decoder.in.a = decoder.source(0, b32);
  decoder.in.target = decoder.owner().branchTable(decoder.operand(1).name, decoder.source().line);
  return true;
}

/// The moves between the variables that a call names and the callee's own.
std::vector<Call::Move> moves(Decoder &decoder, const Operand *list,
                              const std::vector<Symbol *> &formals, bool toCallee) {
  size_t count = list ? list->elements.size() : 0;
  if (count != formals.size())
    decoder.malformed("the callee has " + std::to_string(formals.size()) + " of these, the call " +
                      std::to_string(count));
  std::vector<Call::Move> result;
  for (size_t i = 0; i < count; ++i) {
    const Operand &actual = list->elements[i];
    if (!actual.symbol || actual.symbol->isRegister || actual.symbol->space != Space::Param)
      decoder.unsupported("arguments must be .param variables");
    if (actual.symbol->bytes != formals[i]->bytes)
      decoder.malformed("'" + std::string(actual.name) + "' has another size than the callee's");
    uint32_t own = uint32_t(actual.symbol->offset - arenaBase);
    uint32_t its = uint32_t(formals[i]->offset - arenaBase);
    result.push_back({toCallee ? own : its, toCallee ? its : own, uint32_t(formals[i]->bytes)});
  }
  return result;
}

bool decodeCall(Decoder &decoder) {
  decoder.modifiers.take("uni");
  decoder.expectOperands(1, 3);
  size_t at = 0;
  const Operand *results = nullptr, *arguments = nullptr;
  if (decoder.operand(0).kind == Operand::List)
    results = &decoder.operand(at++);
  const Operand &name = decoder.operand(at++);
  if (at < decoder.numOperands())
    arguments = &decoder.operand(at++);
  Call call;
  FunctionDecoder &owner = decoder.owner();
  const FunctionSyntax *callee = name.symbol ? nullptr : owner.callee(name.name, call.function);
  if (!callee)
    decoder.unsupported("'" + std::string(name.name) + "' is no function of this text");
  call.arguments = moves(decoder, arguments, callee->parameters, true);
  call.results = moves(decoder, results, callee->results, false);
  owner.program.functions[owner.number].callees.push_back(call.function);
  decoder.in.flow = Flow::Call;
  decoder.in.target = uint32_t(owner.program.calls.size());
  owner.program.calls.push_back(std::move(call));
  return true;
}

void syncWarp(Warp &warp, const Instruction &, uint32_t) {
  warp.block->ordering.oneWarp(warp.number);
}

bool decodeBarrier(Decoder &decoder) {
  Modifiers &modifiers = decoder.modifiers;
  Instruction &in = decoder.in;
  in.counted = InstructionClass::Barrier;
  if (modifiers.take("warp")) {
    if (!modifiers.take("sync"))
      decoder.unsupported();
    decoder.expectOperands(1);
    in.d = decoder.source(0, b32);
    in.flow = Flow::WarpSync;
    in.handler = syncWarp;
    return true;
  }
  modifiers.take("cta");
  Barrier barrier;
  int kind = modifiers.takeAny({"sync", "arrive", "red"});
  // bar is barrier with .aligned.
  barrier.aligned = decoder.opcode() == "bar" || modifiers.take("aligned");
  barrier.waits = kind != 1;
  size_t at = 0;
  if (kind < 0)
    decoder.unsupported();
  if (kind == 2) {
    int reduction = modifiers.takeAny({"popc", "and", "or"});
    if (reduction < 0)
      decoder.unsupported();
    barrier.reduction = Barrier::Reduction(reduction + 1);
    barrier.result = decoder.result(at++, decoder.type());
  }
  barrier.number = decoder.source(at++, b32);
  size_t left = decoder.numOperands() - at - (kind == 2);
  if (left > 1)
    decoder.malformed("it has too many operands");
  if (left) {
    barrier.counted = true;
    barrier.count = decoder.source(at++, b32);
  }
  if (kind == 2) {
    barrier.predicate = decoder.predicate(decoder.operand(at));
    barrier.negated = decoder.operand(at).negated;
  }
  Program &program = decoder.owner().program;
  in.flow = Flow::BlockBarrier;
  in.target = uint32_t(program.barriers.size());
  program.barriers.push_back(barrier);
  return true;
}

void fence(Warp &warp, const Instruction &, uint32_t mask) {
  if (!warp.block->launch.options.checkRaces)
    return;
  for (; mask; mask &= mask - 1)
    warp.block->ordering.fence(warp.thread(unsigned(std::countr_zero(mask))));
}

bool decodeFence(Decoder &decoder) {
  decoder.modifiers.takeAny({"sc", "acq_rel", "acquire", "release"});
  decoder.modifiers.takeAny({"cta", "cluster", "gpu", "sys", "gl"});
  decoder.expectOperands(0);
  decoder.in.counted = InstructionClass::Barrier;
  decoder.in.handler = fence;
  return true;
}

} // namespace

bool decodeControl(Decoder &decoder) {
  std::string_view opcode = decoder.opcode();
  decoder.in.counted = InstructionClass::Control;
  if (opcode == "bra")
    return decodeBranch(decoder);
  if (opcode == "brx")
    return decodeIndexedBranch(decoder);
  if (opcode == "call")
    return decodeCall(decoder);
  if (opcode == "bar" || opcode == "barrier")
    return decodeBarrier(decoder);
  if (opcode == "fence" || opcode == "membar")
    return decodeFence(decoder);
  if (opcode == "ret" || opcode == "exit" || opcode == "trap") {
    decoder.modifiers.take("uni");
    decoder.in.flow = opcode == "ret" ? Flow::Return : opcode == "exit" ? Flow::Exit : Flow::Trap;
    return true;
  }
  if (opcode == "nanosleep" ||
      opcode == "griddepcontrol") { // timing only: launches follow each other
    decoder.modifiers.takeAny({"wait", "launch_dependents"});
    decoder.modifiers.takeType();
    decoder.in.handler = nothing;
    return true;
  }
  return false;
}

} // namespace accc::ptx
