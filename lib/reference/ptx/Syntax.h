// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A PTX text as a tree: names are resolved, instructions not yet understood.
#ifndef ACCC_REFERENCE_PTX_SYNTAX_H
#define ACCC_REFERENCE_PTX_SYNTAX_H

#include "reference/ptx/Error.h"
#include "reference/ptx/Lexer.h"
#include "reference/ptx/Types.h"

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace accc::ptx {

/// A declared register or variable.
struct Symbol {
  std::string_view name;
  bool isRegister = false;
  Space space = Space::Generic; ///< of a variable
  Type type;
  uint64_t bytes = 0; ///< of a variable; 0 where its size is the launch's (`extern .shared`)
  uint32_t alignment = 1;
  unsigned line = 0;
  bool external = false;
  /// A part of a variable's initial contents: `width` bytes at `offset`, `value` plus the address
  /// of `symbol`, the generic one where asked for, shifted right by `shift`.
  struct Initial {
    uint64_t offset = 0;
    unsigned width = 0;
    uint64_t value = 0;
    std::string_view symbol;
    bool generic = false;
    unsigned shift = 0;
  };
  std::vector<Initial> initial;
  // Set by the decoder.
  static constexpr uint32_t none = ~0u;
  uint32_t slot = none;   ///< of a register: its place among a warp's
  uint32_t number = none; ///< of a shared, global or constant variable: its number in the program
  uint64_t offset = 0;    ///< of a parameter or local variable: its address
};

struct Operand {
  enum Kind : uint8_t {
    Name,    ///< `symbol`, or where that is null, a label, function or special register; `value` is
             ///< added
    Integer, ///< `value`
    Float32, ///< `value` is the pattern
    Float64,
    Address, ///< `[base + value]`: as Name, or absolute where `name` is empty
    Vector,  ///< `{a, b}`
    List,    ///< `(a, b)` of a call
    Pair,    ///< `p|q`
    Sink,    ///< `_`
  };
  Kind kind = Sink;
  bool negated = false; ///< `!p`
  std::string_view name;
  Symbol *symbol = nullptr;
  int64_t value = 0;
  std::vector<Operand> elements;
};

struct Statement {
  unsigned line = 0;
  std::string_view text;      ///< the whole instruction
  Symbol *guard = nullptr;    ///< `@p`
  bool guardNegated = false;  ///< `@!p`
  std::string_view opcode;    ///< "ld"
  std::string_view modifiers; ///< ".global.nc.v2.f64"
  std::vector<Operand> operands;
  int label = -1;     ///< index into Tokens::labels
  std::string source; ///< `.loc`, as file:line
};

struct FunctionSyntax {
  std::string_view name;
  unsigned line = 0;
  bool kernel = false, hasBody = false;
  std::vector<Symbol *> parameters, results;
  std::vector<Symbol *> locals; ///< variables of the body: local, shared and parameters of calls
  std::optional<Dim3> requiredBlock, largestBlock;
  std::vector<Statement> body;
  std::map<std::string_view, uint32_t> labels; ///< to the index of the statement that follows
  std::map<std::string_view, std::vector<std::string_view>> branchTargets;
};

struct ModuleSyntax {
  std::deque<Symbol> symbols; ///< all there are; their addresses stay
  std::vector<Symbol *> variables;
  std::vector<FunctionSyntax> functions;
  std::vector<Label> labels;
  unsigned addressBits = 64;
};

/// The bits of a floating-point literal as a value of `type`, of 32 or 64 bits.
uint64_t literalBits(Type type, bool isDouble, uint64_t bits);

/// Reads a whole text, which must outlive the result. Throws ParseFailure.
ModuleSyntax parseSyntax(std::string_view text);

} // namespace accc::ptx

#endif
