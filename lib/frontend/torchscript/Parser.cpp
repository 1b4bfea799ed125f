// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/torchscript/Ast.h"
#include "frontend/torchscript/Lexer.h"

#include "llvm/ADT/StringExtras.h"

using namespace accc;
using namespace accc::torchscript;
using llvm::Twine;

namespace {

// Calls in calls, and names behind dots: PyTorch keeps both short.
constexpr int kDeepestExpression = 100, kMostLinks = 40;

class Parser {
public:
  explicit Parser(File &file) : file(file), lexer(file.path, file.text) { token = lexer.next(); }

  void run() {
    while (token.kind != Token::Kind::End)
      if (accept(Token::Kind::Newline))
        continue;
      else if (isName("class"))
        parseClass();
      else if (isName("def"))
        parseFunction(file.functions);
      else
        refuse("expected a class or a function");
  }

private:
  // ---- tokens ----
  [[noreturn]] void refuse(const Twine &what) {
    lexer.refuse(token.position,
                 what + (token.text.empty() ? Twine("") : ", not '" + Twine(token.text) + "'"));
  }
  Token take() { return std::exchange(token, lexer.next()); }
  bool isName(const char *name) const {
    return token.kind == Token::Kind::Name && token.text == name;
  }
  bool isSymbol(const char *symbol) const {
    return token.kind == Token::Kind::Symbol && token.text == symbol;
  }
  bool accept(Token::Kind kind) { return token.kind == kind && (take(), true); }
  bool acceptName(const char *name) { return isName(name) && (take(), true); }
  bool acceptSymbol(const char *symbol) { return isSymbol(symbol) && (take(), true); }
  void expect(const char *symbol) {
    if (!acceptSymbol(symbol))
      refuse("expected '" + Twine(symbol) + "'");
  }
  void expectLineEnd() {
    if (!accept(Token::Kind::Newline))
      refuse("expected the end of the line");
  }
  std::string name() {
    if (token.kind != Token::Kind::Name)
      refuse("expected a name");
    return take().text;
  }

  // ---- expressions ----
  Expression make(Expression::Kind kind) const { return {kind, token.position}; }

  Expression expression() {
    if (++depth > kDeepestExpression)
      refuse("expressions are nested too deeply");
    Expression result = primary();
    --depth;
    return result;
  }

  /// Expressions up to a closing bracket, the last perhaps with a comma behind it.
  void list(std::vector<Expression> &into, const char *end) {
    while (!acceptSymbol(end)) {
      into.push_back(expression());
      if (!isSymbol(end))
        expect(",");
    }
  }

  /// Of "1.+2." and of "2.", the imaginary part alone.
  Expression complex(Expression result, llvm::StringRef digits) {
    result.kind = Expression::Kind::Complex;
    size_t sign = digits.size();
    while (sign > 0 && !((digits[sign - 1] == '+' || digits[sign - 1] == '-') &&
                         (sign < 2 || (digits[sign - 2] != 'e' && digits[sign - 2] != 'E'))))
      --sign;
    llvm::StringRef real = sign < 2 ? "0" : digits.take_front(sign - 1);
    llvm::StringRef imaginary = sign < 2 ? digits : digits.drop_front(sign - 1);
    imaginary.consume_front("+");
    if (real.getAsDouble(result.real) || imaginary.getAsDouble(result.imaginary))
      lexer.refuse(result.position, "'" + Twine(digits) + "j' is no complex number");
    return result;
  }

  Expression number(bool isNegative) {
    Expression result = make(Expression::Kind::Integer);
    std::string text = (isNegative ? "-" : "") + take().text;
    llvm::StringRef digits = text;
    if (digits.consume_back("j"))
      return complex(std::move(result), digits);
    if (digits.find_first_of(".eE") != llvm::StringRef::npos)
      result.kind = Expression::Kind::Real;
    if (result.kind == Expression::Kind::Real ? digits.getAsDouble(result.real)
                                              : digits.getAsInteger(10, result.integer))
      lexer.refuse(result.position, "'" + Twine(text) + "' is no number of 64 bits");
    return result;
  }

