// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function's syntax to its instructions: slots, constants, labels.
#ifndef ACCC_REFERENCE_PTX_FUNCTIONDECODER_H
#define ACCC_REFERENCE_PTX_FUNCTIONDECODER_H

#include "reference/ptx/Decoder.h"

#include <map>
#include <tuple>

namespace accc::ptx {

/// Addresses of .param variables below are in the kernel's parameter buffer, others in the arena of
/// calls.
inline constexpr uint64_t arenaBase = 0x100000;

class FunctionDecoder {
public:
  /// `frame` is where the function's slots begin in the file.
  FunctionDecoder(Program &program, const ModuleSyntax &module, const FunctionSyntax &syntax,
                  uint32_t number, uint32_t frame)
      : program(program), module(module), syntax(syntax), number(number), frame(frame) {}

  void run();

  /// A new slot: `bytes` a lane, or 0 for a predicate.
  uint32_t newSlot(unsigned bytes);
  uint32_t slotOf(Symbol &symbol);
  uint32_t constant(Constant constant);
  uint32_t scratch(unsigned bytes);
  /// A constant slot with the address of a variable.
  uint32_t addressOf(const Symbol &symbol, int64_t offset, unsigned bytes);

  /// The instruction at a label.
  uint32_t target(std::string_view label, unsigned line) const;
  /// The number in Program::targets where the table of an indexed branch begins.
  uint32_t branchTable(std::string_view name, unsigned line);
  /// A function's number and its syntax; null where there is none with a body.
  const FunctionSyntax *callee(std::string_view name, uint32_t &number) const;

  Program &program;
  const ModuleSyntax &module;
  const FunctionSyntax &syntax;
  const uint32_t number;

private:
  Function &function() { return program.functions[number]; }
  void decode(const Statement &statement);

  uint32_t frame;
  using Key = std::tuple<uint8_t, uint64_t, int, int, bool>;
  std::map<Key, uint32_t> constants;
  std::map<unsigned, uint32_t> scratches;
};

} // namespace accc::ptx

#endif
