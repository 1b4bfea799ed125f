// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Activations and softmax.
#include "frontend/aten/Backward.h"
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Parts.h"
#include "frontend/aten/Promotion.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Indexing.h"
#include "ir/nn/Nn.h"

#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

Tensor gradientOf(Node &node) { return node.floatIn("grad_output"); }

/// A backward rule of single elements with its gradient and its other operand in one shape: they
/// broadcast like all operands, which vmap makes use of.
Entities alike(Node &node, Rule rule, StringRef operand, StringRef gradient = "grad_output") {
  auto [g, x] = node.broadcast(node.floatIn(gradient), node.floatIn(operand));
  node.set(gradient, g.get());
  node.set(operand, x.get());
  return rule(node);
}
template <Rule rule> Entities alike(Node &node) { return alike(node, rule, "self"); }
template <Rule rule> Entities alikeResult(Node &node) { return alike(node, rule, "output"); }

template <typename Op> Entities plain(Node &node) {
  return {node.make<Op>({node.floatIn("self")})};
}
template <Tensor (*Operator)(Tensor)> Entities primitive(Node &node) {
  return {Operator(asFloat(node, node.in("self")))};
}

/// Integers have no composite.
Entities relu(Node &node) {
  Tensor x = node.in("self");
  return {isa<FloatType>(x.elementType()) ? node.make<nn::ReluOp>({x}) : prim::max(x, 0.0)};
}

Tensor clampTo(Node &node, Tensor x, double low, double high) {
  return node.make<nn::ClampOp>({x}, {node.f64("min", low), node.f64("max", high)});
}
Entities hardtanh(Node &node) {
  return {clampTo(node, node.floatIn("self"), node.number("min_val"), node.number("max_val"))};
}
Entities relu6(Node &node) { return {clampTo(node, node.floatIn("self"), 0, 6)}; }

Entities hardSigmoid(Node &node) {
  return {node.make<nn::HardSigmoidOp>({node.floatIn("self")},
                                       {node.f64("alpha", 1.0 / 6), node.f64("beta", 0.5)})};
}

Entities gelu(Node &node) {
  std::string approximate = node.string("approximate");
  if (approximate != "none" && approximate != "tanh")
    fail("'approximate' must be none or tanh, not '" + approximate + "'");
  auto form = approximate == "tanh" ? nn::GeluForm::tanh : nn::GeluForm::erf;
  return {node.make<nn::GeluOp>({node.floatIn("self")},
                                {node.attr("form", nn::GeluFormAttr::get(&node.context(), form))})};
}

Entities leakyRelu(Node &node) {
  return {node.make<nn::LeakyReluOp>({node.floatIn("self")},
                                     {node.f64("alpha", node.number("negative_slope"))})};
}

/// scale (x where x > 0, else alpha (e^(input_scale x) - 1))
Entities elu(Node &node) {
  if (node.number("input_scale") != 1)
    fail("an input_scale other than 1 is not supported");
  Tensor y =
      node.make<nn::EluOp>({node.floatIn("self")}, {node.f64("alpha", node.number("alpha"))});
  double scale = node.number("scale");
  return {scale == 1 ? y : y * scale};
}
Entities celu(Node &node) {
  return {node.make<nn::CeluOp>({node.floatIn("self")}, {node.f64("alpha", node.number("alpha"))})};
}
Entities selu(Node &node) {
  return {node.make<nn::SeluOp>({node.floatIn("self")},
                                {node.f64("alpha", 1.6732632423543772848170429916717),
                                 node.f64("gamma", 1.0507009873554804934193349852946)})};
}

/// Where softplus and its derivative are, but for rounding, those of the identity.
constexpr double kSoftplusIsLinear = 20;

/// log(1 + e^(beta x)) / beta; x where beta x > threshold, which is a matter of rounding alone
/// unless the threshold is low.
Entities softplus(Node &node) {
  Tensor x = node.floatIn("self");
  double beta = node.number("beta"), threshold = node.number("threshold");
  Tensor scaled = beta == 1 ? x : x * beta;
  Tensor y = node.make<nn::SoftplusOp>({scaled});
  if (beta != 1)
    y = y / beta;
  return {threshold < kSoftplusIsLinear ? prim::select(scaled > threshold, x, y) : y};
}

/// Beside it what PyTorch's backward pass starts from.
Entities logSigmoid(Node &node) {
  Tensor x = node.floatIn("self"), y = node.make<nn::SoftplusOp>({-x});
  return {-y, detach(prim::exp(-prim::abs(x)))};
}

Entities threshold(Node &node) {
  Tensor x = node.in("self");
  return {prim::select(x <= node.number("threshold"), node.number("value"), x)}; // NaN stays
}