  Expression atom() {
    using enum Expression::Kind;
    if (token.kind == Token::Kind::Number)
      return number(/*isNegative=*/false);
    if (token.kind == Token::Kind::String) {
      Expression result = make(String);
      result.text = take().text;
      return result;
    }
    if (isSymbol("(")) {
      Expression tuple = make(Tuple);
      take();
      bool isTuple = isSymbol(")");
      while (!acceptSymbol(")")) {
        tuple.operands.push_back(expression());
        if (!isSymbol(")")) {
          expect(",");
          isTuple = true;
        }
      }
      if (isTuple)
        return tuple;
      Expression only = std::move(tuple.operands.front());
      return only;
    }
    if (isSymbol("[")) {
      Expression result = make(List);
      take();
      list(result.operands, "]");
      return result;
    }
    if (isSymbol("{")) {
      Expression result = make(Dict);
      take();
      while (!acceptSymbol("}")) {
        result.operands.push_back(expression());
        expect(":");
        result.operands.push_back(expression());
        if (!isSymbol("}"))
          expect(",");
      }
      return result;
    }
    if (isSymbol("-")) {
      Expression result = make(Negation);
      take();
      if (token.kind == Token::Kind::Number)
        return number(/*isNegative=*/true);
      result.operands.push_back(expression());
      return result;
    }
    if (token.kind != Token::Kind::Name)
      refuse("expected a value");
    Expression result = make(Name);
    result.text = take().text;
    if (result.text == "True" || result.text == "False") {
      result.kind = Boolean;
      result.integer = result.text == "True";
    } else if (result.text == "None") {
      result.kind = None;
    }
    return result;
  }

  Expression primary() {
    Expression result = atom();
    for (int links = 0; token.kind == Token::Kind::Symbol; ++links) {
      if (links > kMostLinks)
        refuse("expressions are nested too deeply");
      Expression outer = make(Expression::Kind::Attribute);
      if (acceptSymbol(".")) {
        outer.text = name();
        outer.operands.push_back(std::move(result));
      } else if (acceptSymbol("(")) {
        outer.kind = Expression::Kind::Call;
        outer.operands.push_back(std::move(result));
        arguments(outer);
      } else if (acceptSymbol("[")) {
        outer.kind = Expression::Kind::Subscript;
        outer.operands.push_back(std::move(result));
        list(outer.operands, "]");
      } else {
        break;
      }
      outer.position = outer.operands.front().position;
      result = std::move(outer);
    }
    return result;
  }

  void arguments(Expression &call) {
    while (!acceptSymbol(")")) {
      Expression argument = expression();
      if (argument.kind == Expression::Kind::Name && acceptSymbol("=")) {
        call.keywords.push_back(argument.text);
        argument = expression();
      } else if (!call.keywords.empty()) {
        refuse("an argument by position follows one by name");
      }
      call.operands.push_back(std::move(argument));
      if (!isSymbol(")"))
        expect(",");
    }
  }

  /// a, b, or with brackets; a comma behind the last makes a tuple.
  Expression expressions() {
    Expression first = expression();
    if (!isSymbol(","))
      return first;
    Expression tuple{Expression::Kind::Tuple, first.position};
    tuple.operands.push_back(std::move(first));
    while (acceptSymbol(","))
      if (!isSymbol("=") && token.kind != Token::Kind::Newline)
        tuple.operands.push_back(expression());
    return tuple;
  }

  // ---- statements ----
  Block block() {
    expect(":");
    expectLineEnd();
    if (!accept(Token::Kind::Indent))
      refuse("expected an indented block");
    Block result;
    while (!accept(Token::Kind::Dedent)) {
      if (token.kind == Token::Kind::End)
        refuse("a block does not end");
      result.push_back(statement());
    }
    return result;
  }

