// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/torchexport/Expression.h"
#include "frontend/aten/Numbers.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace accc;
using namespace accc::torchexport;
using aten::Local;
using frontend::fail;
using llvm::StringRef;
using llvm::Twine;

// Far beyond what PyTorch writes.
static constexpr int kDeepest = 100;

namespace {

/// A function of numbers: as the text calls it, and as aten::evaluateNumbers does.
struct Function {
  StringRef name, number;
};

// Those of SymPy and PyTorch's own, and those of Python.
constexpr Function kFunctions[] = {
    {"Add", "add"},
    {"Mul", "mul"},
    {"Pow", "pow"},
    {"PowByNatural", "pow"},
    {"FloatPow", "pow"},
    {"Mod", "mod"},
    {"PythonMod", "mod"},
    {"FloorDiv", "floordiv"},
    {"CleanDiv", "floordiv"},
    {"IntTrueDiv", "truediv"},
    {"FloatTrueDiv", "truediv"},
    {"Rational", "truediv"},
    {"Max", "sym_max"},
    {"max", "sym_max"},
    {"Min", "sym_min"},
    {"min", "sym_min"},
    {"Equality", "eq"},
    {"Eq", "eq"},
    {"Unequality", "ne"},
    {"Ne", "ne"},
    {"StrictLessThan", "lt"},
    {"LessThan", "le"},
    {"StrictGreaterThan", "gt"},
    {"GreaterThan", "ge"},
    {"And", "and_"},
    {"Or", "or_"},
    {"Not", "not_"},
    {"Integer", "pos"},
    {"int", "sym_int"},
    {"TruncToInt", "sym_int"},
    {"CeilToInt", "ceil"},
    {"FloorToInt", "floor"},
    {"ToFloat", "sym_float"},
    {"float", "sym_float"},
};

// Of two that begin alike, the longer one first.
constexpr Function kComparators[] = {{"==", "eq"}, {"!=", "ne"}, {"<=", "le"},
                                     {">=", "ge"}, {"<", "lt"},  {">", "gt"}};

/// Reads an expression once, from left to right, and computes as it goes.
class Reader {
public:
  using Look = llvm::function_ref<Local(const std::string &)>;
  Reader(StringRef text, Look look) : rest(text), look(look) {}

  Local run() {
    Local result = disjunction();
    if (!rest.empty())
      refuse();
    return result;
  }

private:
  [[noreturn]] static void refuse() { fail("is no arithmetic on sizes that is known"); }

  // ---- text ----
  void skipSpace() { rest = rest.ltrim(); }
  bool acceptSymbol(StringRef symbol) {
    skipSpace();
    return rest.consume_front(symbol);
  }
  void expect(StringRef symbol) {
    if (!acceptSymbol(symbol))
      refuse();
  }
  static bool isWord(char c) { return llvm::isAlnum(c) || c == '_'; }
  bool acceptWord(StringRef word) {
    skipSpace();
    bool isThere =
        rest.starts_with(word) && !rest.drop_front(word.size()).take_while(isWord).size();
    if (isThere)
      rest = rest.drop_front(word.size());
    return isThere;
  }
  std::string word() {
    skipSpace();
    StringRef name = rest.take_while(isWord);
    if (name.empty() || llvm::isDigit(name.front()))
      refuse();
    rest = rest.drop_front(name.size());
    return name.str();
  }
  std::string quoted() {
    skipSpace();
    char quote = rest.empty() ? ' ' : rest.front();
    size_t end = quote == '\'' || quote == '"' ? rest.find(quote, 1) : StringRef::npos;
    if (end == StringRef::npos || rest.take_front(end).contains('\\'))
      refuse();
    std::string text = rest.slice(1, end).str();
    rest = rest.drop_front(end + 1);
    return text;
  }

  // ---- expressions, by precedence ----
  static Local of(StringRef name, llvm::ArrayRef<Local> arguments) {
    return aten::evaluateNumbers(name, arguments);
  }
  static bool isTrue(const Local &value) { return !std::get<bool>(of("not_", value)); }

