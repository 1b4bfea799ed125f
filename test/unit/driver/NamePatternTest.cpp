// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which names the expressions of the command line find: those that Python's find.
#include "support/NamePattern.h"

#include "llvm/Support/Regex.h"

#include <catch2/catch.hpp>

using namespace accc;

static bool finds(llvm::StringRef expression, llvm::StringRef name, const OtherNames &others = {}) {
  llvm::Expected<NamePattern> pattern = NamePattern::parse("--train", expression);
  if (!pattern)
    throw std::runtime_error(llvm::toString(pattern.takeError()));
  return pattern->matches(name, others);
}

static std::string errorOf(llvm::StringRef expression) {
  return llvm::toString(NamePattern::parse("--train", expression).takeError());
}

TEST_CASE("an expression is found anywhere in a name", "[names]") {
  CHECK(finds("bias$", "layers.0.bias"));
  CHECK_FALSE(finds("^bias", "layers.0.bias"));
  CHECK(finds("^head", "words", {{"words", {"head.weight"}}}));
  CHECK_FALSE(finds("^head", "words", {{"others", {"head.weight"}}}));
}

TEST_CASE("expressions are Python's", "[names]") {
  CHECK(finds(R"(^layers\.\d+\.norm)", "layers.12.norm.weight"));
  CHECK_FALSE(finds(R"(\d)", "decoder")); // in POSIX's it is a d
  CHECK(finds(R"(\w+\.weight\b)", "head.weight"));
  CHECK(finds("^(?!head)", "words"));
  CHECK_FALSE(finds("^(?!head)", "head.weight"));
  CHECK(finds("(?i)^NORM", "norm.weight"));
  CHECK(finds("^(?:norm|bias)$", "bias"));
  CHECK(finds("^.$", "é"));
  CHECK(finds("weight", "\xff.weight")); // not UTF-8
}

TEST_CASE("long names and expressions with many ways to fail", "[names]") {
  std::string name(100000, 'a');
  CHECK(finds("^(a|b)*$", name));
  CHECK_FALSE(finds("^(a|b)*$", name + "c"));
}

TEST_CASE("a name as messages and goldens write it finds that name", "[names]") {
  for (llvm::StringRef name : {"layers.0.bias", "a b(c)[d]{e}|f*g+h?i^j$k\\l", "größe.weight"}) {
    CHECK(finds("^" + llvm::Regex::escape(name) + "$", name));
    CHECK_FALSE(finds("^" + llvm::Regex::escape(name) + "$", (name + "x").str()));
  }
  CHECK_FALSE(finds(llvm::Regex::escape("a.b"), "aXb"));
}

TEST_CASE("what is no expression", "[names]") {
  CHECK(errorOf("(") == "--train (: missing closing parenthesis, behind '('");
  CHECK(errorOf("x{3,1}y") ==
        "--train x{3,1}y: numbers out of order in {} quantifier, behind 'x{3,1'");
  CHECK(errorOf("") == "--train : the expression is empty: . finds every name");
}
