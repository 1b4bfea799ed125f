// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models with a training_info: roles of what it needs, and what is wrong with it.
#include "ModelText.h"

#include "frontend/onnx/Proto.h"
#include "reference/interpreter/Interpreter.h"
#include <catch2/catch.hpp>
#include <onnx/defs/parser.h>

#include <numeric>
#include <regex>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {

using Bindings = std::vector<std::pair<std::string, std::string>>;

std::string repeated(const std::string &text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i)
    all += text;
  return all;
}

onnx::GraphProto graph(const std::string &text) {
  onnx::GraphProto graph;
  auto status = onnx::OnnxParser::Parse(graph, text.c_str());
  INFO(status.ErrorMessage());
  REQUIRE(status.IsOK());
  return graph;
}

/// w <- w - rate d (x w - b)^2 / d w, count <- count + 1
struct Step {
  std::string model =
      "g (float x) => (float y) "
      "<float w = {2}, float b = {1}, float unused = {5}> { p = Mul(x, w) y = Sub(p, b) }";
  std::string algorithm = R"(a () => (float loss, float w_new, int64 count_new)
    <float rate = {0.5}, int64 count = {0}, int64 one = {1}> {
      loss = Mul(y, y)
      g = ai.onnx.preview.training.Gradient <xs = ["w"], zs = ["x"], y = "loss"> (w, x)
      d = Mul(g, rate)
      w_new = Sub(w, d)
      count_new = Add(count, one)
    })";
  Bindings updates = {{"w", "w_new"}, {"count", "count_new"}};
  std::string initialization = "i () => () {}";
  Bindings initial = {};
  int copies = 1;

  Imported import(const ImportOptions &options = {}) const {
    onnx::ModelProto proto;
    REQUIRE(proto.ParseFromString(modelBytes(model)));
    for (int i = 0; i < copies; ++i) {
      onnx::TrainingInfoProto *training = proto.add_training_info();
      *training->mutable_algorithm() = graph(algorithm);
      *training->mutable_initialization() = graph(initialization);
      auto add = [](auto *bindings, const Bindings &entries) {
        for (const auto &[key, value] : entries) {
          onnx::StringStringEntryProto *binding = bindings->Add();
          binding->set_key(key);
          binding->set_value(value);
        }
      };
      add(training->mutable_update_binding(), updates);
      add(training->mutable_initialization_binding(), initial);
    }
    return importBytes(proto.SerializeAsString(), options);
  }
  std::string problems() const { return import().problems(); }
};

/// A step of another algorithm, which updates nothing else.
std::string problemsOf(const std::string &algorithm, Bindings updates = {{"w", "w_new"}}) {
  return Step{.algorithm = algorithm, .updates = std::move(updates)}.problems();
}

} // namespace

TEST_CASE("training_info: roles of state, and results") {
  Imported model = Step().import();
  CHECK(model.role("w") == "parameter");
  CHECK(model.argument("w", "accc.frozen").empty());
  CHECK(model.argument("b", "accc.frozen") == "set"); // nothing updates it
  CHECK(model.role("rate") == "buffer");
  CHECK(model.role("count") == "buffer"); // of integers, but not constant
  CHECK(model.role("one") == "none");
  CHECK(model.role("unused") == "none");
  CHECK(model.outputRole("loss") == "loss");
  CHECK(model.outputRole("y") == "output");
  CHECK(model.outputRole("w_new") == "none"); // it is in w
  CHECK(model.result.outputs.empty());        // for --loss
  auto results = model.run({{"x", ReferenceArray({}, 3.0)}});
  CHECK(results.at("update w").values[0] == -13); // 2 - 0.5 2 5 3
  CHECK(results.at("update count").values[0] == 1);
}

TEST_CASE("training_info: which output is the loss") {
  auto role = [](const std::string &algorithm, const std::string &name) {
    return Step{.algorithm = algorithm, .updates = {{"w", "w_new"}}}.import().outputRole(name);
  };
  std::string body = "{ w_new = Neg(w) a = Mul(y, y) c = Neg(y) loss = Abs(y) v = Expand(y, two) i "
                     "= Cast<to = 7>(y) }";
  std::string two = " <int64[1] two = {2}> ";
  CHECK(role("a () => (float a, float w_new, float[2] v, int64 i)" + two + body, "loss") ==
        "loss"); // the one scalar
  CHECK(role("a () => (float a, float w_new, float c)" + two + body, "loss") == "none");
  CHECK(role("a () => (float a, float w_new, float c)" + two + body, "a") == "output");
  CHECK(role("a () => (float a, float w_new, float c, float loss)" + two + body, "loss") == "loss");
  CHECK(role("a () => (float a, float w_new, float c, float loss)" + two + body, "c") == "output");
}

