// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an import makes of names, roles, shapes, control flow and functions.
#include "ModelText.h"

#include "frontend/onnx/Proto.h"
#include <catch2/catch.hpp>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

TEST_CASE("roles: floats are parameters, integers constants") {
  auto model = importText(R"(
    g (float[2,3] x) => (float[2,2] y) <float[3,2] w = {1,2,3,4,5,6}, int64[2] shape = {2,2}, float[2] b = {1,2}> {
      a = MatMul(x, w)
      c = Add(a, b)
      y = Reshape(c, shape)
    })");
  CHECK(model.role("x") == "input");
  CHECK(model.role("w") == "parameter");
  CHECK(model.role("b") == "parameter");
  CHECK(model.role("shape") == "none");
  CHECK(model.result.weights.size() == 2);
  CHECK(model.result.weights.find("w")->second.bytes.size() == 24);
  CHECK_THAT(model.text(), Contains("nn.linear"));
}

TEST_CASE("an initializer used twice is one parameter; an unused one is none") {
  auto model = importText(R"(
    g (float[2,2] x) => (float[2,2] y) <float[2,2] w = {1,2,3,4}, float[2] unused = {1,2}> {
      a = MatMul(x, w)
      y = MatMul(a, w)
    })");
  CHECK(model.result.weights.size() == 1);
  CHECK(model.role("unused") == "none");
}

TEST_CASE("what stopped constant folding is named") {
  auto problems = [](const std::string &body) {
    return importText("g (float[4] x, int64[2] s) => (float[2,2] y) " + body).problems();
  };
  CHECK_THAT(problems("{ a = Abs(s)\n t = Neg(a)\n y = Reshape(x, t) }"),
             Contains("must be known at compile time, but the node 'a' (Abs) computes it from the "
                      "input 's'"));
  CHECK_THAT(problems("{ y = Reshape(x, s) }"), Contains("but it is the input 's'"));
  // The known operand of an op is not what stopped it.
  CHECK_THAT(problems("<int64[2] c = {1, 1}> { t = Add(c, s)\n y = Reshape(x, t) }"),
             Contains("the node 't' (Add) computes it from the input 's'"));
}

TEST_CASE("what decides a shape is computed whatever its size, unless that takes long") {
  // The greatest element of a product of n x n ones.
  auto model = [](int64_t n) {
    return importText("g (float[64] x) => (float[1,64] y) <int64[2] s = {" + std::to_string(n) +
                      "," + std::to_string(n) +
                      "}, int64[1] one = {1}, int64[1] all = {-1}> {"
                      " o = ConstantOfShape<value = int64[1] {1}>(s) p = MatMul(o, o)"
                      " m = ReduceMax<keepdims = 0>(p) k = Div(m, m) f = Reshape(k, one)"
                      " t = Concat<axis = 0>(f, all) y = Reshape(x, t) }");
  };
  CHECK(model(100).problems().empty());
  CHECK_THAT(model(2000).problems(), Contains("is not computed at compile time"));
}

TEST_CASE("frozen parameters stay parameters") {
  ImportOptions options;
  options.frozen = {"encoder\\..*"};
  auto model = importText(R"(
    g (float[2] x) => (float[2] y) <float[2] my_encoder__w = {1,2}, float[2] head__w = {3,4}> {
      a = Mul(x, my_encoder__w)
      y = Mul(a, head__w)
    })",
                          options);
  CHECK(model.role("my_encoder.w") == "parameter");
  CHECK(model.argument("my_encoder.w", "accc.frozen") == "set"); // found anywhere, as by --freeze
  CHECK(model.argument("head.w", "accc.frozen").empty());
  options.frozen = {"("};
  CHECK_THAT(importText("g (float[2] x) => (float[2] y) { y = Relu(x) }", options).problems(),
             Contains("--freeze (: missing closing parenthesis"));
}

TEST_CASE("masks and made-up scalars are constants") {
  auto model = importText(R"(
    g (float[2] x) => (float[2] y) <float[2] m = {0, -3.4e38}, float Constant_output_0 = {2}> {
      a = Add(x, m)
      y = Mul(a, Constant_output_0)
    })");
  CHECK(model.result.weights.empty());
}

