// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/ptx/FunctionDecoder.h"

#include <algorithm>

namespace accc::ptx {

uint32_t FunctionDecoder::newSlot(unsigned bytes) {
  uint32_t size = bytes ? bytes * warpSize : 4;
  uint32_t alignment = std::min(size, 64u);
  frame = (frame + alignment - 1) / alignment * alignment;
  uint32_t slot = frame;
  frame += size;
  return slot;
}

uint32_t FunctionDecoder::slotOf(Symbol &symbol) {
  if (symbol.slot == Symbol::none)
    symbol.slot = newSlot(symbol.type.isPredicate() ? 0 : symbol.type.bytes());
  return symbol.slot;
}

uint32_t FunctionDecoder::constant(Constant constant) {
  Key key{constant.bytes, constant.value, constant.variable, constant.shared, constant.generic};
  auto [place, isNew] = constants.emplace(key, 0);
  if (isNew) {
    constant.slot = place->second = newSlot(constant.bytes);
    function().constants.push_back(constant);
  }
  return place->second;
}

uint32_t FunctionDecoder::scratch(unsigned bytes) {
  auto [place, isNew] = scratches.emplace(bytes, 0);
  if (isNew)
    place->second = newSlot(bytes);
  return place->second;
}

uint32_t FunctionDecoder::addressOf(const Symbol &symbol, int64_t offset, unsigned bytes) {
  Constant address;
  address.bytes = uint8_t(bytes);
  address.value = uint64_t(offset);
  switch (symbol.space) {
  case Space::Shared: {
    address.shared = int(symbol.number);
    auto &shared = function().shared;
    if (std::ranges::find(shared, address.shared) == shared.end())
      shared.push_back(address.shared);
    break;
  }
  case Space::Global:
  case Space::Const:
    address.variable = int(symbol.number);
    break;
  default:
    address.value += symbol.offset;
  }
  return constant(address);
}

uint32_t FunctionDecoder::target(std::string_view label, unsigned line) const {
  auto found = syntax.labels.find(label);
  if (found == syntax.labels.end())
    failParse(ErrorKind::Syntax, line, "there is no label '" + std::string(label) + "'");
  // One statement is one instruction.
  return program.functions[number].first + found->second;
}

uint32_t FunctionDecoder::branchTable(std::string_view name, unsigned line) {
  auto found = syntax.branchTargets.find(name);
  if (found == syntax.branchTargets.end())
    failParse(ErrorKind::Syntax, line,
              "there is no '.branchtargets' named '" + std::string(name) + "'");
  uint32_t begin = uint32_t(program.targets.size());
  program.targets.push_back(uint32_t(found->second.size()));
  for (std::string_view label : found->second)
    program.targets.push_back(target(label, line));
  return begin;
}

const FunctionSyntax *FunctionDecoder::callee(std::string_view name, uint32_t &number) const {
  auto function = std::ranges::find(program.functions, name, &Function::name);
  if (function == program.functions.end() || function->kernel)
    return nullptr;
  number = uint32_t(function - program.functions.begin());
  auto found = std::ranges::find(module.functions, name, &FunctionSyntax::name);
  return &*found;
}

namespace {

/// The text with each run of white space as one blank, without what stands before the instruction.
std::string oneLine(std::string_view text) {
  std::string result;
  for (char c : text) {
    bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank)
      result += c;
    else if (!result.empty() && result.back() != ' ')
      result += ' ';
  }
  return result;
}

} // namespace

void FunctionDecoder::decode(const Statement &statement) {
  Decoder decoder(*this, statement);
  if (statement.guard) {
    decoder.in.guard = slotOf(*statement.guard);
    decoder.in.guardNegated = statement.guardNegated;
  }
  static constexpr bool (*families[])(Decoder &) = {
      decodeInteger, decodeBits,   decodeFloat,  decodeHalf, decodeCompare, decodeConvert,
      decodeMove,    decodeMemory, decodeAtomic, decodeWarp, decodeControl};
  if (!std::ranges::any_of(families, [&](auto family) { return family(decoder); }))
    decoder.unsupported();
  if (std::string_view rest = decoder.modifiers.rest(); !rest.empty())
    decoder.unsupported("'." + std::string(rest) + "'");
  program.code.push_back(decoder.in);
  Origin origin{statement.line, oneLine(statement.text), {}, statement.source};
  if (statement.label >= 0)
    origin.op = module.labels[unsigned(statement.label)].name;
  program.origins.push_back(std::move(origin));
}

void FunctionDecoder::run() {
  function().first = uint32_t(program.code.size());
  for (const Statement &statement : syntax.body)
    decode(statement);
  // Control that runs off the end returns.
  Instruction last;
  last.flow = Flow::Return;
  last.counted = InstructionClass::Control;
  program.code.push_back(last);
  program.origins.push_back({syntax.line, "end of " + std::string(syntax.name), {}, {}});
  function().end = uint32_t(program.code.size());
  function().frameBytes = (frame + 63) / 64 * 64;
}

} // namespace accc::ptx
