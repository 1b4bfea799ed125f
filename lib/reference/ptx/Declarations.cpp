// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/ptx/Declarations.h"

#include <algorithm>
#include <bit>

namespace accc::ptx {

const Token &DeclarationParser::peek(size_t ahead) const {
  return lexed.tokens[std::min(position + ahead, lexed.tokens.size() - 1)];
}

const Token &DeclarationParser::take() {
  const Token &token = peek();
  if (token.kind != TokenKind::End)
    ++position;
  return token;
}

bool DeclarationParser::takeIf(char c) {
  if (!peek().is(c))
    return false;
  ++position;
  return true;
}

bool DeclarationParser::takeIf(std::string_view directive) {
  if (peek().kind != TokenKind::Directive || peek().text != directive)
    return false;
  ++position;
  return true;
}

void DeclarationParser::fail(const std::string &message) const {
  failParse(ErrorKind::Syntax, peek().line, message);
}

void DeclarationParser::expect(char c) {
  if (!takeIf(c))
    fail(std::string("expected '") + c + "', found '" + std::string(peek().text) + "'");
}

std::string_view DeclarationParser::word() {
  if (peek().kind != TokenKind::Word)
    fail("expected a name, found '" + std::string(peek().text) + "'");
  return take().text;
}

uint64_t DeclarationParser::integer() {
  bool negative = takeIf('-');
  if (peek().kind != TokenKind::Integer)
    fail("expected an integer, found '" + std::string(peek().text) + "'");
  uint64_t value = take().bits;
  return negative ? -value : value;
}

Symbol &DeclarationParser::declare(std::string_view name) {
  module.symbols.emplace_back();
  Symbol &symbol = module.symbols.back();
  symbol.name = name;
  symbol.line = peek().line;
  auto [place, isNew] = scopes.back().names.emplace(name, &symbol);
  if (!isNew) {
    // A function's or variable's declaration may come before its definition.
    if (scopes.size() > 1 || symbol.isRegister)
      fail("'" + std::string(name) + "' is declared twice");
    place->second = &symbol;
  }
  return symbol;
}

Symbol *DeclarationParser::lookup(std::string_view name) {
  for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
    if (auto found = scope->names.find(name); found != scope->names.end())
      return found->second;
    size_t digits = name.find_last_not_of("0123456789") + 1;
    auto range = scope->ranges.find(name.substr(0, digits));
    if (range == scope->ranges.end() || digits == name.size() || name.size() - digits > 9)
      continue;
    if (std::stoul(std::string(name.substr(digits))) >= range->second.count)
      continue;
    module.symbols.emplace_back();
    Symbol &symbol = module.symbols.back();
    symbol.name = name;
    symbol.isRegister = true;
    symbol.type = range->second.type;
    scope->names.emplace(name, &symbol);
    return &symbol;
  }
  return nullptr;
}

std::optional<Space> DeclarationParser::variableSpace() {
  if (peek().kind != TokenKind::Directive)
    return std::nullopt;
  std::optional<Space> space = spaceOf(peek().text.substr(1));
  if (space)
    take();
  return space;
}

Type DeclarationParser::type() {
  std::optional<Type> found =
      peek().kind == TokenKind::Directive ? typeOf(peek().text.substr(1)) : std::nullopt;
  if (!found)
    failParse(ErrorKind::Unsupported, peek().line,
              "expected a type, found '" + std::string(peek().text) + "'");
  take();
  return *found;
}

