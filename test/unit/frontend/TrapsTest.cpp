// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What exporters write that does not mean what its author meant.
#include "ModelText.h"

#include "frontend/onnx/Proto.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {
const char *kBatchNorm = R"(
    g (float[4,1] x) => (float[4,1] y)
      <float[1] s = {1}, float[1] b = {0}, float[1] bn__running_mean = {1}, float[1] bn__running_var = {2}> {
      y, m, v = BatchNormalization <training_mode = 1, momentum = 0.75> (x, s, b, bn__running_mean, bn__running_var)
    })";
} // namespace

TEST_CASE(
    "dropout without a training flag does nothing, with a warning, unless it is asked to drop") {
  const char *text = "g (float[64] x) => (float[64] y) <float r = {0.5}> { y = Dropout(x, r) }";
  auto model = importText(text);
  CHECK_THAT(model.text(), !Contains("nn.dropout"));
  CHECK_THAT(model.warnings(), Contains("--assume-dropout-training"));
  CHECK(model.role("random_key") == "none");
  ImportOptions options;
  options.assumeDropoutTraining = true;
  auto dropping = importText(text, options);
  CHECK_THAT(dropping.text(), Contains("nn.dropout"));
  CHECK(dropping.role("random_key") == "random_key");
  CHECK(dropping.warnings().empty());
}

TEST_CASE("dropout with its flag drops; its mask is that of the values") {
  auto model = importText(R"(
    g (float[64] x) => (float[64] y, bool[64] m) <float r = {0.5}, bool t = {1}> { y, m = Dropout(x, r, t) })");
  auto results = model.run({{"x", ReferenceArray({64}, 1.0)}});
  int dropped = 0;
  for (int i = 0; i < 64; ++i) {
    CHECK((results["y"].values[i] != 0) == (results["m"].values[i] != 0));
    dropped += results["y"].values[i] == 0;
  }
  CHECK(dropped > 16);
  CHECK(dropped < 48);
}

TEST_CASE("running statistics that dangle are bound to their variables") {
  // mean 2.5, biased variance 1.25, unbiased 5/3
  auto x = array({4, 1}, {1, 2, 3, 4});
  auto onnx = importText(kBatchNorm);
  CHECK(onnx.role("bn.running_mean") == "buffer");
  CHECK(onnx.role("s") == "parameter");
  auto results = onnx.run({{"x", x}});
  CHECK(results["update bn.running_mean"].values[0] == Approx(0.75 * 1 + 0.25 * 2.5));
  CHECK(results["update bn.running_var"].values[0] == Approx(0.75 * 2 + 0.25 * 1.25));

  auto torch = importText(kBatchNorm, {}, 17, "pytorch");
  CHECK(torch.warnings().empty()); // it is what everybody wants of PyTorch's files
  REQUIRE(torch.result.remarks.size() == 1);
  CHECK_THAT(torch.result.remarks[0].message, Contains("unbiased"));
  CHECK(torch.run({{"x", x}})["update bn.running_var"].values[0] ==
        Approx(0.75 * 2 + 0.25 * 5 / 3));

  ImportOptions options;
  options.unbiasedRunningVar = false;
  auto biased = importText(kBatchNorm, options, 17, "pytorch");
  CHECK(biased.run({{"x", x}})["update bn.running_var"].values[0] ==
        Approx(0.75 * 2 + 0.25 * 1.25));
}

TEST_CASE("a batch normalisation that is called twice updates its statistics twice") {
  // PyTorch's dynamo exporter lets the second call read what the first one gave, and its older
  // exporter lets both read the variables.
  for (const char *second : {"c, d", "m, v"}) {
    std::string text = R"(
      g (float[4,1] x) => (float[4,1] z) <float[1] s = {1}, float[1] b = {0}, float[1] m = {1}, float[1] v = {2}> {
        y, c, d = BatchNormalization <training_mode = 1, momentum = 0.75> (x, s, b, m, v)
        w = Add (x, x)
        z, e, f = BatchNormalization <training_mode = 1, momentum = 0.75> (w, s, b, )" +
                       std::string(second) + ")\n}";
    auto model = importText(text.c_str());
    auto results = model.run({{"x", array({4, 1}, {1, 2, 3, 4})}});
    CHECK(results["update m"].values[0] == Approx(0.75 * (0.75 * 1 + 0.25 * 2.5) + 0.25 * 5));
    CHECK(results["update v"].values[0] == Approx(0.75 * (0.75 * 2 + 0.25 * 1.25) + 0.25 * 5));
  }
}

TEST_CASE("an instance normalisation written as a batch normalisation updates nothing") {
  auto model = importText(R"(
    g (float[1,2,4] x) => (float[1,2,4] y) <float[2] s = {1,1}, float[2] b = {0,0}> {
      m = ConstantOfShape <value = float[1] {0}> (n)
      v = ConstantOfShape <value = float[1] {1}> (n)
      y, a, c = BatchNormalization <training_mode = 1> (x, s, b, m, v)
    })"
                          "");
  // `n` is produced by nothing: the text above must not import.
  CHECK_THAT(model.problems(), Contains("'n'"));
  auto good = importText(R"(
    g (float[1,2,4] x) => (float[1,2,4] y) <float[2] s = {1,1}, float[2] b = {0,0}, int64[1] n = {2}> {
      m = ConstantOfShape <value = float[1] {0}> (n)
      v = ConstantOfShape <value = float[1] {1}> (n)
      y, a, c = BatchNormalization <training_mode = 1> (x, s, b, m, v)
    })");
  CHECK(good.forward().getNumResults() == 1);
}

