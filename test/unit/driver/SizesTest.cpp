// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sizes that options ask for, and what all of them must have in common.
#include "driver/SharedVariables.h"

#include "mlir/Parser/Parser.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;
using Catch::Matchers::Contains;

TEST_CASE("sizes: each value of a dimension with each of the others") {
  CompileOptions options;
  CHECK(countSizes(options) == 1);
  REQUIRE(allSizes(options).size() == 1);
  CHECK(allSizes(options).front().text.empty());

  options.dimensions = {{"batch", {32}}, {"height", {1, 2}}, {"width", {3, 4, 5}}};
  CHECK(countSizes(options) == 6);
  std::vector<Sizes> all = allSizes(options);
  REQUIRE(all.size() == 6);
  CHECK(all.front().text == "height=1,width=3"); // a dimension of one value tells nothing apart
  CHECK(all[1].text == "height=1,width=4");
  CHECK(all.back().text == "height=2,width=5");
  CHECK(all.back().dimensions ==
        std::map<std::string, int64_t>{{"batch", 32}, {"height", 2}, {"width", 5}});

  options.dimensions.clear();
  for (char name = 'a'; name < 'h'; ++name)
    options.dimensions[{name}] = std::vector<int64_t>(1000, 1);
  CHECK(countSizes(options) == SIZE_MAX);
}

namespace {

struct Importing {
  Importing() : c(context, options) { registerDialects(context); }

  /// As if the model were imported at these sizes with the variable `name`.
  LogicalResult import(const std::string &sizes, const std::string &name, const std::string &type,
                       std::vector<char> bytes) {
    c.sizes.text = sizes;
    c.module =
        parseSourceString<ModuleOp>("func.func @forward(%w: " + type + " {accc.name = \"" + name +
                                        "\", accc.role = #prim.role<parameter>}) { return }",
                                    ParserConfig(&context));
    auto owner = std::make_shared<std::vector<char>>(std::move(bytes));
    WeightTable weights;
    weights[name] = {RankedTensorType::get({1}, Float32Type::get(&context)), *owner, owner};
    return shareVariables(c, std::move(weights));
  }

  MLIRContext context;
  CompileOptions options;
  Compilation c;
};

} // namespace

TEST_CASE("sizes: variables are the same at all of them, or named") {
  Importing importing;
  REQUIRE(succeeded(importing.import("n=1", "w", "tensor<1xf32>", {1, 2, 3, 4})));
  const char *kept = importing.c.weights["w"].bytes.data();
  CHECK(succeeded(importing.import("n=2", "w", "tensor<1xf32>", {1, 2, 3, 4})));
  CHECK(importing.c.weights["w"].bytes.data() == kept);

  CHECK(failed(importing.import("n=3", "w", "tensor<2xf32>", {1, 2, 3, 4})));
  CHECK(failed(importing.import("n=4", "w", "tensor<1xf32>", {1, 2, 3, 5})));
  CHECK(failed(importing.import("n=5", "v", "tensor<1xf32>", {1, 2, 3, 4})));
  auto problems = importing.c.problems.take();
  REQUIRE(problems.size() == 4);
  CHECK_THAT(problems[0].message,
             Contains("'w' is parameter tensor<1xf32> with -D n=1, but parameter "
                      "tensor<2xf32> with -D n=3: "));
  CHECK_THAT(problems[1].message,
             Contains("'w' is parameter tensor<1xf32> with -D n=1, but starts from "
                      "other values with -D n=4: "));
  CHECK_THAT(problems[2].message, Contains("but not there with -D n=5"));
  CHECK_THAT(problems[3].message, Contains("'v' is not there with -D n=1"));
}