TEST_CASE("what may be a parameter or a constant is marked, unless its place or its name tells") {
  const char *text = R"(
    g (float[2,3] x) => (float[2,1] y, float[2,3] z)
      <float[3] mean = {1,2,3}, float[3,2] w = {1,2,3,4,5,6}, float scale = {0.5}, float[2] gamma = {1,2},
       float[2,1] head = {1,2}, float[1] bias = {3}, float[1] slope = {0.25}, float[1,1,1] power = {2}> {
      centred = Sub(x, mean)
      product = MatMul(centred, w)
      scaled = Mul(product, scale)
      hidden = Mul(scaled, gamma)
      active = PRelu(hidden, slope)
      out = MatMul(active, head)
      y = Add(out, bias)
      three = Unsqueeze <axes = [0]> (centred)
      squared = Mul(three, power)
      z = Squeeze <axes = [0]> (squared)
    })";
  auto model = importText(text, {}, 11);
  auto why = [&](const char *name) { return model.argument(name, "accc.unclear"); };
  CHECK(why("scale") == "a single number: 0.5");
  CHECK(why("power") == "a single number: 2");
  CHECK(why("mean") == "arithmetic on the input data: [3] of 1, 2, 3");
  for (const char *name : {"w", "gamma", "head", "bias", "slope"})
    CHECK(why(name).empty());
  ImportOptions options;
  options.frozen = {"scale"};
  CHECK(importText(text, options, 11).argument("scale", "accc.unclear").empty());
  // What it is added to may be known when the model is compiled, and of no layer.
  auto known = importText(R"(
    g (float[2,1] x) => (float[2,1] y) <float[1,1] offset = {2}, int64[2] shape = {2, 1}> {
      ones = ConstantOfShape <value = float[1] {1}> (shape)
      sum = Add(ones, offset)
      y = Add(x, sum)
    })",
                          {}, 17);
  CHECK(known.argument("offset", "accc.unclear") == "a single number: 2");
  // A name of a module that PyTorch wrote is proof; one that it made up speaks against a parameter.
  auto torch = importText(R"(
    g (float[2] x) => (float[2] y)
      <float norm__scale = {2}, float scale = {3}, float[2] val_1 = {1,2}, float[2,2] val_2 = {1,2,3,4}> {
      a = MatMul(x, val_2)
      b = Mul(a, norm__scale)
      c = Mul(b, val_1)
      y = Mul(c, scale)
    })",
                          {}, 17, "pytorch");
  CHECK(torch.argument("norm.scale", "accc.unclear").empty());
  CHECK(torch.argument("val_2", "accc.unclear").empty());
  CHECK(torch.argument("scale", "accc.unclear") == "a single number: 3");
  CHECK(torch.argument("val_1", "accc.unclear") ==
        "made by the exporter or an optimizer: [2] of 1, 2");
}

TEST_CASE("a state that a recurrent layer starts from may be a parameter or a constant") {
  auto model = importText(R"(
    g (float[3,1,2] x) => (float[3,1,1,1] y)
      <float[1,4,2] w = {1,2,3,4,5,6,7,8}, float[1,4,1] r = {1,2,3,4}, float[1,8] b = {1,2,3,4,5,6,7,8},
       float[1,1,1] h = {0}, float[1,1,1] c = {1}> {
      y = LSTM <hidden_size = 1> (x, w, r, b, , h, c)
    })");
  CHECK(model.argument("h", "accc.unclear") == "the state that a layer starts from: 0");
  CHECK(model.argument("c", "accc.unclear") == "the state that a layer starts from: 1");
  CHECK(model.argument("b", "accc.unclear").empty());
}

TEST_CASE(
    "numbers of a one-hot encoding, and what a scatter takes, may be parameters or constants") {
  auto model = importText(R"(
    g (float[3,2] x, int64[2,1] i) => (float[3,2] y)
      <float[2,2] w = {1,2,3,4}, float[2] numbers = {0,1}, int64 depth = {2}, float[3,2] ones = {1,1,1,1,1,1},
       float[4] token = {0,0,0,0}, int64[2] shape = {2,2}, int64[3] at = {1,0,1}, float[3,2] table = {1,2,3,4,5,6}> {
      hidden = MatMul(x, w)
      hot = OneHot(at, depth, numbers)
      chosen = Mul(hidden, hot)
      rows = Reshape(token, shape)
      into = ScatterND(ones, i, rows)
      first = ScatterND(table, i, rows)
      seen = Gather(table, at)
      y = Sum(chosen, into, first, seen)
    })");
  REQUIRE(model.problems().empty());
  auto why = [&](const char *name) { return model.argument(name, "accc.unclear"); };
  CHECK(why("numbers") == "the numbers of a one-hot encoding: [2] of 0, 1");
  CHECK(why("ones") == "written by a scatter, or written into: [3, 2] of 1, 1, 1, ...");
  CHECK(why("token") == "written by a scatter, or written into: [4] of 0, 0, 0, ...");
  CHECK(why("table").empty()); // a lookup table in another place
}