TEST_CASE("an inference-mode batch normalisation in training is warned of") {
  const char *text = R"(
    g (float[4,1] x) => (float[4,1] y) <float[1] s = {1}, float[1] b = {0}, float[1] m = {1}, float[1] v = {2}> {
      y = BatchNormalization(x, s, b, m, v)
    })";
  auto model = importText(text);
  CHECK_THAT(model.warnings(), Contains("--assume-batchnorm-training"));
  CHECK(model.role("m") == "buffer");
  ImportOptions options;
  options.assumeBatchNormTraining = true;
  auto trained = importText(text, options);
  CHECK_THAT(trained.text(), Contains("nn.batch_norm_training"));
  CHECK(trained.warnings().empty());
  options.training = false;
  CHECK(importText(text, options).warnings().empty());
}

TEST_CASE("a batch normalisation without parameters is lost in inference mode, too") {
  // With affine=False scale and shift are constants; the statistics are buffers all the same.
  std::string bytes = modelBytes(R"(
    g (float[4,1] x) => (float[4,1] y) <float[1] m = {1}, float[1] v = {2}> {
      s = Constant <value = float[1] {1}> ()
      b = Constant <value = float[1] {0}> ()
      y = BatchNormalization(x, s, b, m, v)
    })",
                                 17, "pytorch");
  CHECK_THAT(importBytes(bytes).problems(), Contains("1 batch norm written in inference mode"));
}

TEST_CASE("a batch normalisation that lacks scale and bias neither scales nor shifts") {
  auto model = importText(R"(
    g (float[4,1] x) => (float[4,1] y) <float[1] m = {1}, float[1] v = {2}> {
      y, a, c = BatchNormalization <training_mode = 1, epsilon = 0.0> (x, , , m, v)
    })");
  auto y = model.run({{"x", array({4, 1}, {1, 2, 3, 4})}})["y"]; // mean 2.5, variance 1.25
  CHECK(y.values[3] == Approx(1.5 / std::sqrt(1.25)));
}

TEST_CASE("a frozen batch normalisation is one where accc's own exporter says so") {
  const char *text = R"(
    g (float[4,1] x) => (float[4,1] y) <float[1] s = {1}, float[1] b = {0}, float[1] m = {1}, float[1] v = {2}> {
      y = BatchNormalization(x, s, b, m, v)
    })";
  std::string bytes = modelBytes(text, 17, "pytorch");
  CHECK_THAT(importBytes(bytes).problems(), Contains("1 batch norm written in inference mode"));
  onnx::ModelProto model;
  REQUIRE(model.ParseFromString(bytes));
  onnx::StringStringEntryProto &entry = *model.add_metadata_props();
  entry.set_key("accc.export");
  entry.set_value(R"({"version": 1,
    "parameters": [{"name": "s", "requires_grad": false}, {"name": "b", "requires_grad": false}],
    "buffers": [{"name": "m", "persistent": true}, {"name": "v", "persistent": true}]})");
  auto marked = importBytes(model.SerializeAsString());
  CHECK(marked.problems().empty());
  CHECK(marked.warnings().empty());
  CHECK_THAT(marked.text(), Contains("nn.batch_norm_inference"));
}

TEST_CASE("log of a sigmoid neither overflows nor gives NaN") {
  auto model = importText(R"(
    g (float[3] x) => (float[3] a, float[3] b) <float one = {1}> {
      s = Sigmoid(x)
      a = Log(s)
      r = Sub(one, s)
      b = Log(r)
    })");
  // `one` is a parameter by its name; the rule needs a known number.
  CHECK(model.role("one") == "parameter");
  auto stable = importText(R"(
    g (float[3] x) => (float[3] a, float[3] b) {
      one = Constant <value = float {1}> ()
      s = Sigmoid(x)
      a = Log(s)
      r = Sub(one, s)
      b = Log(r)
    })");
  auto results = stable.run({{"x", array({3}, {-1000, 0, 1000})}});
  CHECK(results["a"].values[0] == Approx(-1000));
  CHECK(results["a"].values[1] == Approx(-std::log(2)));
  CHECK(results["b"].values[2] == Approx(-1000));
}

TEST_CASE("a 0 in the shape of a reshape copies, or with allowzero is 0") {
  auto copies = importText(
      "g (float[2,3] x) => (float[2,3,1] y) <int64[3] s = {0,-1,1}> { y = Reshape(x, s) }");
  CHECK_THAT(copies.text(), Contains("tensor<2x3x1xf32>"));
  auto zero = importText("g (float[0,3] x) => (float[3,0] y) <int64[2] s = {3,0}> { y = Reshape "
                         "<allowzero = 1> (x, s) }");
  CHECK_THAT(zero.text(), Contains("tensor<3x0xf32>"));
}

