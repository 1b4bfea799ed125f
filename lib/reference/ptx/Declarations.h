// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What all of the parser builds on: tokens, scopes of names, and declarations of variables.
#ifndef ACCC_REFERENCE_PTX_DECLARATIONS_H
#define ACCC_REFERENCE_PTX_DECLARATIONS_H

#include "reference/ptx/Syntax.h"

namespace accc::ptx {

class DeclarationParser {
public:
  explicit DeclarationParser(std::string_view text) : lexed(tokenize(text)), scopes(1) {}

protected:
  // Tokens.
  const Token &peek(size_t ahead = 0) const;
  const Token &take();
  bool takeIf(char c);
  bool takeIf(std::string_view directive);
  [[noreturn]] void fail(const std::string &message) const;
  void expect(char c);
  std::string_view word();
  uint64_t integer();
  // Names.
  Symbol &declare(std::string_view name);
  Symbol *lookup(std::string_view name);
  std::optional<Space> variableSpace();
  Type type();
  /// `.align N .vK .type name[extents]`, after the space.
  Symbol &variable(Space space, bool external);
  void takePointerAttributes();
  void variables(Space space, bool external, FunctionSyntax *function);
  void initialize(Symbol &symbol);
  void initializeList(Symbol &symbol, uint64_t &offset);
  void initializeScalar(Symbol &symbol, uint64_t &offset);
  void initializeAddress(Symbol::Initial &initial);
  void initializeOffset(Symbol::Initial &initial);

  struct Range {
    Type type;
    uint64_t count;
  };
  struct Scope {
    std::map<std::string_view, Symbol *> names;
    std::map<std::string_view, Range> ranges; ///< `%r<10>`
  };

  Tokens lexed;
  size_t position = 0;
  Type lastType; ///< of the variable before in a list
  std::vector<Scope> scopes;
  ModuleSyntax module;
};

} // namespace accc::ptx

#endif