  Statement statement() {
    using enum Statement::Kind;
    Statement result{Evaluate, token.position};
    if (acceptName("if")) {
      result.kind = If;
      result.value = expression();
      result.body = block();
      if (acceptName("else"))
        result.otherwise = block();
      return result;
    }
    if (acceptName("while")) {
      result.kind = While;
      result.value = expression();
      result.body = block();
      return result;
    }
    if (acceptName("for")) {
      result.kind = For;
      result.targets.push_back(expression());
      if (!acceptName("in"))
        refuse("expected 'in'");
      result.value = expression();
      result.body = block();
      return result;
    }
    if (acceptName("with")) {
      result.kind = With;
      result.value = expression();
      if (acceptName("as"))
        result.targets.push_back(expression());
      result.body = block();
      return result;
    }
    if (isName("def")) {
      result.kind = Define;
      result.function = std::make_shared<const Function>(function());
      return result;
    }
    if (acceptName("pass")) {
      result.kind = Pass;
    } else if (acceptName("return")) {
      result.kind = Return;
      if (token.kind != Token::Kind::Newline)
        result.value = expressions();
    } else {
      result.value = expressions();
      if (acceptSymbol(":")) // its type
        expression();
      while (acceptSymbol("=")) {
        result.kind = Assign;
        result.targets.push_back(std::move(*result.value));
        result.value = expressions();
      }
    }
    expectLineEnd();
    return result;
  }

  // ---- definitions ----
  Function function() {
    Function function;
    function.position = token.position;
    function.file = &file;
    take();
    function.name = name();
    expect("(");
    while (!acceptSymbol(")")) {
      Parameter parameter{name(), std::nullopt, std::nullopt};
      if (acceptSymbol(":"))
        parameter.type = expression();
      if (acceptSymbol("="))
        parameter.otherwise = expression();
      function.parameters.push_back(std::move(parameter));
      if (!isSymbol(")"))
        expect(",");
    }
    if (acceptSymbol("->"))
      expression();
    function.body = block();
    return function;
  }

  void parseFunction(std::map<std::string, Function> &into) {
    Function parsed = function();
    std::string key = parsed.name;
    if (!into.insert({key, std::move(parsed)}).second)
      refuse("the function '" + Twine(key) + "' is there twice");
  }

  /// ["weight", "bias", ]
  std::vector<std::string> names(const Expression &list) {
    std::vector<std::string> result;
    for (const Expression &each : list.operands)
      result.push_back(each.text);
    return result;
  }

  void parseMember(Class &into) {
    Expression target = expression();
    std::optional<Expression> type, value;
    if (target.kind == Expression::Kind::Subscript) { // __annotations__["0"] = TYPE
      expect("=");
      into.attributes.push_back({target.operands.back().text, expression(), std::nullopt});
    } else {
      if (acceptSymbol(":"))
        type = expression();
      if (acceptSymbol("="))
        value = expression();
      if (target.text == "__parameters__" && value)
        into.parameters = names(*value);
      else if (target.text == "__buffers__" && value)
        into.buffers = names(*value);
      else if (value)
        into.constants.insert({target.text, std::move(*value)});
      else if (type)
        into.attributes.push_back({target.text, std::move(type), std::nullopt});
    }
    expectLineEnd();
  }

  void parseClass() {
    Class result;
    result.file = &file;
    take();
    result.name = name();
    if (acceptSymbol("(")) {
      result.base = name();
      expect(")");
    }
    expect(":");
    expectLineEnd();
    if (!accept(Token::Kind::Indent))
      refuse("expected the class's members");
    while (!accept(Token::Kind::Dedent)) {
      if (isName("def"))
        parseFunction(result.methods);
      else if (acceptName("pass"))
        expectLineEnd();
      else
        parseMember(result);
    }
    std::string key = result.name;
    if (!file.classes.insert({key, std::move(result)}).second)
      refuse("the class '" + Twine(key) + "' is there twice");
  }

  File &file;
  Lexer lexer;
  Token token;
  int depth = 0;
};

} // namespace

std::unique_ptr<const File> accc::torchscript::parseFile(const std::string &path,
                                                         std::string text) {
  auto file = std::make_unique<File>();
  file->path = path;
  file->text = std::move(text);
  Parser(*file).run();
  return file;
}
