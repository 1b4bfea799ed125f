// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chains of transposes and reshapes, drawn at random, and what they are made into.
#include "ir/prim/ViewChain.h"
#include "Program.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <catch2/catch.hpp>

#include <numeric>
#include <random>

using namespace mlir;
using namespace accc;
using namespace accc::test;
using accc::prim::Tensor;
using accc::prim::ViewChain;
using accc::prim::ViewWalk;

namespace {

using Shape = SmallVector<int64_t>;

std::string typeOf(ArrayRef<int64_t> shape) {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + "f32>";
}

std::string listOf(ArrayRef<int64_t> numbers) {
  std::string text;
  for (int64_t number : numbers)
    text += (text.empty() ? "array<i64: " : ", ") + std::to_string(number);
  return text + ">";
}

/// Draws views of what it drew before.
class Drawing {
public:
  Drawing(ArrayRef<int64_t> shape, uint32_t seed) : shape(shape), random(seed) {}

  int64_t below(size_t end) { return static_cast<int64_t>(random() % end); }

  void transpose() {
    Shape permutation(shape.size()), result;
    std::iota(permutation.begin(), permutation.end(), 0);
    std::shuffle(permutation.begin(), permutation.end(), random);
    for (int64_t from : permutation)
      result.push_back(shape[from]);
    add("transpose", "{permutation = " + listOf(permutation) + "} ", result);
  }

  /// Joins neighbours, splits a dimension or puts one of a single element somewhere.
  void reshape() {
    Shape result(shape);
    auto at = static_cast<size_t>(below(result.size()));
    int64_t extent = result[at], factor = extent % 2 == 0 ? 2 : extent % 3 == 0 ? 3 : 1;
    if (below(2) && at + 1 < result.size()) {
      result[at + 1] *= extent;
      result.erase(result.begin() + at);
    } else {
      result[at] = extent / factor;
      result.insert(result.begin() + at, factor);
    }
    add("reshape", "", result);
  }

  std::string program(ArrayRef<int64_t> source) const {
    return "func.func @f(%v0: " + typeOf(source) + ") -> " + typeOf(shape) + " {\n" + body +
           "  return %v" + std::to_string(count) + " : " + typeOf(shape) + "\n}\n";
  }

private:
  void add(const std::string &op, const std::string &attributes, ArrayRef<int64_t> result) {
    std::string from = std::to_string(count), to = std::to_string(++count);
    body += "  %v" + to + " = prim." + op + " %v" + from + " " + attributes + ": (" +
            typeOf(shape) + ") -> " + typeOf(result) + "\n";
    shape.assign(result.begin(), result.end());
  }

  Shape shape;
  std::mt19937 random;
  std::string body;
  int count = 0;
};

ReferenceArray numbered(ArrayRef<int64_t> shape) {
  ReferenceArray array(shape);
  std::iota(array.values.begin(), array.values.end(), 0.0);
  return array;
}

} // namespace

TEST_CASE("a chain of views is what it is made into") {
  const Shape sources[] = {{2, 3, 4}, {6, 1, 4}, {12, 2}, {3, 2, 2, 2}, {1, 24}};
  int shorter = 0, cut = 0;
  for (uint32_t seed = 0; seed < 400; ++seed) {
    const Shape &source = sources[seed % std::size(sources)];
    Drawing drawing(source, seed);
    for (int i = 0; i < 5; ++i)
      drawing.below(2) ? drawing.transpose() : drawing.reshape();
    std::string text = drawing.program(source);
    INFO(text);
    Program program(text);
    std::vector<ReferenceArray> expected = program.run(numbered(source));

    Operation *end = program.function().front().getTerminator();
    ViewChain chain = prim::followViews(end->getOperand(0), /*isPrivate=*/true);
    if (chain.length == 0) // the last reshape fits no factors of what it reads
      continue;
    cut += chain.length < 5; // reshapes that fit no factors
    shorter += chain.opsNeeded() < chain.length;
    OpBuilder builder(end);
    Operation *before = end->getPrevNode();
    end->setOperand(0, chain.build(builder, end->getLoc()).get());
    size_t made = 0;
    for (Operation *op = end->getPrevNode(); op != before; op = op->getPrevNode())
      ++made;
    CHECK(made == chain.opsNeeded());
    CHECK(program.run(numbered(source))[0].values == expected[0].values);
  }
  CHECK(shorter > 200);
  CHECK(cut > 0);
}

TEST_CASE("a walk through parts of views") {
  ViewWalk walk({8, 5, 12});
  REQUIRE(walk.reshape({8, 5, 3, 4}));
  walk.permute({2, 1, 0, 3});
  SECTION("of one element") {
    REQUIRE(walk.slice({1, 5, 8, 4}));
    REQUIRE(walk.reshape({5, 32}));
    CHECK(walk.factors == Shape{8, 5, 4});
    CHECK(walk.dimensions == Shape{0, 1, 2});
    CHECK(walk.order == Shape{1, 0, 2});
  }
  SECTION("of some") {
    REQUIRE(walk.slice({2, 5, 8, 4}));
    CHECK(walk.factors == Shape{8, 5, 2, 4});
    CHECK(walk.order == Shape{2, 1, 0, 3});
  }
  SECTION("of nothing") {
    REQUIRE(walk.slice({3, 5, 8, 0}));
    CHECK(!walk.reshape({0, 7}));
  }
  SECTION("of several factors at once") {
    REQUIRE(walk.reshape({15, 8, 4}));
    CHECK(walk.slice({15, 8, 4}));
    CHECK(!walk.slice({10, 8, 4}));
  }
}