TEST_CASE("operators of ONNX Runtime are refused with the file to compile in place of it") {
  CHECK_THAT(
      importBytes(modelBytes("g (float[2] x) => (float[2] y) { y = com.microsoft.FastGelu(x) }"))
          .problems(),
      Contains("ONNX Runtime writes it when it optimizes a model for inference; compile the "
               "file that it read"));
}

TEST_CASE("open dimensions are fixed by name or position, or all asked for") {
  const char *text = "g (float[batch,3] x, float[N,3] z) => (float[batch,3] y) { y = Add(x, z) }";
  CHECK_THAT(importText(text).problems(), Contains("-D batch=N") && Contains("-D N=N"));
  ImportOptions options;
  options.dimensions = {{"batch", 4}, {"z.0", 1}};
  CHECK_THAT(importText(text, options).text(), Contains("tensor<4x3xf32>"));
  options.dimensions = {{"batch", 4}, {"N", 1}, {"bacth", 2}, {"x.1", 3}, {"z.1", 4}};
  CHECK_THAT(
      importText(text, options).problems(),
      Contains("-D bacth: no input leaves a dimension of this name open (open: 'N', 'batch')") &&
          Contains("-D z.1=4, but the model fixes it at 3") && !Contains("-D x.1"));
}

TEST_CASE("all that stands in the way is reported, by node") {
  auto model = importText(R"(
    g (float[2,3] x) => (float[2,3] y) {
      a = NoSuchOperator(x)
      b = AlsoUnknown(a)
      c = MatMul(x, x)
      y = Add(b, c)
    })");
  CHECK(model.result.problems.size() == 3);
  CHECK_THAT(model.problems(), Contains("(NoSuchOperator)") && Contains("(AlsoUnknown)") &&
                                   Contains("node 'c' (MatMul)"));
  CHECK(!model.result.module);
}

TEST_CASE("an output that is listed several times is one") {
  auto model = importText(
      "(float[2] x) => (float[2] y, float[2] z, float[2] y) { y = Relu(x)\n z = Neg(y) }");
  REQUIRE(model.problems().empty());
  CHECK(model.forward().getNumResults() == 2);
  CHECK_THAT(model.warnings(), Contains("the output 'y' is in the file several times"));
}

TEST_CASE("the same bits as integers of 64 bits are known") {
  // 1.5000000000000002 is 0x3FF8000000000001, which no double holds.
  auto model = importText(R"(
    g (float[4] x) => (float[2,2] y) {
      number = Constant<value = double[1] {1.5000000000000002}>()
      bits = BitCast<to = 7>(number)
      back = BitCast<to = 11>(bits)
      two = Ceil(back)
      size = Cast<to = 7>(two)
      shape = Concat<axis = 0>(size, size)
      y = Reshape(x, shape)
    })",
                          {}, 26);
  CHECK(model.problems() == "");
}

TEST_CASE("shapes computed from shapes are known") {
  auto model = importText(R"(
    g (float[4,6] x) => (float[4,2,3] y) <int64[1] zero = {0}, int64 one = {1}, int64[1] two = {2}> {
      s = Shape(x)
      n = Gather(s, zero)
      m = Gather(s, one)
      k = Div(m, two)
      shape = Concat <axis = 0> (n, two, k)
      y = Reshape(x, shape)
    })");
  CHECK_THAT(model.text(), Contains("tensor<4x2x3xf32>") && !Contains("prim.concatenate"));
}

