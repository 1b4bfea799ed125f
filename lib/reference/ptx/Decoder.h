// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the decoders of instructions are given: operands as slots, modifiers one by one.
#ifndef ACCC_REFERENCE_PTX_DECODER_H
#define ACCC_REFERENCE_PTX_DECODER_H

#include "reference/ptx/Numbers.h"
#include "reference/ptx/Program.h"
#include "reference/ptx/Syntax.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace accc::ptx {

/// The modifiers of an opcode, taken one by one; what no one takes is unsupported.
class Modifiers {
public:
  Modifiers(std::string_view text);

  bool take(std::string_view name);
  /// The one of `names` that is there, by number; -1 where none is.
  int takeAny(std::initializer_list<std::string_view> names);
  /// The type that comes first.
  std::optional<Type> takeType();
  std::optional<Space> takeSpace();
  /// `.rn` and its like; none where there is no rounding.
  std::optional<Rounding> takeRounding();
  /// What nobody took, empty where all were taken.
  std::string_view rest() const { return left.empty() ? std::string_view() : left.front(); }

private:
  std::vector<std::string_view> left;
};

class FunctionDecoder;

/// One statement on its way to an instruction.
class Decoder {
public:
  Decoder(FunctionDecoder &function, const Statement &statement)
      : modifiers(statement.modifiers), statement(statement), function(function) {}

  Modifiers modifiers;
  Instruction in;

  std::string_view opcode() const { return statement.opcode; }
  size_t numOperands() const { return statement.operands.size(); }
  const Operand &operand(size_t i) const;
  void expectOperands(size_t least, size_t most);
  void expectOperands(size_t count) { expectOperands(count, count); }

  /// The type among the modifiers; an error where there is none.
  Type type();

  /// The slot of a value of exactly `type`'s size: a register, immediate, special register or
  /// address.
  uint32_t source(const Operand &operand, Type type);
  uint32_t source(size_t i, Type type) { return source(operand(i), type); }
  uint32_t constant(uint64_t value, unsigned bytes);
  uint32_t predicate(const Operand &operand);
  /// A register that may be wider than `type`, or an immediate.
  Place wideSource(const Operand &operand, Type type);

  uint32_t result(const Operand &operand, Type type);
  uint32_t result(size_t i, Type type) { return result(operand(i), type); }
  /// A register that may be wider than `type`; slot 0 for `_`.
  Place wideResult(const Operand &operand, Type type);
  /// A slot that nobody reads.
  uint32_t scratch(unsigned bytes);

  /// `[address]` into `access`, and the accessed bytes checked against what is known of the
  /// variable.
  void address(const Operand &operand, Access &access);
  uint32_t addAccess(const Access &access);
  FunctionDecoder &owner() { return function; }
  const Statement &source() const { return statement; }

  [[noreturn]] void unsupported(const std::string &what = {}) const;
  [[noreturn]] void malformed(const std::string &what) const;

private:
  const Statement &statement;
  FunctionDecoder &function;
};

/// Fills Decoder::in; false where `opcode` is none of the family's.
bool decodeInteger(Decoder &decoder);
bool decodeBits(Decoder &decoder);
bool decodeFloat(Decoder &decoder);
bool decodeHalf(Decoder &decoder);
bool decodeCompare(Decoder &decoder);
bool decodeConvert(Decoder &decoder);
bool decodeMove(Decoder &decoder);
bool decodeMemory(Decoder &decoder);
bool decodeAtomic(Decoder &decoder);
bool decodeWarp(Decoder &decoder);
bool decodeControl(Decoder &decoder);

} // namespace accc::ptx

#endif