TEST_CASE("jax2onnx writes stop_gradient as an Identity whose result it names so") {
  auto isStop = [](const char *name, const char *producer) {
    std::string text =
        "g (float[4] x) => (float[4] y) <float[4] w = {1, 2, 3, 4}> { p = Mul (x, w) ";
    text += "s = Identity (p) y = Mul (p, s) }";
    onnx::ModelProto model;
    REQUIRE(model.ParseFromString(modelBytes(text.c_str(), 21, producer)));
    onnx::GraphProto &graph = *model.mutable_graph();
    graph.mutable_node(1)->set_output(0, name);
    graph.mutable_node(2)->set_input(1, name);
    return importBytes(model.SerializeAsString()).text().find("prim.bitcast") != std::string::npos;
  };
  for (const char *name : {"stop_out", "stop_out_12", "scan_loop_0/stop_out_1"}) {
    CHECK(isStop(name, "jax2onnx"));
    CHECK_FALSE(isStop(name, "another"));
  }
  for (const char *name : {"stop_out_", "stop_output", "loop_const_out_0"})
    CHECK_FALSE(isStop(name, "jax2onnx"));
}

TEST_CASE("a parameter that is a statistic as well was merged with it") {
  auto damage = [](const char *norm) {
    std::string text = "g (float[4,1] x) => (float[4,1] y) <float[1] s = {1}, float[1] b = {0}, "
                       "float[1] mean = {0}, float[1] var = {1}> { y, m, v = BatchNormalization "
                       "<training_mode = 1> (x, ";
    return importText(text + norm + ") }").result.damage;
  };
  CHECK(damage("s, b, mean, var").empty());
  CHECK_THAT(damage("s, b, b, var"), Contains("('b')"));
  CHECK_THAT(damage("s, b, mean, s"), Contains("('s')"));
}

TEST_CASE("a normalisation that reads parameters of another module reads merged ones") {
  // Of two layers, or of two calls of one; by a file of PyTorch whose nodes are named or not.
  auto damage = [](const std::string &second, const std::vector<const char *> &nodes) {
    std::string text =
        "g (float[2,3] x) => (float[2,3] z) <float[3] a__weight = {1,1,1}, float[3] "
        "a__bias = {0,0,0}, float[3] b__weight = {1,1,1}, float[3] b__bias = {0,0,0}, "
        "float[3] fc__bias = {0,0,0}> { y = LayerNormalization (x, a__weight, "
        "a__bias) z = LayerNormalization (y, ";
    onnx::ModelProto model;
    REQUIRE(model.ParseFromString(modelBytes(text + second + ") }", 17, "pytorch")));
    for (size_t i = 0; i < nodes.size(); ++i)
      model.mutable_graph()->mutable_node(static_cast<int>(i))->set_name(nodes[i]);
    return importBytes(model.SerializeAsString()).result.damage;
  };
  CHECK(damage("b__weight, b__bias", {"/a/Norm", "/b/Norm"}).empty());
  CHECK(damage("b__weight, b__bias", {}).empty());
  CHECK(damage("a__weight, a__bias", {"/a/Norm", "/a_1/Norm"}).empty()); // called twice
  CHECK_THAT(damage("a__weight, a__bias", {"/a/Norm", "/b/Norm"}), Contains("('a.weight')"));
  CHECK_THAT(damage("a__weight, a__bias", {}), Contains("('a.weight')"));
  CHECK_THAT(damage("b__weight, fc__bias", {"/a/Norm", "/b/Norm"}), Contains("('fc.bias')"));
}

TEST_CASE("a sparse initializer is not trained, with a warning") {
  onnx::ModelProto model;
  REQUIRE(model.ParseFromString(modelBytes(R"(
    g (float[2,2] x) => (float[2,2] y) <float[2,2] w = {1,2,3,4}, float[2] b = {1,2}> {
      p = MatMul (x, w) y = Add (p, b) })")));
  onnx::GraphProto &graph = *model.mutable_graph();
  onnx::SparseTensorProto &sparse = *graph.add_sparse_initializer();
  *sparse.mutable_values() = graph.initializer(0);
  sparse.mutable_values()->clear_dims();
  sparse.mutable_values()->add_dims(4);
  onnx::TensorProto &indices = *sparse.mutable_indices();
  indices.set_data_type(onnx::TensorProto::INT64);
  indices.add_dims(4);
  for (int64_t i = 0; i < 4; ++i)
    indices.add_int64_data(i);
  for (int64_t extent : {2, 2})
    sparse.add_dims(extent);
  graph.mutable_initializer()->DeleteSubrange(0, 1);
  ImportOptions options;
  for (bool isTrained : {false, true}) {
    options.training = isTrained;
    auto imported = importBytes(model.SerializeAsString(), options);
    CHECK(imported.role("w") == "none");
    CHECK(imported.role("b") == "parameter");
    CHECK((imported.warnings().find("a sparse initializer is a constant") != std::string::npos) ==
          isTrained);
  }
}