// Each line computes `s`, int64 [2, 3] or what broadcasts or converts to it, from the shape [4, 6].
TEST_CASE("whatever exporters compute shapes with is evaluated") {
  const char *lines[] = {
      // composites with a bound or two, on the floats that sizes were cast to
      "c = Clip(f, zero)  d = Div(c, two)  s = Concat <axis = 0> (d, three)",
      "c = Clip(f, , four)  d = Div(c, two)  s = Concat <axis = 0> (d, three)",
      "c = Clip(f, zero, four)  d = Div(c, two)  s = Concat <axis = 0> (d, three)",
      "c = Relu(f)  d = Div(c, two)  s = Concat <axis = 0> (d, three)",
      "c = LeakyRelu(f)  d = Div(c, two)  s = Concat <axis = 0> (d, three)",
      "c = HardSigmoid <alpha = 0.5, beta = -1.0> (four)  d = Add(c, one)  s = Concat <axis = 0> "
      "(d, three)",
      "c = Softmax <axis = 0> (f)  d = Mul(c, two)  s = Concat <axis = 0> (d, three)",
      // arithmetic
      "c = Div(f, two)  s = Concat <axis = 0> (c, three)",
      "c = Mod <fmod = 1> (six, four)  s = Concat <axis = 0> (c, three)",
      "c = Neg(f)  d = Abs(c)  e = Sub(d, two)  s = Concat <axis = 0> (e, three)",
      "c = Sign(f)  d = Add(c, c)  s = Concat <axis = 0> (d, three)",
      "c = Div(f, three)  d = Ceil(c)  s = Concat <axis = 0> (d, three)",
      "c = Div(f, three)  d = Floor(c)  e = Add(d, d)  s = Concat <axis = 0> (e, three)",
      "c = Div(six, four)  d = Round(c)  s = Concat <axis = 0> (d, three)",
      "c = Sqrt(f)  s = Concat <axis = 0> (c, three)",
      "c = Pow(f, half)  s = Concat <axis = 0> (c, three)",
      "c = Reciprocal(half)  s = Concat <axis = 0> (c, three)",
      "c = Max(two, one)  d = Min(three, six)  s = Concat <axis = 0> (c, d)",
      "c = Sum(one, one)  d = Mean(three, three)  s = Concat <axis = 0> (c, d)",
      // choice
      "c = Equal(f, four)  d = Where(c, two, six)  s = Concat <axis = 0> (d, three)",
      "c = Less(f, four)  d = Not(c)  e = Where(d, two, six)  s = Concat <axis = 0> (e, three)",
      "c = Greater(f, two)  d = LessOrEqual(f, four)  e = And(c, d)  h = Where(e, two, six)"
      "  s = Concat <axis = 0> (h, three)",
      "c = GreaterOrEqual(f, two)  d = Equal(f, two)  e = Or(c, d)  i = Xor(e, d)  h = Where(i, "
      "two, six)"
      "  s = Concat <axis = 0> (h, three)",
      // reductions
      "c = Concat <axis = 0> (two, three)  d = ReduceProd <axes = [0]> (c)  e = Div(d, three)"
      "  s = Concat <axis = 0> (e, three)",
      "c = Concat <axis = 0> (one, two)  d = ReduceSum(c)  e = ReduceMax <axes = [0]> (c)"
      "  s = Concat <axis = 0> (e, d)",
      "c = Concat <axis = 0> (one, two)  d = CumSum(c, i0)  h = Add(c, one)  s = Identity(h)",
      "c = Concat <axis = 0> (one, three)  d = ReduceMean <axes = [0]> (c)  s = Concat <axis = 0> "
      "(d, three)",
      "c = Concat <axis = 0> (six, two)  a = ArgMax <axis = 0> (c)  d = Cast <to = 1> (a)"
      "  e = Add(d, two)  s = Concat <axis = 0> (e, three)",
      // views and lists
      "n = ConstantOfShape <value = float[1] {2}> (i1)  s = Concat <axis = 0> (n, three)",
      "r = Range(z, q, o)  d = Slice(r, i2, i4)  s = Cast <to = 7> (d)",
      "c = Expand(one, i2)  d = Concat <axis = 0> (zero1, one)  e = Add(c, one)  t = Sub(e, one)"
      "  h = Add(t, d)  s = Add(h, one)",
      "c = Tile(two, i2)  d = Concat <axis = 0> (zero1, one)  s = Add(c, d)",
      "c = Concat <axis = 0> (three, two)  d = Gather(c, perm)  s = Identity(d)",
      "c = Concat <axis = 0> (three, two)  d = Unsqueeze(c, i0l)  e = Transpose(d)  h = Squeeze(e, "
      "i1)"
      "  s = Gather(h, perm)",
      "c, d = Split(pair)  s = Concat <axis = 0> (c, d)",
      "c = Concat <axis = 0> (two, three)  d = ScatterElements(c, i0l, two)  s = Identity(d)",
      "c = Concat <axis = 0> (zero1, two, three)  m = NonZero(c)  d = Reshape(m, i2)  e = Cast <to "
      "= 1> (d)"
      "  s = Add(e, one)",
      "c = Pad(two, padding, t0)  s = Identity(c)",
      "c = OneHot(i1, i2, onoff)  d = Reshape(c, i2)  e = Add(d, two)  s = Identity(e)",
      "u = Cast <to = 10> (two)  v = Cast <to = 11> (u)  w = Cast <to = 1> (v)  s = Concat <axis = "
      "0> (w, three)",
  };
  for (const char *line : lines) {
    std::string text = line;
    for (size_t at; (at = text.find("  ")) != std::string::npos;)
      text.replace(at, 2, "\n");
    INFO(text);
    auto model = importText(R"(
      g (float[4,6] x) => (float[2,3,4] y)
        <float zero = {0}, float[1] zero1 = {0}, float[1] one = {1}, float[1] two = {2}, float[1] three = {3},
         float[1] six = {6}, float four = {4}, float[1] half = {0.5}, float[2] pair = {2, 3}, float t0 = {3},
         float[2] onoff = {0, 1}, int64 i0 = {0}, int64[1] i0l = {0}, int64[1] i1 = {1}, int64[1] i2 = {2},
         int64[1] i4 = {4}, int64[2] perm = {1, 0}, int64[2] padding = {0, 1}, int64 z = {0}, int64 q = {6},
         int64 o = {1}, int64[1] four1 = {4}> {
        shape = Shape(x)
        fours = Slice(shape, i0l, i1)
        f = Cast <to = 1> (fours)
        )" + text + R"(
        whole = Cast <to = 7> (s)
        target = Concat <axis = 0> (whole, four1)
        y = Reshape(x, target)
      })");
    CHECK(model.problems() == "");
  }
}

