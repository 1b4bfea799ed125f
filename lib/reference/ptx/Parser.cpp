// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/ptx/Syntax.h"

#include <algorithm>
#include <bit>

namespace accc::ptx {

namespace {

class Parser {
public:
  explicit Parser(std::string_view text) : text(text), lexed(tokenize(text)) {}

  ModuleSyntax run() {
    scopes.emplace_back();
    while (peek().kind != TokenKind::End)
      topLevel();
    module.labels = std::move(lexed.labels);
    return std::move(module);
  }

private:
  // Tokens.

  const Token &peek(size_t ahead = 0) const {
    return lexed.tokens[std::min(position + ahead, lexed.tokens.size() - 1)];
  }
  const Token &take() {
    const Token &token = peek();
    if (token.kind != TokenKind::End)
      ++position;
    return token;
  }
  bool takeIf(char c) {
    if (!peek().is(c))
      return false;
    ++position;
    return true;
  }
  bool takeIf(std::string_view directive) {
    if (peek().kind != TokenKind::Directive || peek().text != directive)
      return false;
    ++position;
    return true;
  }
  [[noreturn]] void fail(const std::string &message) const {
    failParse(ErrorKind::Syntax, peek().line, message);
  }
  void expect(char c) {
    if (!takeIf(c))
      fail(std::string("expected '") + c + "', found '" + std::string(peek().text) + "'");
  }
  std::string_view word() {
    if (peek().kind != TokenKind::Word)
      fail("expected a name, found '" + std::string(peek().text) + "'");
    return take().text;
  }
  uint64_t integer() {
    bool negative = takeIf('-');
    if (peek().kind != TokenKind::Integer)
      fail("expected an integer, found '" + std::string(peek().text) + "'");
    uint64_t value = take().bits;
    return negative ? -value : value;
  }

  // Names.

