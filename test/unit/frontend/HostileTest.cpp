// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files made to break the importer: each gives an error in words, none a crash.
#include "ModelText.h"

#include "frontend/common/ForwardBuilder.h"
#include "frontend/common/ImportError.h"
#include "frontend/onnx/Proto.h"
#include "ir/prim/Prim.h"
#include "llvm/Support/MemoryBuffer.h"
#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {

/// A model of every kind of field: weights, attributes, a subgraph, a function.
std::string smallModel() {
  return modelBytes(R"(
    g (float[2,3] x, bool c) => (float[2,3] y) <float[3] w = {1,2,3}, int64[2] s = {2,3}> {
      a = local.twice(x)
      b = Mul(a, w)
      r = Reshape(b, s)
      y = If (c) <then_branch = t () => (float[2,3] u) { u = Clip(r) }, else_branch = e () => (float[2,3] v) { v = LeakyRelu <alpha = 0.5> (r) }>
    })",
                    17, "", R"(
    <opset_import: ["" : 17], domain: "local"> twice (a) => (b) { b = Add(a, a) })");
}

std::string problemsOf(const std::string &bytes) { return importBytes(bytes).problems(); }
std::string problemsOfText(const std::string &graph) { return importText(graph).problems(); }

/// The small model, changed.
template <typename Change> std::string changed(Change change) {
  onnx::ModelProto model;
  REQUIRE(model.ParseFromString(smallModel()));
  change(model);
  return model.SerializeAsString();
}

} // namespace

TEST_CASE("versions of the operators that are none, or that nobody knows yet") {
  auto problemsAt = [](int64_t version, int64_t again) {
    onnx::ModelProto model;
    REQUIRE(model.ParseFromString(modelBytes("g (float[2] x) => (float[2] y) { y = Relu(x) }")));
    model.clear_opset_import();
    for (int64_t each : {version, again})
      model.add_opset_import()->set_version(each);
    return importBytes(model.SerializeAsString()).problems();
  };
  CHECK(problemsAt(17, 17).empty());
  CHECK(problemsAt(28, 28).empty());
  for (int64_t version : {int64_t(-1), int64_t(0), int64_t(99), int64_t(1) << 40})
    CHECK_THAT(problemsAt(version, version),
               Contains("version " + std::to_string(version) + " of the standard operators"));
  CHECK_THAT(problemsAt(17, 18), Contains("two versions of the standard operators, 17 and 18"));
}

TEST_CASE("truncated and damaged files", "[hostile]") {
  std::string bytes = smallModel();
  REQUIRE(importBytes(bytes).result.module);
  for (size_t length = 0; length < bytes.size(); ++length) {
    auto model = importBytes(bytes.substr(0, length));
    CHECK((model.result.module || !model.result.problems.empty()));
  }
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int flip : {0x01, 0x08, 0x80, 0xff}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      auto model = importBytes(damaged);
      CHECK((model.result.module || !model.result.problems.empty()));
    }
}

TEST_CASE("no model at all", "[hostile]") {
  CHECK_THAT(problemsOf(""), Contains("no graph"));
  CHECK_THAT(problemsOf("PK\x03\x04 something else"), Contains("torch.onnx.export"));
  CHECK_THAT(problemsOf("something else"), Contains("not an ONNX model: the file is truncated"));
  CHECK_THAT(problemsOf("\x7f"
                        "ELF\x02\x01"),
             Contains("not an ONNX model: it is a shared library"));
  CHECK_THAT(problemsOf("\x80\x02}q"),
             Contains("not an ONNX model: it looks like what torch.save"));
  CHECK_THAT(problemsOf(std::string("\x08\0\0\0\0\0\0\0{}      ", 16)),
             Contains("not an ONNX model: it is a safetensors file"));
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto missing = importOnnx("/no/such/file.onnx", {}, context);
  REQUIRE(missing.problems.size() == 1);
  CHECK_THAT(describe(missing.problems[0]), Contains("/no/such/file.onnx"));
  auto folder = importOnnx("/", {}, context);
  REQUIRE(folder.problems.size() == 1);
  CHECK_THAT(describe(folder.problems[0]), Contains("not a regular file"));
}

TEST_CASE("graphs that are none", "[hostile]") {
  CHECK_THAT(problemsOfText("g (float[2] x) => (float[2] y) { y = Add(x, nowhere) }"),
             Contains("'nowhere', which nothing"));
  CHECK_THAT(
      problemsOfText("g (float[2] x) => (float[2] y) { a = Add(x, b)  b = Neg(a)  y = Neg(b) }"),
      Contains("has a cycle"));
  CHECK_THAT(problemsOfText("g (float[2] x) => (float[2] y) { y = Neg(x)  y = Exp(x) }"),
             Contains("produced before"));
  CHECK_THAT(problemsOfText("g (float[2] x) => (float[2] z) { y = Neg(x) }"),
             Contains("'z' is never produced"));
  CHECK_THAT(problemsOfText("g (float[2] x, float[2] x) => (float[2] y) { y = Neg(x) }"),
             Contains("declared twice"));
}