TEST_CASE("training_info: values that are updated are not known") {
  auto problems = [](Bindings updates) {
    return Step{.model = "g (float[4] x) => (float[2,2] y) <float w = {2}, int64[2] s = {2, 2}> { "
                         "y = Reshape(x, s) }",
                .algorithm =
                    "a () => (int64[2] s_new, float w_new) { s_new = Neg(s) w_new = Neg(w) }",
                .updates = std::move(updates)}
        .problems();
  };
  CHECK(problems({{"w", "w_new"}}).empty());
  CHECK_THAT(problems({{"s", "s_new"}}), Contains("must be known at compile time"));
}

TEST_CASE("training_info: initial values that are computed") {
  Step step{.initialization = "i () => (float a, int64 b) { a = Constant <value = float {7}> () "
                              "b = Constant <value = int64 {9}> () }",
            .initial = {{"w", "a"}, {"count", "b"}, {"unused", "a"}}};
  Imported model = step.import();
  INFO(model.problems());
  REQUIRE(model.result.initialization);
  auto forward = model.result.initialization->lookupSymbol<mlir::func::FuncOp>("forward");
  CHECK(forward.getNumResults() == 2); // nothing reads `unused`
  CHECK(forward.getNumArguments() == 0);
  CHECK_FALSE(Step().import().result.initialization);

  step.initialization =
      "i () => (float a, int64 b) <float c = {1}> { a = Exp(c) b = Cast<to = 7>(c) }";
  CHECK(step.problems().empty()); // its own initializers are constants
  step.initialization = "i () => (float a, int64 b) { a = Exp(w) b = Cast<to = 7>(a) }";
  CHECK_THAT(step.problems(), Contains("uses 'w', which nothing produces"));
  step.initialization = "i (float a) => (float a, int64 b) { b = Cast<to = 7>(a) }";
  CHECK_THAT(step.problems(),
             Contains("the initialization graph has the input 'a'; it must have none"));
  step.initialization = "i () => (float[2] a, float b) { a = Constant <value = float[2] {7, 8}> () "
                        "b = Constant <value = float {9}> () }";
  CHECK_THAT(step.problems(),
             Contains("initialization_binding of 'w': 'a' is f32[2], the initializer f32[]") &&
                 Contains("'b' is f32[], the initializer i64[]"));
  step.initialization = "i () => (float a, int64 b) { a = Constant <value = float {7}> () "
                        "b = NoSuch(a) }";
  CHECK_THAT(step.problems(), Contains("NoSuch"));
  step.initialization = "i () => (float a) { a = Constant <value = float {7}> () }";
  CHECK_THAT(
      step.problems(),
      Contains("initialization_binding of 'count': 'b' is no output of the initialization graph"));
}

TEST_CASE("training_info: what has a computed initial value is no constant") {
  Step step{
      .model = "g (float x, float[4] z) => (float y, float[2,2] r) <float w = {2}, int64 k = {3}, "
               "float Constant_1 = {5}, int64[2] s = {2, 2}> { n = Cast<to = 1>(k) p = Mul(x, n) "
               "q = Mul(p, Constant_1) y = Mul(q, w) r = Reshape(z, s) }",
      .algorithm = "a () => (float w_new) { w_new = Neg(w) }",
      .updates = {{"w", "w_new"}},
      .initialization =
          "i () => (int64 k_start, float c_start, int64[2] s_start) { "
          "k_start = Constant <value = int64 {7}> () c_start = Constant <value = float {8}> () "
          "s_start = Constant <value = int64[2] {4, 1}> () }",
      .initial = {{"k", "k_start"}, {"Constant_1", "c_start"}}};
  Imported model = step.import();
  CHECK(model.role("k") == "buffer");
  CHECK(model.role("Constant_1") == "parameter");
  CHECK(model.argument("Constant_1", "accc.frozen") == "set");
  REQUIRE(model.result.initialization);
  CHECK(model.result.initialization->lookupSymbol<mlir::func::FuncOp>("forward").getNumResults() ==
        2);
  step.initial.push_back({"s", "s_start"});
  CHECK_THAT(step.problems(), Contains("must be known at compile time"));
}