/// One slope, or one a channel.
Entities prelu(Node &node) {
  Tensor x = node.floatIn("self"), slope = node.floatIn("weight");
  if (slope.size() == 1)
    slope = slope.reshape({});
  else if (slope.rank() == 1 && x.rank() > 1) {
    SmallVector<int64_t> shape(x.rank() - 1, 1);
    shape[0] = slope.dim(0);
    slope = node.reshape(slope, shape);
  }
  return {node.make<nn::PreluOp>({x, slope}, {}, {x.type()})};
}

/// The first half times the logistic function of the second.
Entities glu(Node &node) {
  Tensor x = node.floatIn("self");
  int64_t dim = node.dim("dim", x), half = x.dim(dim) / 2;
  if (x.dim(dim) % 2 != 0)
    fail("an odd dimension has no halves");
  return {x.sliceDim(dim, 0, half) * prim::logistic(x.sliceDim(dim, half, 2 * half))};
}

Entities hardShrink(Node &node) {
  Tensor x = node.floatIn("self");
  double lambd = node.number("lambd");
  return {prim::select(prim::abs(x) <= lambd, x.full(0.0), x)};
}
Entities softShrink(Node &node) {
  Tensor x = node.floatIn("self");
  double lambd = node.number("lambd");
  Tensor toward = prim::select(x > 0.0, x - lambd, x + lambd); // NaN is none of both, and stays
  return {prim::select(prim::abs(x) <= lambd, x.full(0.0), toward)};
}

// ---- a slope by chance ----

/// Below 0, times a slope that is drawn from [lower, upper], or in evaluation times their mean.
struct RandomSlope {
  Tensor x;
  double lower, upper;
  bool trains;

  explicit RandomSlope(Node &node)
      : x(node.floatIn("self")), lower(node.number("lower")), upper(node.number("upper")),
        trains(node.boolean("training")) {}
  /// 1 where x is positive.
  Tensor slopes(Node &node) const {
    Tensor slope = x.full((lower + upper) / 2);
    if (trains) {
      Tensor drawn =
          node.make<nn::RandomUniformOp>({node.forward().randomKey()},
                                         {node.f64("low", lower), node.f64("high", upper),
                                          node.i64("stream", node.forward().nextStream())},
                                         {x.type()});
      slope = node.make<nn::ByModeOp>({drawn, slope});
    }
    return prim::select(x <= 0.0, slope, x.full(1.0));
  }
};
Entities randomLeakyRelu(Node &node) {
  RandomSlope random(node);
  return {random.x * random.slopes(node)};
}
/// The slopes are written into `noise`, of which nothing is taken.
Entities randomLeakyReluWithNoise(Node &node) {
  RandomSlope random(node);
  Tensor slopes = random.slopes(node);
  if (random.trains)
    node.write("noise", slopes);
  return {random.x * slopes};
}
Entities randomLeakyReluAndNoise(Node &node) {
  RandomSlope random(node);
  Tensor slopes = random.slopes(node);
  return {random.x * slopes, random.trains ? slopes : node.floatIn("noise")};
}
Entities randomLeakyReluBackward(Node &node) {
  RandomSlope random(node);
  Tensor slopes = random.trains ? node.floatIn("noise") : random.slopes(node);
  return {gradientOf(node) * slopes};
}

// ---- softmax ----

Tensor softmaxArgument(Node &node) {
  Tensor x = node.in("self");
  return asVector(asFloat(node, x.convert(node.elementType("dtype", x.elementType()))));
}
/// In the shape of the argument.
Entities softmaxResult(Node &node, Tensor y) { return {y.reshape(node.in("self").shape())}; }

template <typename Op> Entities softmax(Node &node) {
  Tensor x = softmaxArgument(node);
  return softmaxResult(node, node.make<Op>({x}, {node.i64("dimension", node.dim("dim", x))}));
}

/// Zero where all of a row is -inf, as in a row of attention that is masked throughout, and so is
/// the gradient there.
Entities safeSoftmax(Node &node) {
  Tensor x = softmaxArgument(node);
  int64_t dim = node.dim("dim", x);
  Tensor isMasked = prim::equal(prim::reduce(prim::ReduceKind::max, x, {dim}),
                                -std::numeric_limits<double>::infinity())
                        .broadcastAlong(x.shape(), {dim});
  Tensor y = node.make<nn::SoftmaxOp>({prim::select(isMasked, x.full(0.0), x)},
                                      {node.i64("dimension", dim)});
  return softmaxResult(node, prim::select(isMasked, y.full(0.0), y));
}

// ---- backward ----