TEST_CASE("functions that call themselves", "[hostile]") {
  CHECK_THAT(problemsOf(changed([](onnx::ModelProto &model) {
               onnx::NodeProto *node = model.mutable_functions(0)->mutable_node(0);
               node->set_op_type("twice");
               node->set_domain("local");
             })),
             Contains("calls itself"));
  // f0 calls f1 twice, f1 calls f2 twice ...
  CHECK_THAT(problemsOf(changed([](onnx::ModelProto &model) {
               for (int i = 0; i < 40; ++i) {
                 onnx::FunctionProto *function = model.add_functions();
                 *function = model.functions(0);
                 function->set_name("f" + std::to_string(i));
                 for (onnx::NodeProto &node : *function->mutable_node()) {
                   node.set_domain("local");
                   node.set_op_type(i == 0 ? "twice" : "f" + std::to_string(i - 1));
                 }
                 *function->add_node() = function->node(0);
                 function->mutable_node(1)->set_output(0, "other");
               }
               model.mutable_graph()->mutable_node(0)->set_op_type("f39");
             })),
             Contains("nodes once its loops are unrolled"));
}

TEST_CASE("functions and subgraphs that nest deeply", "[hostile]") {
  // f1 calls f0, f2 calls f1, ...: whichever the file lists first.
  auto functions = [](int depth, bool calleesFirst) {
    return problemsOf(changed([&](onnx::ModelProto &model) {
      onnx::FunctionProto leaf = model.functions(0);
      for (int i = 0; i < depth; ++i) {
        int number = calleesFirst ? i : depth - 1 - i;
        onnx::FunctionProto *function = model.add_functions();
        *function = leaf;
        function->set_name("f" + std::to_string(number));
        onnx::NodeProto *node = function->mutable_node(0);
        node->set_domain("local");
        node->set_op_type(number == 0 ? "twice" : "f" + std::to_string(number - 1));
        node->mutable_input()->RemoveLast();
      }
      model.mutable_graph()->mutable_node(0)->set_op_type("f" + std::to_string(depth - 1));
    }));
  };
  for (bool calleesFirst : {true, false}) {
    CHECK(functions(150, calleesFirst).empty());
    CHECK_THAT(functions(20000, calleesFirst), Contains("nest deeper than 200"));
  }

  // Written by hand: protobuf itself builds and frees what nests by recursion.
  auto field = [](int number, const std::string &message) {
    std::string size;
    for (size_t rest = message.size(); rest || size.empty(); rest >>= 7)
      size += static_cast<char>((rest & 0x7f) | (rest > 0x7f ? 0x80 : 0));
    return static_cast<char>(number << 3 | 2) + size + message;
  };
  auto branches = [&](int depth) {
    std::string graph;
    for (int i = 0; i < depth; ++i)
      graph = field(onnx::GraphProto::kNodeFieldNumber,
                    field(onnx::NodeProto::kOpTypeFieldNumber, "If") +
                        field(onnx::NodeProto::kAttributeFieldNumber,
                              field(onnx::AttributeProto::kGFieldNumber, graph)));
    return field(onnx::ModelProto::kGraphFieldNumber, graph);
  };
  CHECK_THAT(problemsOf(branches(20)), !Contains("nest too deeply"));
  for (int depth : {1000, 6000})
    CHECK_THAT(problemsOf(branches(depth)), Contains("subgraphs nest too deeply"));
  CHECK_THAT(problemsOf(branches(1000).substr(0, 100)), Contains("damaged"));
}

TEST_CASE("tensors whose bytes do not fit", "[hostile]") {
  auto weight = [](auto change) {
    return problemsOf(changed(
        [&](onnx::ModelProto &model) { change(*model.mutable_graph()->mutable_initializer(0)); }));
  };
  CHECK_THAT(weight([](onnx::TensorProto &t) { t.set_dims(0, 4); }),
             Contains("12 bytes where its type needs 16"));
  CHECK_THAT(weight([](onnx::TensorProto &t) { t.set_dims(0, -3); }), Contains("negative extent"));
  CHECK_THAT(weight([](onnx::TensorProto &t) { t.set_raw_data("abc"); }),
             Contains("3 bytes where"));
  CHECK_THAT(weight([](onnx::TensorProto &t) {
               t.clear_dims();
               for (int i = 0; i < 4; ++i)
                 t.add_dims(int64_t(1) << 40);
             }),
             Contains("larger than 2^40"));
  CHECK_THAT(weight([](onnx::TensorProto &t) {
               t.clear_dims();
               t.add_dims(0);
               t.add_dims(int64_t(1) << 62);
               t.add_dims(int64_t(1) << 62);
             }),
             Contains("larger than 2^40"));
  CHECK_THAT(weight([](onnx::TensorProto &t) { t.set_data_type(8); }),
             Contains("strings are not supported"));
  CHECK_THAT(weight([](onnx::TensorProto &t) { t.set_data_type(-77); }), Contains("data type -77"));
  CHECK_THAT(weight([](onnx::TensorProto &t) {
               for (int i = 0; i < 100; ++i)
                 t.add_dims(1);
             }),
             Contains("101 dimensions"));
}

