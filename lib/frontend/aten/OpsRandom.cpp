// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dropout and random tensors. All draw from the key of the step, each from a stream of its own.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Promotion.h"
#include "ir/nn/Nn.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

double ratioOf(Node &node) {
  double ratio = node.real("p");
  if (!(ratio >= 0 && ratio <= 1))
    fail("the ratio must lie between 0 and 1");
  return ratio;
}

Tensor drop(Node &node, Tensor x, double ratio, int64_t stream) {
  return node.make<nn::DropoutOp>({x, node.forward().randomKey()},
                                  {node.f64("ratio", ratio), node.i64("stream", stream)},
                                  {x.type()});
}

/// The tensor itself, as PyTorch gives it where nothing is dropped.
Entities kept(Node &node, Tensor x) {
  node.share(Alias::View);
  node.lay(node.layoutOf(x));
  return {x};
}

Entities dropout(Node &node) {
  Tensor x = node.floatIn("input");
  double ratio = ratioOf(node);
  if (!node.boolean("train") || ratio == 0)
    return kept(node, x);
  return {drop(node, x, ratio, node.forward().nextStream())};
}

/// Beside it the mask of what was kept.
Entities nativeDropout(Node &node) {
  Tensor x = node.floatIn("input");
  double ratio = ratioOf(node);
  bool trains = !node.has("train") || node.boolean("train");
  if (!trains || ratio == 0)
    return {x, node.full(x.shape(), node.builder().getI1Type(), 1)};
  int64_t stream = node.forward().nextStream(); // the same stream gives the same mask
  return {drop(node, x, ratio, stream),
          prim::notEqual(drop(node, x.full(1.0), ratio, stream), 0.0)};
}

/// Whole channels of each sample.
Entities featureDropout(Node &node) {
  Tensor x = node.floatIn("input");
  double ratio = ratioOf(node);
  if (!node.boolean("train") || ratio == 0)
    return kept(node, x);
  if (x.rank() < 2)
    fail("an input of shape " + show(x.shape()) + " has no channels");
  Tensor ones = node.full(x.shape().take_front(2), x.elementType(), 1);
  return {x * drop(node, ones, ratio, node.forward().nextStream()).broadcast(x.shape(), {0, 1})};
}

// ---- random tensors ----

Tensor uniform(Node &node, RankedTensorType type, double low, double high) {
  return node.make<nn::RandomUniformOp>({node.forward().randomKey()},
                                        {node.f64("low", low), node.f64("high", high),
                                         node.i64("stream", node.forward().nextStream())},
                                        {type});
}
Tensor normal(Node &node, RankedTensorType type, double mean, double scale) {
  return node.make<nn::RandomNormalOp>({node.forward().randomKey()},
                                       {node.f64("mean", mean), node.f64("scale", scale),
                                        node.i64("stream", node.forward().nextStream())},
                                       {type});
}

RankedTensorType sized(Node &node) {
  return tensorType(node.integers("size"), node.elementType("dtype", node.builder().getF32Type()));
}
RankedTensorType likeSelf(Node &node) {
  Tensor x = node.in("self");
  return tensorType(x.shape(), node.elementType("dtype", x.elementType()));
}

Entities rand(Node &node) { return {uniform(node, sized(node), 0, 1)}; }
Entities randLike(Node &node) { return {uniform(node, likeSelf(node), 0, 1)}; }
Entities randn(Node &node) { return {normal(node, sized(node), 0, 1)}; }
Entities randnLike(Node &node) { return {normal(node, likeSelf(node), 0, 1)}; }
Entities uniformFill(Node &node) {
  return {uniform(node, node.in("self").type(), node.number("from"), node.number("to"))};
}
Entities normalFill(Node &node) {
  return {normal(node, node.in("self").type(), node.number("mean"), node.number("std"))};
}

/// Integers in [low, high).
Entities integersBetween(Node &node, RankedTensorType type) {
  double low = node.number("low"), high = node.number("high");
  Tensor x = uniform(node, type.clone(node.builder().getF64Type()), low, high);
  return {prim::floor(x).convert(type.getElementType())};
}
Entities randint(Node &node) {
  return integersBetween(node, tensorType(node.integers("size"),
                                          node.elementType("dtype", node.builder().getI64Type())));
}
Entities randintLike(Node &node) { return integersBetween(node, likeSelf(node)); }

Tensor bernoulliOf(Node &node, Tensor p, RankedTensorType type) {
  return node.make<nn::BernoulliOp>({p, node.forward().randomKey()},
                                    {node.i64("stream", node.forward().nextStream())}, {type});
}
/// With probability p, a number or a tensor, or else the elements themselves.
Entities bernoulli(Node &node) {
  Tensor x = node.in("self"),
         p = node.has("p") ? asTensor(node, "p", node.builder().getF32Type()) : x;
  return {bernoulliOf(node, asFloat(node, node.broadcastTo(p, x.shape())), x.type())};
}

} // namespace

ArrayRef<OpRow> accc::aten::randomOps() {
  static const OpRow rows[] = {
      {"dropout(input, p, train)", dropout},
      {"alpha_dropout(input, p, train)",
       [](Node &node) -> Entities {
         if (node.boolean("train") && node.real("p") != 0)
           fail("is not supported while it drops");
         return kept(node, node.in("input"));
       }},
      {"feature_dropout(input, p, train)", featureDropout},
      {"native_dropout(input, p, train)", nativeDropout},
      {"native_dropout_backward(grad_output, mask, scale)",
       [](Node &node) -> Entities {
         Tensor g = node.floatIn("grad_output");
         Tensor mask = node.broadcastTo(node.in("mask").convert(g.elementType()), g.shape());
         return {g * (mask * node.real("scale"))};
       }},
      {"rand(size, *, dtype=None)", rand},
      {"rand_like(self, *, dtype=None)", randLike},
      {"randn(size, *, dtype=None)", randn},
      {"randn_like(self, *, dtype=None)", randnLike},
      {"randint(high, size, *, dtype=None, low=0)", randint},
      {"randint.low(low, high, size, *, dtype=None)", randint},
      {"randint_like(self, high, *, dtype=None, low=0)", randintLike},
      {"randint_like.low_dtype(self, low, high, *, dtype=None)", randintLike},
      {"uniform(self, from=0, to=1)", uniformFill},
      {"normal_functional(self, mean=0, std=1)", normalFill},
      {"normal_(self, mean=0, std=1)", normalFill},
      {"bernoulli(self, p=None)", bernoulli},
  };
  return rows;
}
