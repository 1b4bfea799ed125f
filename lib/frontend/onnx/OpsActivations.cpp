// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Activations and softmax.
#include "frontend/onnx/OpTable.h"
#include "ir/nn/Nn.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

template <typename Op> Entities plain(Node &node) { return {node.make<Op>({node.floatIn(0)})}; }
template <Tensor (*Operator)(Tensor)> Entities primitive(Node &node) {
  return {Operator(node.floatIn(0))};
}

/// Integers have no composite.
Entities relu(Node &node) {
  Tensor x = node.in(0);
  bool isFloat = isa<FloatType>(x.elementType());
  return {isFloat ? node.make<nn::ReluOp>({x}) : prim::max(x, 0.0)};
}

Entities gelu(Node &node) {
  std::string approximate = node.string("approximate", "none");
  if (approximate != "none" && approximate != "tanh")
    fail("'approximate' must be none or tanh, not '" + approximate + "'");
  auto form = approximate == "tanh" ? nn::GeluForm::tanh : nn::GeluForm::erf;
  return {node.make<nn::GeluOp>({node.floatIn(0)},
                                {node.attr("form", nn::GeluFormAttr::get(&node.context(), form))})};
}

/// An activation with one number, `alpha`.
template <typename Op> Entities withAlpha(Node &node, double alpha) {
  return {node.make<Op>({node.floatIn(0)}, {node.f64("alpha", node.real("alpha", alpha))})};
}
Entities leakyRelu(Node &node) { return withAlpha<nn::LeakyReluOp>(node, 0.01); }
Entities elu(Node &node) { return withAlpha<nn::EluOp>(node, 1.0); }
Entities celu(Node &node) { return withAlpha<nn::CeluOp>(node, 1.0); }
Entities thresholdedRelu(Node &node) { return withAlpha<nn::ThresholdedReluOp>(node, 1.0); }

Entities selu(Node &node) {
  bool old = node.opset() < 6;
  double alpha = node.real("alpha", old ? 1.6732 : 1.67326319217681884765625);
  double gamma = node.real("gamma", old ? 1.0507 : 1.05070102214813232421875);
  return {node.make<nn::SeluOp>({node.floatIn(0)},
                                {node.f64("alpha", alpha), node.f64("gamma", gamma)})};
}

Entities hardSigmoid(Node &node) {
  return {
      node.make<nn::HardSigmoidOp>({node.floatIn(0)}, {node.f64("alpha", node.real("alpha", 0.2)),
                                                       node.f64("beta", node.real("beta", 0.5))})};
}

Tensor swishOf(Node &node, Tensor x) {
  double alpha = node.real("alpha", 1.0);
  return alpha == 1.0 ? node.make<nn::SiluOp>({x}) : x * prim::logistic(x * alpha);
}
Entities swish(Node &node) { return {swishOf(node, node.floatIn(0))}; }
Entities swiGlu(Node &node) {
  Tensor gate = node.floatIn(0), value = node.floatIn(1);
  if (gate.type() != value.type())
    fail("the gate has the shape " + show(gate.shape()) + " for a value of shape " +
         show(value.shape()) + ", or another element type");
  return {swishOf(node, gate) * value};
}

Entities prelu(Node &node) {
  Tensor x = node.floatIn(0), slope = node.floatIn(1);
  // One slope a channel, before shapes were broadcast.
  if (node.opset() < 7 && slope.rank() == 1 && x.rank() > 2 && slope.dim(0) == x.dim(1)) {
    SmallVector<int64_t> shape(x.rank() - 1, 1);
    shape[0] = slope.dim(0);
    slope = slope.reshape(shape);
  }
  return {node.make<nn::PreluOp>({x, slope}, {}, {x.type()})};
}

Entities shrink(Node &node) {
  Tensor x = node.in(0);
  double lambd = node.real("lambd", 0.5), bias = node.real("bias", 0.0);
  return {prim::select(x < -lambd, x + bias, prim::select(x > lambd, x - bias, x.full(0.0)))};
}

// ---- softmax ----

/// Before operator set 13: over all dimensions from `axis` on, which was 1 by default.
template <typename Op> Entities softmax(Node &node) {
  Tensor x = node.floatIn(0);
  int64_t axis = node.integer("axis", node.opset() < 13 ? 1 : -1);
  if (node.opset() >= 13 || axis == -1 || axis == x.rank() - 1)
    return {node.make<Op>({x}, {node.i64("dimension", node.axis(axis, x.rank()))})};
  axis = node.axis(axis, x.rank());
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0; d < x.rank(); ++d)
    (d < axis ? outer : inner) *= x.dim(d);
  Tensor y = node.make<Op>({x.reshape({outer, inner})}, {node.i64("dimension", 1)});
  return {y.reshape(x.shape())};
}

/// 1 at the first greatest element along an axis, 0 elsewhere.
Entities hardmax(Node &node) {
  Tensor x = node.floatIn(0);
  int64_t axis = node.integer("axis", node.opset() < 13 ? 1 : -1);
  SmallVector<int64_t> shape(x.shape());
  if (node.opset() < 13) {
    axis = node.axis(axis, x.rank());
    int64_t outer = 1, inner = 1;
    for (int64_t d = 0; d < x.rank(); ++d)
      (d < axis ? outer : inner) *= x.dim(d);
    x = x.reshape({outer, inner});
    axis = 1;
  }
  axis = node.axis(axis, x.rank());
  if (x.dim(axis) == 0)
    return {node.in(0)};
  Tensor best = node.make<prim::ArgReduceOp>(
      {x}, {node.attr("kind", prim::ReduceKindAttr::get(&node.context(), prim::ReduceKind::max)),
            node.i64("dimension", axis)});
  RankedTensorType indices = x.type().clone(node.builder().getI64Type());
  Tensor hit = prim::equal(best.broadcastAlong(x.shape(), {axis}),
                           prim::iota(node.builder(), node.loc(), indices, axis));
  return {hit.convert(x.elementType()).reshape(shape)};
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::activationOps() {
  static const OpRow rows[] = {
      {"Relu", relu},
      {"Gelu", gelu},
      {"Sigmoid", primitive<prim::logistic>},
      {"Tanh", primitive<prim::tanh>},
      {"LeakyRelu", leakyRelu},
      {"Elu", elu},
      {"Celu", celu},
      {"Selu", selu},
      {"ThresholdedRelu", thresholdedRelu},
      {"HardSigmoid", hardSigmoid},
      {"HardSwish", plain<nn::HardSwishOp>},
      {"Softplus", plain<nn::SoftplusOp>},
      {"Softsign", plain<nn::SoftsignOp>},
      {"Mish", plain<nn::MishOp>},
      {"Swish", swish},
      {"SwiGLU", swiGlu},
      {"PRelu", prelu},
      {"Shrink", shrink},
      {"Softmax", softmax<nn::SoftmaxOp>},
      {"LogSoftmax", softmax<nn::LogSoftmaxOp>},
      {"Hardmax", hardmax},
  };
  return rows;
}