TEST_CASE("a branch with a known condition is taken, another computes both") {
  const char *known = R"(
    g (float[2] x) => (float[2] y) <bool c = {1}> {
      y = If (c) <then_branch = t () => (float[2] a) { a = Neg(x) }, else_branch = e () => (float[2] b) { b = Exp(x) }>
    })";
  CHECK_THAT(importText(known).text(), Contains("prim.neg") && !Contains("prim.exp"));
  const char *open = R"(
    g (float[2] x, bool c) => (float[2] y) {
      y = If (c) <then_branch = t () => (float[2] a) { a = Neg(x) }, else_branch = e () => (float[2] b) { b = Exp(x) }>
    })";
  CHECK_THAT(importText(open).text(), Contains("prim.select"));
}

TEST_CASE("model-local functions are inlined with the caller's attributes") {
  std::string bytes = modelBytes(
      "g (float[2] x) => (float[2] y) { y = local.leaky <slope = 0.25> (x) }", 17, "", R"(
    <opset_import: ["" : 17], domain: "local"> leaky <slope> (a) => (b) { b = LeakyRelu <alpha : float = @slope> (a) })");
  CHECK_THAT(importBytes(bytes).text(), Contains("alpha = 2.5"));
}

TEST_CASE("model-local functions have defaults of attributes, and overloads") {
  onnx::ModelProto model;
  REQUIRE(model.ParseFromString(modelBytes(
      "g (float[2] x) => (float[2] y) { a = local.leaky(x) b = local.leaky <slope = 0.25> (a)"
      " y = local.leaky(b) }",
      17, "", R"(
    <opset_import: ["" : 17], domain: "local"> leaky <slope> (a) => (b) { b = LeakyRelu <alpha : float = @slope> (a) }
    <opset_import: ["" : 17], domain: "local"> leaky (a) => (b) { b = Exp(a) })")));
  // Fields of ONNX 1.13 and 1.16: attribute_proto, and overload of functions and of nodes.
  auto addField = [](google::protobuf::Message *message, int field, const std::string &bytes) {
    message->GetReflection()->MutableUnknownFields(message)->AddLengthDelimited(field, bytes);
  };
  onnx::AttributeProto slope;
  slope.set_name("slope");
  slope.set_type(onnx::AttributeProto::FLOAT);
  slope.set_f(0.125f);
  addField(model.mutable_functions(0), 11, slope.SerializeAsString());
  addField(model.mutable_functions(1), 13, "exponential");
  addField(model.mutable_graph()->mutable_node(2), 8, "exponential");
  CHECK_THAT(importBytes(model.SerializeAsString()).text(), Contains("alpha = 1.250000e-01") &&
                                                                Contains("alpha = 2.500000e-01") &&
                                                                Contains("prim.exp"));
}

TEST_CASE("numbers are read as their author wrote them") {
  auto model = importText("g (float[2] x) => (float[2] y) { y = LeakyRelu <alpha = 0.1> (x) }");
  CHECK_THAT(model.text(), Contains("alpha = 1.000000e-01 : f64"));
}