/// Of what is the number `self` or its bound: the gradient passes where it is the number. A relu's
/// own result may stand for self.
Entities thresholdBackward(Node &node) {
  Tensor g = gradientOf(node), x = node.floatIn("self");
  return {prim::select(x <= node.number("threshold"), g.full(0.0), g)};
}
Entities hardtanhBackward(Node &node) {
  Tensor g = gradientOf(node), x = node.floatIn("self");
  Tensor isBound = prim::bitOr(x <= node.number("min_val"), x >= node.number("max_val"));
  return {prim::select(isBound, g.full(0.0), g)};
}
Entities leakyReluBackward(Node &node) {
  Tensor g = gradientOf(node), x = node.floatIn("self");
  return {prim::select(x > 0.0, g, g * node.number("negative_slope"))};
}

/// With y = scale (x, or alpha (e^(c x) - 1) below 0): dx = dy scale, below 0 dy scale alpha c e^(c
/// x), which is dy c (y + scale alpha).
Entities eluBackward(Node &node) {
  Tensor g = gradientOf(node), x = node.floatIn("self_or_result");
  double scale = node.number("scale"), c = node.number("input_scale"),
         alpha = node.number("alpha") * scale;
  Tensor below = node.boolean("is_result") ? (x + alpha) * c : prim::exp(x * c) * (alpha * c);
  return {g * prim::select(x <= 0.0, below, below.full(scale))};
}

/// dy / (1 + e^(-beta x)); dy where beta x > threshold
Entities softplusBackward(Node &node) {
  Tensor g = gradientOf(node), scaled = node.floatIn("self") * node.number("beta");
  Tensor y = g * prim::logistic(scaled);
  double threshold = node.number("threshold");
  return {threshold < kSoftplusIsLinear ? prim::select(scaled > threshold, g, y) : y};
}

/// dy y (1 - y)
Entities sigmoidBackward(Node &node) {
  Tensor y = node.floatIn("output");
  return {gradientOf(node) * (y * (1.0 - y))};
}
/// dy (1 - y y)
Entities tanhBackward(Node &node) {
  Tensor y = node.floatIn("output");
  return {gradientOf(node) * (1.0 - y * y)};
}
/// The conjugate of 1 - y^2 is what the gradient of a complex y is multiplied by.
Entities tanhBackwardOfAny(Node &node) {
  if (!node.hasComplex())
    return alikeResult<tanhBackward>(node);
  Complex y = node.complexIn("output");
  Complex slope = Complex(y.real.full(1.0)) + y * y * -1.0;
  return {(node.complexIn("grad_output") * conjugate(slope)).value(node)};
}

Entities preluBackward(Node &node) {
  SmallVector<Tensor> gradients =
      pullBack(node, prelu, {{"self", node.floatIn("self")}, {"weight", node.floatIn("weight")}},
               gradientOf(node));
  return {gradients[0], gradients[1]};
}

template <bool hard> Entities shrinkBackward(Node &node) {
  Tensor g = node.floatIn(hard ? "grad_out" : "grad_output"), x = node.floatIn("self");
  return {prim::select(prim::abs(x) <= node.number("lambd"), g.full(0.0), g)};
}

/// Sums along the softmax's dimension, in its type.
struct SoftmaxGradient {
  Tensor g, y;
  int64_t dim;

  explicit SoftmaxGradient(Node &node)
      : g(asVector(gradientOf(node))), y(asVector(node.floatIn("output"))),
        dim(node.dim("dim", y)) {
    if (g.shape() != y.shape())
      fail("a gradient of shape " + show(g.shape()) + " for a result of shape " + show(y.shape()));
    g = g.convert(y.elementType());
  }
  Tensor total(Tensor x) const { return prim::sum(x, {dim}).broadcastAlong(x.shape(), {dim}); }
  /// In the type and shape of the input.
  Entities result(Node &node, Tensor dx) const {
    Type type = node.elementType("input_dtype", y.elementType());
    return {dx.convert(type).reshape(node.in("output").shape())};
  }
};
/// y (dy - sum of dy y)
Entities softmaxBackward(Node &node) {
  SoftmaxGradient of(node);
  Tensor weighted = of.g * of.y;
  return of.result(node, weighted - of.y * of.total(weighted));
}
/// dy - e^y (sum of dy)
Entities logSoftmaxBackward(Node &node) {
  SoftmaxGradient of(node);
  return of.result(node, of.g - prim::exp(of.y) * of.total(of.g));
}

} // namespace