  Symbol &declare(std::string_view name) {
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

  Symbol *lookup(std::string_view name) {
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

  // Declarations.

  void topLevel() {
    unsigned line = peek().line;
    if (takeIf(".version")) {
      take();
    } else if (takeIf(".target")) {
      do
        word();
      while (takeIf(','));
    } else if (takeIf(".address_size")) {
      module.addressBits = unsigned(integer());
      if (module.addressBits != 64)
        failParse(ErrorKind::Unsupported, line, "only 64-bit addresses are supported");
    } else if (takeIf(".file")) {
      uint64_t number = integer();
      files[number] = take().text;
      while (takeIf(','))
        integer();
    } else if (takeIf(".section")) {
      while (!peek().is('{'))
        take();
      skipBraces();
    } else if (takeIf(".pragma")) {
      take();
      expect(';');
    } else {
      bool external = false;
      while (peek().kind == TokenKind::Directive &&
             (takeIf(".visible") || takeIf(".weak") || takeIf(".common") ||
              (peek().text == ".extern" && (external = true) && takeIf(".extern"))))
        ;
      if (takeIf(".entry"))
        function(true);
      else if (takeIf(".func"))
        function(false);
      else if (std::optional<Space> space = variableSpace())
        variables(*space, external, nullptr);
      else
        failParse(ErrorKind::Unsupported, line,
                  "unsupported directive '" + std::string(peek().text) + "'");
    }
  }

  void skipBraces() {
    expect('{');
    for (unsigned depth = 1; depth;) {
      if (peek().kind == TokenKind::End)
        fail("'}' is missing");
      const Token &token = take();
      depth += token.is('{');
      depth -= token.is('}');
    }
  }

  std::optional<Space> variableSpace() {
    if (peek().kind != TokenKind::Directive)
      return std::nullopt;
    std::optional<Space> space = spaceOf(peek().text.substr(1));
    if (space)
      take();
    return space;
  }

  Type type() {
    std::optional<Type> found =
        peek().kind == TokenKind::Directive ? typeOf(peek().text.substr(1)) : std::nullopt;
    if (!found)
      failParse(ErrorKind::Unsupported, peek().line,
                "expected a type, found '" + std::string(peek().text) + "'");
    take();
    return *found;
  }

  /// `.align N .vK .type name[extents]`, after the space.
  Symbol &variable(Space space, bool external) {
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

  void takePointerAttributes() {
    while (peek().kind == TokenKind::Directive) {
      if (takeIf(".align"))
        integer();
      else if (spaceOf(peek().text.substr(1)))
        take();
      else
        return;
    }
  }

  void variables(Space space, bool external, FunctionSyntax *function) {
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

  void initialize(Symbol &symbol) {
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

  void initializeList(Symbol &symbol, uint64_t &offset) {
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

  void initializeScalar(Symbol &symbol, uint64_t &offset) {
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

  void initializeAddress(Symbol::Initial &initial) {
    initial.symbol = word();
    if (initial.symbol == "generic" && takeIf('(')) {
      initial.generic = true;
      initial.symbol = word();
      initializeOffset(initial);
      expect(')');
    }
    initializeOffset(initial);
  }

  void initializeOffset(Symbol::Initial &initial) {
    if (takeIf('+'))
      initial.value += integer();
    else if (peek().is('-'))
      initial.value += integer();
  }

  // Functions.

  void function(bool kernel) {
    FunctionSyntax function;
    function.kernel = kernel;
    function.line = peek().line;
    scopes.emplace_back();
    if (peek().is('('))
      parameterList(function.results);
    function.name = word();
    if (peek().is('('))
      parameterList(function.parameters);
    attributes(function);
    if (!takeIf(';')) {
      function.hasBody = true;
      block(function);
    }
    scopes.pop_back();
    auto same = std::ranges::find(module.functions, function.name, &FunctionSyntax::name);
    if (same == module.functions.end())
      module.functions.push_back(std::move(function));
    else if (!same->hasBody)
      *same = std::move(function);
    else if (function.hasBody)
      failParse(ErrorKind::Syntax, function.line,
                "'" + std::string(function.name) + "' is defined twice");
  }

  void parameterList(std::vector<Symbol *> &list) {
    expect('(');
    while (!takeIf(')')) {
      if (!takeIf(".param"))
        failParse(ErrorKind::Unsupported, peek().line,
                  "parameters of functions must be in .param space, found '" +
                      std::string(peek().text) + "'");
      list.push_back(&variable(Space::Param, false));
      if (!peek().is(')'))
        expect(',');
    }
  }

  Dim3 extent() {
    Dim3 result;
    result.x = uint32_t(integer());
    if (takeIf(','))
      result.y = uint32_t(integer());
    if (takeIf(','))
      result.z = uint32_t(integer());
    return result;
  }

  void attributes(FunctionSyntax &function) {
    while (peek().kind == TokenKind::Directive) {
      if (takeIf(".reqntid"))
        function.requiredBlock = extent();
      else if (takeIf(".maxntid"))
        function.largestBlock = extent();
      else if (takeIf(".minnctapersm") || takeIf(".maxnreg") || takeIf(".maxnctapersm"))
        integer();
      else if (takeIf(".pragma"))
        take(), takeIf(';');
      else if (!takeIf(".noreturn"))
        failParse(ErrorKind::Unsupported, peek().line,
                  "unsupported directive '" + std::string(peek().text) + "'");
    }
  }

  void block(FunctionSyntax &function) {
    expect('{');
    scopes.emplace_back();
    while (!takeIf('}')) {
      if (peek().kind == TokenKind::End)
        fail("'}' is missing");
      if (peek().is('{'))
        block(function);
      else if (peek().kind == TokenKind::Directive)
        directive(function);
      else if (peek().kind == TokenKind::Word && peek(1).is(':'))
        label(function);
      else if (!takeIf(';'))
        statement(function);
    }
    scopes.pop_back();
  }

  void directive(FunctionSyntax &function) {
    if (takeIf(".reg")) {
      registers();
    } else if (takeIf(".loc")) {
      location();
    } else if (takeIf(".pragma")) {
      take();
      expect(';');
    } else if (std::optional<Space> space = variableSpace()) {
      variables(*space, false, &function);
    } else if (peek().text == ".extern" && peek(1).text == ".shared") {
      take();
      take();
      variables(Space::Shared, true, &function);
    } else {
      failParse(ErrorKind::Unsupported, peek().line,
                "unsupported directive '" + std::string(peek().text) + "'");
    }
  }

  void registers() {
    Type registerType = type();
    do {
      std::string_view name = word();
      if (takeIf('<')) {
        scopes.back().ranges[name] = {registerType, integer()};
        expect('>');
        continue;
      }
      Symbol &symbol = declare(name);
      symbol.isRegister = true;
      symbol.type = registerType;
    } while (takeIf(','));
    expect(';');
  }

  void location() {
    uint64_t file = integer(), line = integer();
    integer();
    source = (files.count(file) ? std::string(files[file]) : std::to_string(file)) + ":" +
             std::to_string(line);
    while (takeIf(',')) {
      if (word() == "inlined_at") {
        integer(), integer(), integer();
        continue;
      }
      word(); // function_name LABEL+OFFSET
      if (takeIf('+'))
        integer();
    }
  }

  void label(FunctionSyntax &function) {
    std::string_view name = word();
    expect(':');
    if (takeIf(".branchtargets")) {
      auto &targets = function.branchTargets[name];
      do
        targets.push_back(word());
      while (takeIf(','));
      expect(';');
      return;
    }
    if (peek().text == ".callprototype")
      failParse(ErrorKind::Unsupported, peek().line, "indirect calls are not supported");
    if (!function.labels.emplace(name, uint32_t(function.body.size())).second)
      fail("label '" + std::string(name) + "' is defined twice");
  }

  void statement(FunctionSyntax &function) {
    Statement statement;
    const Token &first = peek();
    statement.line = first.line;
    statement.source = source;
    while (nextLabel < lexed.labels.size() && lexed.labels[nextLabel].line < first.line)
      ++nextLabel;
    // A label holds to the end of the function that it stands in.
    if (nextLabel && lexed.labels[nextLabel - 1].line >= function.line)
      statement.label = int(nextLabel) - 1;
    if (takeIf('@')) {
      statement.guardNegated = takeIf('!');
      statement.guard = lookup(word());
      if (!statement.guard || !statement.guard->type.isPredicate())
        fail("the guard is no predicate register");
    }
    statement.line = peek().line;
    std::string_view opcode = word();
    size_t dot = std::min(opcode.find('.'), opcode.size());
    statement.opcode = opcode.substr(0, dot);
    statement.modifiers = opcode.substr(dot);
    while (!peek().is(';')) {
      statement.operands.push_back(operand());
      if (!peek().is(';'))
        expect(',');
    }
    const char *start = first.text.data();
    statement.text = std::string_view(start, peek().text.data() + 1 - start);
    take();
    function.body.push_back(std::move(statement));
  }

  Operand operand() {
    Operand result;
    if (takeIf('!')) {
      result = operand();
      result.negated = true;
    } else if (takeIf('[')) {
      result = peek().kind == TokenKind::Integer ? Operand() : named();
      result.kind = Operand::Address;
      if (peek().kind == TokenKind::Integer)
        result.value = int64_t(take().bits);
      offset(result);
      expect(']');
    } else if (takeIf('{')) {
      result.kind = Operand::Vector;
      list(result, '}');
    } else if (takeIf('(')) {
      result.kind = Operand::List;
      list(result, ')');
    } else if (peek().kind == TokenKind::Word) {
      if (peek().text == "_") {
        take();
      } else {
        result = named();
        offset(result);
      }
      if (takeIf('|')) {
        Operand pair;
        pair.kind = Operand::Pair;
        pair.elements.push_back(std::move(result));
        pair.elements.push_back(operand());
        return pair;
      }
    } else {
      bool negative = takeIf('-');
      const Token &token = take();
      result.value = int64_t(token.bits);
      if (token.kind == TokenKind::Integer) {
        result.kind = Operand::Integer;
        result.value = negative ? -result.value : result.value;
      } else if (token.kind == TokenKind::Float32 || token.kind == TokenKind::Float64) {
        result.kind = token.kind == TokenKind::Float32 ? Operand::Float32 : Operand::Float64;
        if (negative)
          result.value ^= int64_t(uint64_t(1) << (token.kind == TokenKind::Float32 ? 31 : 63));
      } else {
        fail("expected an operand, found '" + std::string(token.text) + "'");
      }
    }
    return result;
  }

  Operand named() {
    Operand result;
    result.kind = Operand::Name;
    result.name = word();
    result.symbol = lookup(result.name);
    return result;
  }

  void offset(Operand &operand) {
    if (takeIf('+') || peek().is('-'))
      operand.value += int64_t(integer());
  }

  void list(Operand &result, char close) {
    while (!takeIf(close)) {
      result.elements.push_back(operand());
      if (!peek().is(close))
        expect(',');
    }
  }

  struct Range {
    Type type;
    uint64_t count;
  };
  struct Scope {
    std::map<std::string_view, Symbol *> names;
    std::map<std::string_view, Range> ranges; ///< `%r<10>`
  };

  std::string_view text;
  Tokens lexed;
  size_t position = 0, nextLabel = 0;
  Type lastType;
  std::string source; ///< of the last `.loc`
  std::map<uint64_t, std::string_view> files;
  std::vector<Scope> scopes;
  ModuleSyntax module;
};

} // namespace

uint64_t literalBits(Type type, bool isDouble, uint64_t bits) {
  double value = isDouble ? std::bit_cast<double>(bits) : std::bit_cast<float>(uint32_t(bits));
  if (type.bits == 64)
    return std::bit_cast<uint64_t>(value);
  return isDouble ? std::bit_cast<uint32_t>(float(value)) : bits;
}

ModuleSyntax parseSyntax(std::string_view text) { return Parser(text).run(); }

} // namespace accc::ptx