TEST_CASE("sizes that overflow, and loops that do not end", "[hostile]") {
  CHECK_THAT(problemsOfText(
                 R"(g (float[2] x) => (float[2] y) <int64[2] s = {1099511627776, 1099511627776}> {
      a = Expand(x, s)  y = Neg(a) })"),
             Contains("(Expand)"));
  CHECK_THAT(problemsOfText(R"(g (float[2] x) => (float[2] y) <int64[1] s = {4611686018427387904}> {
      y = ConstantOfShape(s) })"),
             Contains("larger than 2^40"));
  CHECK_THAT(
      problemsOfText(
          R"(g (float[2] x) => (float[2] y) <int64[2] p = {4611686018427387904, 4611686018427387904}> {
      y = Pad(x, p) })"),
      Contains("(Pad)"));
  CHECK_THAT(
      problemsOfText(
          R"(g (float[2] x) => (float[2] y) <int64[1] r = {9223372036854775807}> { y = Tile(x, r) })"),
      Contains("(Tile)"));
  CHECK_THAT(problemsOfText(
                 R"(g (float[2] x) => (float[2] y) <int64 n = {9223372036854775807}, bool c = {1}> {
      y = Loop (n, c, x) <body = b (int64 i, bool k, float[2] v) => (bool k, float[2] v) { }> })"),
             Contains("once its loops are unrolled"));
  CHECK_THAT(
      problemsOfText(
          R"(g (float[1,1,8,8] x) => (float[1,1,8,8] y) <float[1,1,3,3] w = {1,2,3,4,5,6,7,8,9}> {
      y = Conv <strides = [0, 0]> (x, w) })"),
      Contains("strides"));
  CHECK_THAT(problemsOfText(R"(g (float[1,1,8,8] x) => (float[1,1,8,8] y)
      <int64[2] s = {4611686018427387904, 4611686018427387904}, int64[2] b = {1, 1}> {
      y = Col2Im(x, s, b) })"),
             Contains("(Col2Im)"));
  CHECK_THAT(problemsOfText(R"(g (float[1,8,1] x) => (float[1,8,2] y) <int64 n = {1048577}> {
      y = DFT(x, n) })"),
             Contains("at most 1048576"));
  CHECK_THAT(problemsOfText(R"(g (float[1,1,8,8] x) => (float[1,1,8,8] y) {
      y = MaxPool <kernel_shape = [9223372036854775807, 2]> (x) })"),
             Contains("(MaxPool)"));
}

TEST_CASE("sums of booleans", "[hostile]") {
  for (const char *node : {"ReduceSum(x)", "ReduceProd(x)", "ReduceL1(x)", "ReduceMean(x)",
                           "Einsum<equation = \"ij->i\">(x)", "Einsum<equation = \"ii->i\">(x)"})
    CHECK_THAT(problemsOfText(std::string("g (bool[2,2] x) => (bool[a] y) { y = ") + node + " }"),
               Contains("must be a tensor of numbers"));
}

TEST_CASE("known indices that a table does not have", "[hostile]") {
  for (const char *indices : {"int64[3] i = {0,1,5}", "int64[1] i = {-6}"})
    CHECK_THAT(problemsOfText(std::string("g (float[5,4] x) => (float[a,b] y) <") + indices +
                              "> { y = Gather(x, i) }"),
               Contains("outside an axis of 5 elements"));
}