  Local disjunction() {
    if (++depth > kDeepest)
      refuse();
    auto leave = llvm::make_scope_exit([&] { --depth; });
    Local result = conjunction();
    while (acceptWord("or")) {
      Local right = conjunction();
      result = isTrue(result) || isTrue(right);
    }
    return result;
  }
  Local conjunction() {
    Local result = negation();
    while (acceptWord("and")) {
      Local right = negation();
      result = isTrue(result) && isTrue(right);
    }
    return result;
  }
  Local negation() {
    bool isNegative = false;
    while (acceptWord("not"))
      isNegative = !isNegative;
    Local result = comparison();
    return isNegative ? Local(!isTrue(result)) : result;
  }
  Local comparison() {
    Local left = sum();
    bool isCompared = false, holds = true;
    for (StringRef name = comparator(); !name.empty(); name = comparator()) {
      Local right = sum();
      holds &= isTrue(of(name, {left, right}));
      left = right;
      isCompared = true;
    }
    return isCompared ? Local(holds) : left;
  }
  StringRef comparator() {
    for (const Function &each : kComparators)
      if (acceptSymbol(each.name))
        return each.number;
    return "";
  }
  Local sum() {
    Local result = product();
    while (true)
      if (acceptSymbol("+"))
        result = of("add", {result, product()});
      else if (acceptSymbol("-"))
        result = of("sub", {result, product()});
      else
        return result;
  }
  Local product() {
    Local result = factor();
    while (true)
      if (acceptSymbol("//"))
        result = of("floordiv", {result, factor()});
      else if (acceptSymbol("/"))
        result = of("truediv", {result, factor()});
      else if (acceptSymbol("%"))
        result = of("mod", {result, factor()});
      else if (acceptSymbol("*"))
        result = of("mul", {result, factor()});
      else
        return result;
  }
  Local factor() {
    bool isNegative = false;
    while (acceptSymbol("-"))
      isNegative = !isNegative;
    Local result = atom();
    if (acceptSymbol("**")) {
      if (++depth > kDeepest)
        refuse();
      result = of("pow", {result, factor()});
      --depth;
    }
    return isNegative ? of("neg", result) : result;
  }
  Local atom() {
    if (acceptSymbol("(")) {
      Local result = disjunction();
      expect(")");
      return result;
    }
    if (llvm::isDigit(rest.empty() ? ' ' : rest.front()))
      return number();
    std::string name = word();
    if (name == "L")
      return look(accesses());
    if (name == "True" || name == "true")
      return true;
    if (name == "False" || name == "false")
      return false;
    while (acceptSymbol("."))
      name += "." + word();
    if (!acceptSymbol("("))
      return look(name);
    return name == "Symbol" ? symbol() : call(name);
  }
  Local number() {
    StringRef digits = rest.take_while([](char c) { return llvm::isDigit(c) || c == '.'; });
    rest = rest.drop_front(digits.size());
    int64_t integer = 0;
    double real = 0;
    if (!digits.getAsInteger(10, integer))
      return integer;
    if (rest.starts_with("e") || digits.getAsDouble(real))
      refuse();
    return real;
  }
  /// Symbol('s77', positive=True, integer=True)
  Local symbol() {
    std::string name = quoted();
    while (acceptSymbol(",")) {
      word();
      expect("=");
      word();
    }
    expect(")");
    return look(name);
  }
  /// "['x'].size()[0]" behind the "L" of L['x'].size()[0].
  std::string accesses() {
    std::string path;
    while (true)
      if (acceptSymbol("[")) {
        skipSpace();
        bool isNumber = !rest.empty() && llvm::isDigit(rest.front());
        path +=
            isNumber ? "[" + rest.take_while(llvm::isDigit).str() + "]" : "['" + quoted() + "']";
        rest = isNumber ? rest.drop_while(llvm::isDigit) : rest;
        expect("]");
      } else if (acceptSymbol(".")) {
        path += "." + word();
      } else if (acceptSymbol("(")) {
        expect(")");
        path += "()";
      } else {
        return path;
      }
  }
  Local call(StringRef name) {
    std::vector<Local> arguments;
    while (!acceptSymbol(")")) {
      arguments.push_back(disjunction());
      if (!acceptSymbol(",") && !rest.starts_with(")"))
        refuse();
    }
    const Function *found =
        llvm::find_if(kFunctions, [&](const Function &each) { return each.name == name; });
    if (arguments.empty())
      refuse();
    // math.trunc, torch.sym_float
    StringRef number = found == std::end(kFunctions) ? name.rsplit('.').second : found->number;
    if (arguments.size() == 1)
      return of(number, arguments);
    // A sum has as many terms as it likes.
    Local result = arguments.front();
    for (const Local &next : llvm::drop_begin(arguments))
      result = of(number, {result, next});
    return result;
  }

  StringRef rest;
  Look look;
  int depth = 0;
};

} // namespace

Local accc::torchexport::evaluate(StringRef expression, const Names &names) {
  auto look = [&](const std::string &name) {
    auto found = names.find(name);
    if (found == names.end())
      fail("'" + Twine(name) + "' is not known");
    return found->second;
  };
  return Reader(expression, look).run();
}

std::vector<std::string> accc::torchexport::symbolsOf(StringRef expression) {
  std::vector<std::string> symbols;
  auto look = [&](const std::string &name) -> Local {
    if (!llvm::is_contained(symbols, name))
      symbols.push_back(name);
    return int64_t(1);
  };
  Reader(expression, look).run();
  return symbols;
}

std::optional<int64_t> accc::torchexport::solve(StringRef expression, const std::string &symbol,
                                                int64_t value, const Names &names) {
  auto at = [&](int64_t x) -> std::optional<int64_t> {
    Names with = names;
    with[symbol] = x;
    Local result = evaluate(expression, with);
    auto *integer = std::get_if<int64_t>(&result);
    return integer ? std::optional(*integer) : std::nullopt;
  };
  std::optional<int64_t> zero = at(0), one = at(1);
  int64_t slope = 0, rise = 0;
  if (!zero || !one || llvm::SubOverflow(*one, *zero, slope) || slope == 0 ||
      llvm::SubOverflow(value, *zero, rise) || rise % slope != 0)
    return std::nullopt;
  int64_t solution = rise / slope;
  return at(solution) == value ? std::optional(solution) : std::nullopt;
}