ArrayRef<OpRow> accc::aten::activationOps() {
  static const OpRow rows[] = {
      {"relu(self)", relu},
      {"relu6(self)", relu6},
      {"gelu(self, *, approximate='none')", gelu},
      {"silu(self)", plain<nn::SiluOp>},
      {"mish(self)", plain<nn::MishOp>},
      {"sigmoid(self)", primitive<prim::logistic>},
      {"tanh(self)", orComplex<primitive<prim::tanh>, frontend::tanh>},
      {"hardtanh(self, min_val=-1, max_val=1)", hardtanh},
      {"hardswish(self)", plain<nn::HardSwishOp>},
      {"hardsigmoid(self)", hardSigmoid},
      {"leaky_relu(self, negative_slope=0.01)", leakyRelu},
      {"elu(self, alpha=1, scale=1, input_scale=1)", elu},
      {"celu(self, alpha=1.0)", celu},
      {"selu(self)", selu},
      {"softplus(self, beta=1, threshold=20)", softplus},
      {"softsign(self)", plain<nn::SoftsignOp>},
      {"log_sigmoid(self)", logSigmoid},
      {"log_sigmoid_forward(self)", logSigmoid},
      {"threshold(self, threshold, value)", threshold},
      {"prelu(self, weight)", prelu},
      {"_prelu_kernel(self, weight)", prelu},
      {"glu(self, dim=-1)", glu},
      {"hardshrink(self, lambd=0.5)", hardShrink},
      {"softshrink(self, lambd=0.5)", softShrink},
      {"rrelu(self, lower=0.125, upper=0.333333333333333315, training=False)", randomLeakyRelu},
      {"rrelu_with_noise(self, noise, lower=0.125, upper=0.333333333333333315, training=False)",
       randomLeakyReluWithNoise},
      {"rrelu_with_noise_functional(self, noise, lower=0.125, upper=0.333333333333333315, "
       "training=False)",
       randomLeakyReluAndNoise},
      {"rrelu_with_noise_backward(grad_output, self, noise, lower, upper, training, "
       "self_is_result=False)",
       randomLeakyReluBackward},
      {"softmax(self, dim, dtype=None)", softmax<nn::SoftmaxOp>, Alias::None, selected::softmax},
      {"_softmax(self, dim, half_to_float=False, dtype=None)", softmax<nn::SoftmaxOp>, Alias::None,
       selected::softmax},
      {"_safe_softmax(self, dim, dtype=None)", safeSoftmax},
      {"special_softmax(self, dim, dtype=None)", softmax<nn::SoftmaxOp>},
      {"log_softmax(self, dim, dtype=None)", softmax<nn::LogSoftmaxOp>, Alias::None,
       selected::softmax},
      {"special_log_softmax(self, dim, *, dtype=None)", softmax<nn::LogSoftmaxOp>, Alias::None,
       selected::softmax},
      {"_log_softmax(self, dim, half_to_float=False, dtype=None)", softmax<nn::LogSoftmaxOp>,
       Alias::None, selected::softmax},

      {"threshold_backward(grad_output, self, threshold)", alike<thresholdBackward>},
      {"hardtanh_backward(grad_output, self, min_val, max_val)", alike<hardtanhBackward>},
      {"leaky_relu_backward(grad_output, self, negative_slope, self_is_result)",
       alike<leakyReluBackward>},
      {"elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result)",
       [](Node &node) { return alike(node, eluBackward, "self_or_result"); }},
      {"softplus_backward(grad_output, self, beta, threshold)", alike<softplusBackward>},
      {"sigmoid_backward(grad_output, output)", alikeResult<sigmoidBackward>},
      {"tanh_backward(grad_output, output)", tanhBackwardOfAny},
      {"gelu_backward(grad_output, self, *, approximate='none')", alike<backward<gelu>>},
      {"silu_backward(grad_output, self)", alike<backward<plain<nn::SiluOp>>>},
      {"mish_backward(grad_output, self)", alike<backward<plain<nn::MishOp>>>},
      {"hardswish_backward(grad_output, self)", alike<backward<plain<nn::HardSwishOp>>>},
      {"hardsigmoid_backward(grad_output, self)", alike<backward<hardSigmoid>>},
      {"log_sigmoid_backward(grad_output, self, buffer)", alike<backward<logSigmoid>>},
      {"glu_backward(grad_output, self, dim)", backward<glu>},
      {"_prelu_kernel_backward(grad_output, self, weight)", preluBackward},
      {"hardshrink_backward(grad_out, self, lambd)",
       [](Node &node) { return alike(node, shrinkBackward<true>, "self", "grad_out"); }},
      {"softshrink_backward(grad_output, self, lambd)", alike<shrinkBackward<false>>},
      {"_softmax_backward_data(grad_output, output, dim, input_dtype)", softmaxBackward,
       Alias::None, selected::softmaxBackward},
      {"_log_softmax_backward_data(grad_output, output, dim, input_dtype)", logSoftmaxBackward,
       Alias::None, selected::softmaxBackward},
  };
  return rows;
}
