// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Open dimensions of an exported program's inputs, and integers that are inputs.
#include "frontend/torchexport/Expression.h"
#include "frontend/torchexport/Program.h"

using namespace mlir;
using namespace accc;
using namespace accc::torchexport;
using llvm::Twine;

/// "s77" of "Symbol('s77', positive=True, integer=True)" and of "s77"; empty for other expressions.
static std::string symbolOf(llvm::StringRef expression) {
  if (expression.consume_front("Symbol('"))
    return expression.split('\'').first.str();
  bool isName = !expression.empty() &&
                llvm::all_of(expression, [](char c) { return llvm::isAlnum(c) || c == '_'; }) &&
                !llvm::isDigit(expression.front());
  return isName ? expression.str() : "";
}

static std::string positionOf(const std::string &argument, size_t dimension) {
  return argument + "." + std::to_string(dimension);
}

void ProgramImporter::checkRange(const std::string &symbol, int64_t size,
                                 const llvm::Twine &given) {
  std::optional<Json> ranges = program.find("range_constraints");
  std::optional<Json> range = ranges ? ranges->find(symbol.c_str()) : std::nullopt;
  if (!range)
    return;
  std::optional<Json> least = range->find("min_val"), most = range->find("max_val");
  if ((least && size < least->integer()) || (most && size > most->integer()))
    fail("-D " + given + ": the file was exported for " +
         (least ? Twine(least->integer()) : Twine("any")) + " to " +
         (most ? Twine(most->integer()).str() : std::string("any")));
}

/// The size of a dimension, or the value of a number, as an expression; nothing for one that is
/// known.
static std::optional<std::string> expressionOf(const Json &size) {
  if (size.tag() == "as_int")
    return std::nullopt;
  return size.content().at("expr_str").string();
}

void ProgramImporter::readDimensions(const Json &input) {
  if (input.tag() == "as_sym_int" && input.content().tag() == "as_name") {
    std::string name = input.content().content().string();
    readDimension(inputName(name), graph.at("sym_int_values").at(name.c_str()));
  }
  if (input.tag() != "as_tensor")
    return;
  std::string argument = input.content().at("name").string();
  Json sizes = graph.at("tensor_values").at(argument.c_str()).at("sizes");
  for (size_t i = 0; i < sizes.size(); ++i)
    readDimension(positionOf(inputName(argument), i), sizes.at(i));
}

void ProgramImporter::readDimension(const std::string &position, const Json &size) {
  std::optional<std::string> expression = expressionOf(size);
  if (!expression) {
    int64_t extent = size.content().integer();
    if (auto given = givenDimension(position); given && *given != extent)
      fail("-D " + position + "=" + Twine(*given) + ", but the model fixes it at " + Twine(extent));
    return;
  }
  std::string symbol = symbolOf(*expression);
  std::optional<int64_t> given = openDimension(position, symbol.empty() ? position : symbol);
  if (!given)
    return;
  if (symbol.empty()) {
    computed.push_back({position, *expression, *given});
    return;
  }
  auto [known, isNew] = symbols.insert({symbol, *given});
  checkRange(symbol, *given, position + "=" + Twine(*given));
  if (!isNew && std::get<int64_t>(known->second) != *given)
    fail("-D " + position + "=" + Twine(*given) + ": the file says that it is the same as " +
         "another dimension, which is " + Twine(std::get<int64_t>(known->second)));
}

std::vector<std::string> ProgramImporter::unknownSymbols(const std::string &expression) const {
  std::vector<std::string> unknown = symbolsOf(expression);
  llvm::erase_if(unknown, [&](const std::string &symbol) { return symbols.contains(symbol); });
  return unknown;
}

void ProgramImporter::solveDimension(const ComputedDimension &dimension) {
  auto [position, expression, size] = dimension;
  std::string given = position + "=" + std::to_string(size);
  std::vector<std::string> unknown = unknownSymbols(expression);
  if (unknown.empty()) {
    aten::Local value = evaluate(expression, symbols);
    auto *known = std::get_if<int64_t>(&value);
    if (!known || *known != size)
      fail("-D " + given +
           ": the file says that it follows from other dimensions, by which it is " +
           (known ? Twine(*known) : Twine("no whole number")));
    return;
  }
  std::optional<int64_t> solution = solve(expression, unknown.front(), size, symbols);
  if (!solution)
    fail("-D " + given + ": the file says that it is " + expression +
         ", which it is for no whole number " + unknown.front());
  symbols[unknown.front()] = *solution;
  checkRange(unknown.front(), *solution,
             given + ", which makes " + unknown.front() + " " + Twine(*solution));
}

void ProgramImporter::solveDimensions() {
  // What one of them says of a symbol may make it the only unknown of another.
  auto isSolvable = [&](const ComputedDimension &dimension) {
    return unknownSymbols(dimension.expression).size() <= 1;
  };
  for (auto next = llvm::find_if(computed, isSolvable); next != computed.end();
       next = llvm::find_if(computed, isSolvable)) {
    ComputedDimension dimension = *next;
    computed.erase(next);
    try {
      solveDimension(dimension);
    } catch (const ImportError &error) {
      problems.push_back({.message = error.message});
    }
  }
}

std::optional<int64_t> ProgramImporter::sizeOf(const Json &size) {
  std::optional<std::string> expression = expressionOf(size);
  if (!expression)
    return size.content().integer();
  if (!unknownSymbols(*expression).empty())
    return std::nullopt;
  aten::Local value = evaluate(*expression, symbols);
  if (auto *known = std::get_if<int64_t>(&value))
    return *known;
  fail("a size that the file computes from others, " + *expression + ", is no whole number");
}

SmallVector<int64_t> ProgramImporter::inputShape(const std::string &argument, const Json &sizes) {
  SmallVector<int64_t> shape;
  SmallVector<std::string> open;
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::optional<int64_t> size = sizeOf(sizes.at(i));
    if (!size) {
      open.push_back(positionOf(inputName(argument), i));
      if (importOptions.openDimension) {
        for (const std::string &symbol : unknownSymbols(*expressionOf(sizes.at(i))))
          symbols[symbol] = *importOptions.openDimension;
        size = sizeOf(sizes.at(i));
      }
    }
    shape.push_back(size.value_or(ShapedType::kDynamic));
  }
  if (!open.empty())
    leftOpen(inputName(argument), open);
  return shape;
}

void ProgramImporter::importNumber(const std::string &name, Scope &scope) {
  Json value = graph.at("sym_int_values").at(name.c_str());
  std::optional<int64_t> known = sizeOf(value);
  if (!known)
    fail("the input '" + inputName(name) +
         "' is a number, which is to be known at compile time: -D " + inputName(name) + "=N");
  scope[name] = *known;
}
