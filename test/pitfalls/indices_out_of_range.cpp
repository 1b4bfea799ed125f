// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Indices that are negative, or none: memory beside the tensor was read, or a row of zeros was
// given.
#include "Trained.h"

#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {
struct Indexed {
  const char *body, *indexType;
  std::vector<int64_t> indexShape, result;
  int64_t extent; ///< indices lie in [-extent, extent)
};

/// x is float[4,6], u what is scattered.
const Indexed kIndexed[] = {
    {"y = Gather(x, i)", "int64[3]", {3}, {3, 6}, 4},
    {"y = Gather <axis = 1> (x, i)", "int32[3]", {3}, {4, 3}, 6},
    {"y = GatherElements <axis = 1> (x, i)", "int64[4,2]", {4, 2}, {4, 2}, 6},
    {"y = GatherND(x, i)", "int64[3,1]", {3, 1}, {3, 6}, 4},
    {"u = Gather(x, zeros) y = ScatterND(x, i, u)", "int64[3,1]", {3, 1}, {4, 6}, 4},
    {"u = Gather(x, zeros) y = ScatterElements(x, j, u)", "int64[3]", {3}, {4, 6}, 4},
};

TrainedModel model(const Indexed &row, const ReferenceArray &indices) {
  std::string shape;
  for (int64_t extent : row.result)
    shape += (shape.empty() ? "float[" : ",") + std::to_string(extent);
  return {"g (float[4,6] x, " + std::string(row.indexType) + " i) => (" + shape +
              "] y) { zeros = Constant <value = int64[3] {0, 1, 2}> ()"
              " wide = Constant <value = int64[2] {3, 6}> () column = Constant <value = int64[2] "
              "{3, 1}> ()" +
              (std::string(row.body).find("(x, j, u)") != std::string::npos
                   ? " k = Reshape(i, column) j = Expand(k, wide) "
                   : " ") +
              row.body + " }",
          {{"x", spread({4, 6})}},
          {{"i", indices}}};
}
} // namespace

TEST_CASE("indices_out_of_range: negative indices count from the end") {
  for (const Indexed &row : kIndexed) {
    INFO(row.body);
    ReferenceArray positive(row.indexShape), negative(row.indexShape);
    for (int64_t i = 0; i < positive.size(); ++i) {
      positive.values[i] = static_cast<double>((i + 1) % row.extent);
      negative.values[i] = positive.values[i] - static_cast<double>(row.extent);
    }
    Training a = trainAsInterpreted(model(row, positive)),
             b = trainAsInterpreted(model(row, negative));
    checkEqual(a.output("y"), b.output("y").values);
    checkEqual(a.gradient("x"), b.gradient("x").values);
  }
}

TEST_CASE("indices_out_of_range: an index that is none is an error, and the step changes nothing") {
  for (const Indexed &row : kIndexed)
    for (double wrong :
         {static_cast<double>(row.extent), -static_cast<double>(row.extent) - 1, 2147483647.0}) {
      INFO(row.body << " at " << wrong);
      ReferenceArray indices(row.indexShape);
      indices.values.back() = wrong;
      CompiledModel compiled(model(row, indices));
      std::string error = compiled.failureOf("train_step", "x");
      CHECK_THAT(error, Contains("out of range") || Contains("counted from the end"));
    }
}

TEST_CASE("indices_out_of_range: OneHot of an index that is none is all off") {
  Training training = trainAsInterpreted({R"(g (int64[6] i, float[3] x) => (float[6,3] y) {
            depth = Constant <value = int64 {3}> ()
            values = Constant <value = float[2] {0.5, 2.0}> ()
            h = OneHot(i, depth, values)
            y = Mul(h, x)
          })",
                                          {{"x", array({3}, {1, 1, 1})}},
                                          {{"i", array({6}, {0, 2, -1, -3, 3, -4})}}});
  checkEqual(training.output("y"), {2, .5, .5, /**/ .5, .5, 2, /**/ .5, .5, 2, /**/ 2, .5, .5,
                                    /**/ .5, .5, .5, /**/ .5, .5, .5});
}