Symbol &DeclarationParser::variable(Space space, bool external) {
  uint32_t alignment = 0;
  uint64_t count = 1;
  while (peek().kind == TokenKind::Directive) {
    if (takeIf(".align"))
      alignment = uint32_t(integer());
    else if (takeIf(".v2"))
      count = 2;
    else if (takeIf(".v4"))
      count = 4;
    else if (takeIf(".ptr"))
      takePointerAttributes();
    else if (typeOf(peek().text.substr(1)))
      lastType = type();
    else if (!takeIf(".attribute"))
      failParse(ErrorKind::Unsupported, peek().line,
                "unsupported attribute '" + std::string(peek().text) + "'");
  }
  Symbol &symbol = declare(word());
  symbol.space = space;
  symbol.type = lastType;
  symbol.external = external;
  bool open = false;
  while (takeIf('[')) {
    if (peek().is(']'))
      open = true;
    else
      count *= integer();
    expect(']');
  }
  symbol.bytes = open ? 0 : count * lastType.bytes();
  symbol.alignment = std::max<uint32_t>({alignment, lastType.bytes(), 1});
  if (takeIf('='))
    initialize(symbol);
  return symbol;
}

void DeclarationParser::takePointerAttributes() {
  while (peek().kind == TokenKind::Directive) {
    if (takeIf(".align"))
      integer();
    else if (spaceOf(peek().text.substr(1)))
      take();
    else
      return;
  }
}

void DeclarationParser::variables(Space space, bool external, FunctionSyntax *function) {
  do {
    Symbol &symbol = variable(space, external);
    if (function)
      function->locals.push_back(&symbol);
    else
      module.variables.push_back(&symbol);
    if (function && (space == Space::Global || space == Space::Const))
      module.variables.push_back(&symbol);
  } while (takeIf(','));
  expect(';');
}

void DeclarationParser::initialize(Symbol &symbol) {
  uint64_t offset = 0;
  if (peek().is('{'))
    initializeList(symbol, offset);
  else
    initializeScalar(symbol, offset);
  if (symbol.bytes == 0)
    symbol.bytes = offset;
  if (offset > symbol.bytes)
    fail("'" + std::string(symbol.name) + "' has more initial values than room");
}

void DeclarationParser::initializeList(Symbol &symbol, uint64_t &offset) {
  expect('{');
  while (!takeIf('}')) {
    if (peek().is('{'))
      initializeList(symbol, offset);
    else
      initializeScalar(symbol, offset);
    if (!peek().is('}'))
      expect(',');
  }
}

void DeclarationParser::initializeScalar(Symbol &symbol, uint64_t &offset) {
  Symbol::Initial initial;
  initial.offset = offset;
  initial.width = symbol.type.bytes();
  offset += initial.width;
  bool negative = takeIf('-');
  if (peek().kind == TokenKind::Integer) {
    initial.value = take().bits;
    initial.value = negative ? -initial.value : initial.value;
    if (takeIf('(')) { // a byte of an address: 0xFF00(symbol)
      uint64_t mask = initial.value;
      while (mask && !(mask & 0xff))
        mask >>= 8, initial.shift += 8;
      initial.value = 0;
      initializeAddress(initial);
      expect(')');
    }
  } else if (peek().kind == TokenKind::Float32 || peek().kind == TokenKind::Float64) {
    const Token &token = take();
    uint64_t sign = uint64_t(negative) << (symbol.type.bits - 1);
    initial.value = literalBits(symbol.type, token.kind == TokenKind::Float64, token.bits) ^ sign;
  } else {
    initializeAddress(initial);
  }
  symbol.initial.push_back(initial);
}

void DeclarationParser::initializeAddress(Symbol::Initial &initial) {
  initial.symbol = word();
  if (initial.symbol == "generic" && takeIf('(')) {
    initial.generic = true;
    initial.symbol = word();
    initializeOffset(initial);
    expect(')');
  }
  initializeOffset(initial);
}

void DeclarationParser::initializeOffset(Symbol::Initial &initial) {
  if (takeIf('+'))
    initial.value += integer();
  else if (peek().is('-'))
    initial.value += integer();
}

uint64_t literalBits(Type type, bool isDouble, uint64_t bits) {
  double value = isDouble ? std::bit_cast<double>(bits) : std::bit_cast<float>(uint32_t(bits));
  if (type.bits == 64)
    return std::bit_cast<uint64_t>(value);
  return isDouble ? std::bit_cast<uint32_t>(float(value)) : bits;
}

} // namespace accc::ptx