TEST_CASE("training_info: random initial values") {
  Step step{.model = "g (float[1000] x) => (float[1000] y) <float w = {2}, float[1000] a = {0}, "
                     "float[1000] b = {0}, float[1000] c = {0}, float[1000] d = {0}> { "
                     "p = Mul(x, w) q = Add(a, b) r = Add(c, d) s = Add(q, r) y = Add(p, s) }",
            .algorithm = "a () => (float w_new) { w_new = Neg(w) }",
            .updates = {{"w", "w_new"}},
            .initialization =
                R"(i () => (float[1000] a, float[1000] b, float[1000] c, float[1000] d) {
              a = RandomNormal <shape = [1000], mean = 5.0, scale = 2.0> ()
              b = RandomNormal <shape = [1000], mean = 5.0, scale = 2.0> ()
              c = RandomUniform <shape = [1000], seed = 3.0> ()
              d = RandomUniform <shape = [1000], seed = 3.0> ()
            })",
            .initial = {{"a", "a"}, {"b", "b"}, {"c", "c"}, {"d", "d"}}};
  step.model =
      std::regex_replace(step.model, std::regex(R"(= \{0\})"), "= {0" + repeated(", 0", 999) + "}");
  Imported model = step.import();
  INFO(model.problems());
  CHECK(model.warnings().empty()); // the seeds count
  REQUIRE(model.result.initialization);
  auto forward = model.result.initialization->lookupSymbol<mlir::func::FuncOp>("forward");
  llvm::SmallVector<ReferenceArray> results;
  REQUIRE(succeeded(interpret(forward, {ReferenceArray({2}, 0.0)}, results)));
  auto mean = [&](int i) {
    return std::accumulate(results[i].values.begin(), results[i].values.end(), 0.0) / 1000;
  };
  CHECK(mean(0) == Approx(5).margin(0.3));
  CHECK(mean(2) == Approx(0.5).margin(0.05));
  auto same = [&](int i, int j) {
    return std::equal(results[i].values.begin(), results[i].values.end(),
                      results[j].values.begin());
  };
  CHECK_FALSE(same(0, 1));
  CHECK(same(2, 3));
}

TEST_CASE("training_info: all that is wrong with bindings is told at once") {
  Step step;
  step.updates = {{"v", "w_new"}, {"w", "w_old"}, {"x", "w_new"},
                  {"w", "w_new"}, {"w", "w_new"}, {"g", "d"}};
  std::string problems = step.problems();
  CHECK_THAT(problems, Contains("update_binding of 'v': no initializer of the model's graph or of "
                                "the algorithm has this name"));
  CHECK_THAT(
      problems,
      Contains(
          "update_binding of 'w': 'w_old' is no output of the algorithm or of the model's graph"));
  CHECK_THAT(problems, Contains("update_binding of 'x': it is an input"));
  CHECK_THAT(problems, Contains("update_binding of 'w': the initializer is bound twice"));
  CHECK_THAT(problems, Contains("'d' is no output"));
  step.updates = {};
  CHECK_THAT(step.problems(), Contains("there is no update_binding"));
  step.updates = {{"w", "count_new"}, {"count", "w_new"}};
  CHECK_THAT(step.problems(),
             Contains("update_binding of 'w': 'count_new' is i64[], the initializer f32[]") &&
                 Contains("update_binding of 'count'"));
  CHECK_THAT(Step{.copies = 2}.problems(),
             Contains("has 2 training_infos, of which one is supported"));
}

TEST_CASE("training_info: the algorithm continues the model's graph") {
  CHECK(problemsOf("a () => (float w_new) { w_new = Neg(p) }").empty()); // reads what is inside
  CHECK_THAT(problemsOf("a () => (float w_new) { w_new = Neg(q) }"),
             Contains("uses 'q', which nothing produces"));
  CHECK_THAT(problemsOf("a () => (float w_new) { p = Neg(w) w_new = Neg(p) }"),
             Contains("produces 'p', which has been produced before"));
  CHECK_THAT(
      problemsOf("a (float x) => (float w_new) { w_new = Neg(x) }"),
      Contains("the algorithm declares 'x', which is the name of a value of the model's graph"));
  CHECK_THAT(problemsOf("a () => (float w_new) <float w = {1}> { w_new = Neg(w) }"),
             Contains("the algorithm declares 'w'"));
  CHECK_THAT(problemsOf("a () => (float w_new, float z) { w_new = Neg(w) }"),
             Contains("output 'z' is never produced"));
  CHECK_THAT(problemsOf("a (float[n] z) => (float w_new) { w_new = ReduceSum<keepdims = 0>(z) }"),
             Contains("the input 'z' has open dimensions"));
  Step step;
  step.model = "g (float x) => (float y) <float w = {2}> { y = Mul(count, w) }";
  CHECK_THAT(step.problems(),
             Contains("uses 'count', which nothing produces")); // not the other way
}
