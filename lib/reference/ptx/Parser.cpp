// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/ptx/Declarations.h"

#include <algorithm>

namespace accc::ptx {

namespace {

class Parser : DeclarationParser {
public:
  using DeclarationParser::DeclarationParser;

  ModuleSyntax run() {
    while (peek().kind != TokenKind::End)
      topLevel();
    module.labels = std::move(lexed.labels);
    return std::move(module);
  }

private:
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
    if (scopes.size() > 1000)
      fail("blocks are nested too deeply");
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
        result.value = int64_t(negative ? -token.bits : token.bits);
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

  size_t nextLabel = 0;
  std::string source; ///< of the last `.loc`
  std::map<uint64_t, std::string_view> files;
};

} // namespace

ModuleSyntax parseSyntax(std::string_view text) { return Parser(text).run(); }

} // namespace accc::ptx