TEST_CASE("ranks and types that do not fit an operator", "[hostile]") {
  for (const char *node :
       {"y = Conv(x, x)",
        "y = MatMul(x, i)",
        "y = Gemm(s, s)",
        "y = Softmax <axis = 7> (x)",
        "y = Gather(x, x)",
        "y = Concat <axis = 3> (x, x)",
        "y = Transpose <perm = [0, 0]> (x)",
        "y = LSTM <hidden_size = 3> (x, x, x)",
        "y = BatchNormalization(s, s, s, s, s)",
        "y = LayerNormalization <axis = 5> (x, s)",
        "y = Slice(x, s, s)",
        "y = ReduceSum <axes = [9]> (x)",
        "y = Einsum <equation = \"ab,bc->ac\"> (x)",
        "y = Einsum <equation = \"a->b\"> (s)",
        "y = GatherND(x, i)",
        "y = ScatterND(x, i, x)",
        "y = TopK(x, i)",
        "y = Where(x, x, x)",
        "y = Cast <to = 99> (x)",
        "y = Split <axis = 9> (x)",
        "y = Resize(x)",
        "y = Dropout(i)",
        "y = Pad(x, i)",
        "y = OneHot(x, x, x)",
        "y = DepthToSpace <blocksize = 0> (x)",
        "y = Range(x, x, x)",
        "y = Attention(x, x, x)",
        "y = Loop(i)",
        "y = If(x)",
        "y = GroupNormalization <num_groups = 0> (x, s, s)",
        "y = Squeeze <axes = [0]> (x)",
        "y = Add()",
        "y = SequenceAt(x, i)",
        "y = QuantizeLinear(x, i)",
        "y = QuantizeLinear <axis = 9> (x, i, i)",
        "y = QuantizeLinear <block_size = -1> (x, x)",
        "y = QuantizeLinear <block_size = 9223372036854775807> (x, x)",
        "y = DequantizeLinear(x, s)",
        "y = DequantizeLinear <axis = -7> (q, x)",
        "y = DequantizeLinear(q, s, q)",
        "y, z, w = DynamicQuantizeLinear(i)",
        "y = MatMulInteger(i, i)",
        "y = MatMulInteger(q, q, q, q)",
        "y = ConvInteger(q, q)",
        "y = ConvInteger <group = 0> (x, q, s, s)",
        "y = QLinearMatMul(q, s, q, q, x, q, i, x)",
        "y = QLinearConv(q, s, q, q, s, q, s, q, i)",
        "y = Unique <axis = 3> (x)",
        "y = Unique(i)",
        "y = NonMaxSuppression(x, x)",
        "y = NonMaxSuppression(b, c, i, x)",
        "y = TensorScatter(x, x)",
        "y = TensorScatter <axis = 1> (s, x, x)",
        "y = MelWeightMatrix(i, i, i, x, s)",
        "y = MelWeightMatrix(t, t, t, s, s)",
        "y = CausalConvWithState(x, x)",
        "y = CausalConvWithState(b, c)",
        "y = CausalConvWithState(b, c, , s)",
        "y = QLinearMatMul(q, , q, q, s, q, s, q)",
        "y = LinearAttention(b, b, b)",
        "y = LinearAttention <q_num_heads = -1, kv_num_heads = 0> (b, b, b)",
        "y = LinearAttention <q_num_heads = 2, kv_num_heads = 2> (b, b, b, b, s, x)",
        "y = SwiGLU(x, s)",
        "y = ai.onnx.preview.FlexAttention(b, b, b)",
        "y = Scan <num_scan_inputs = 1> (x)",
        "y = Resize <coordinate_transformation_mode = \"tf_crop_and_resize\"> (x, x, x)",
        "y = Resize <mode = \"cubic\", antialias = 1> (x, , i)",
        "y, z = ai.onnx.preview.training.Adagrad(x, i, x, x, s)",
        "y = ai.onnx.preview.training.Adam(x)"})
    for (int opset : {6, 9, 12, 17, 23, 28})
      for (bool known : {false, true}) {
        INFO(node << " " << opset << (known ? ", known" : ""));
        std::string data = "float[2,3] x, float s, int64[2] i, int64 t, int8[2,2] q, float[1,2,4] "
                           "b, float[1,1,2] c";
        std::string numbers =
            "float[2,3] x = {1, 2, 3, 4, 5, 6}, float s = {2}, int64[2] i = {1, -3}, int64 t = {7},"
            " int8[2,2] q = {1, 2, 3, 4}, float[1,2,4] b = {1, 2, 3, 4, 5, 6, 7, 8},"
            " float[1,1,2] c = {1, 2}";
        std::string head = known ? "g (float u) => (float[2,3] y) <" + numbers + "> { "
                                 : "g (" + data + ") => (float[2,3] y) { ";
        auto model = importText(head + node + " }", {}, opset);
        CHECK((model.result.module || !model.result.problems.empty()));
      }
}

TEST_CASE("operands that no type can be inferred from are refused", "[hostile]") {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  ImportOptions options;
  frontend::ForwardBuilder forward(options, context);
  mlir::OpBuilder &builder = forward.builder();
  mlir::Value a = forward.addInput({2}, builder.getF32Type(), "a");
  mlir::Value b = forward.addInput({3}, builder.getF32Type(), "b");
  auto rule = [&]() -> frontend::Entities {
    builder.create<prim::TransposeOp>(builder.getUnknownLoc(), a, llvm::ArrayRef<int64_t>{0, 1, 2});
    return {builder.create<prim::GatherOp>(builder.getUnknownLoc(), a, b, 7).getResult()};
  };
  CHECK_THROWS_AS(forward.build(rule), frontend::ImportError);
}
