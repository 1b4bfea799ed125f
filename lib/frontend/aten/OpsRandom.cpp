// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dropout and random tensors. All draw from the key of the step, each from a stream of its own.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Parts.h"
#include "frontend/aten/Promotion.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Formulas.h"
#include "frontend/common/Gradient.h"
#include "frontend/common/Indexing.h"
#include "ir/nn/Nn.h"

#include <cmath>

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

Entities dropout(Node &node) {
  Tensor x = node.floatIn("input");
  double ratio = ratioOf(node);
  if (!node.boolean("train") || ratio == 0)
    return itself(node, x);
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
    return itself(node, x);
  if (x.rank() < 2)
    fail("an input of shape " + show(x.shape()) + " has no channels");
  Tensor ones = node.full(x.shape().take_front(2), x.elementType(), 1);
  return {x * drop(node, ones, ratio, node.forward().nextStream()).broadcast(x.shape(), {0, 1})};
}

/// What is dropped becomes the least value of a selu, and all is scaled so that mean and variance
/// stay. `shape` broadcasts to that of x: whole features may be dropped.
Tensor alphaDropped(Node &node, Tensor x, ArrayRef<int64_t> shape, double ratio) {
  if (ratio == 1)
    return x * 0.0;
  constexpr double kLeast = -1.7580993408473766;
  double a = 1 / std::sqrt((kLeast * kLeast * ratio + 1) * (1 - ratio));
  Tensor ones = node.full(shape, x.elementType(), 1);
  Tensor kept = prim::notEqual(drop(node, ones, ratio, node.forward().nextStream()), 0.0);
  Tensor isKept = node.broadcastTo(kept, x.shape());
  return prim::select(isKept, x * a, x.full(kLeast * a)) - kLeast * a * ratio;
}
template <bool isFeature> Entities alphaDropout(Node &node) {
  Tensor x = node.floatIn("input");
  double ratio = ratioOf(node);
  if (!node.boolean("train") || ratio == 0)
    return itself(node, x);
  SmallVector<int64_t> shape(x.shape());
  if (isFeature) {
    if (x.rank() < 2)
      fail("an input of shape " + show(x.shape()) + " has no channels");
    std::fill(shape.begin() + 2, shape.end(), 1);
  }
  return {node.make<nn::ByModeOp>({alphaDropped(node, x, shape, ratio), x})};
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
  return tensorType(node.integers("size"),
                    node.elementType("dtype", node.forward().defaultFloat()));
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

/// Of one shape, with means and deviations that are numbers or tensors. The gradient of these is
/// zero.
Entities normalOf(Node &node) {
  Type type = resultType(node, {"mean", "std"});
  if (!isa<FloatType>(type))
    type = node.forward().defaultFloat();
  auto [mean, deviation] =
      node.broadcast(asTensor(node, "mean", type), asTensor(node, "std", type));
  if (!node.isTensor("mean") && !node.isTensor("std")) {
    type = node.elementType("dtype", type);
    mean = node.broadcastTo(mean.convert(type), node.integers("size"));
    deviation = node.broadcastTo(deviation.convert(type), node.integers("size"));
  }
  Tensor drawn = detach(mean) + detach(deviation) * normal(node, mean.type(), 0, 1);
  return {zeroDependence(zeroDependence(drawn, mean), deviation)};
}

// ---- distributions, of which the first argument has shape and type ----

/// Uniform between 0 and 1, neither of which it is.
Tensor inside(Node &node, RankedTensorType type) {
  if (!isa<FloatType>(type.getElementType()))
    type = type.clone(node.builder().getF32Type());
  return prim::max(uniform(node, type, 0, 1), 0x1p-25);
}
Tensor exponentialOf(Node &node, RankedTensorType type) {
  return -prim::log1p(-inside(node, type));
}
Entities exponential(Node &node) {
  return {exponentialOf(node, node.in("self").type()) / node.number("lambd")};
}
/// How many trials it takes to the first success.
Entities geometric(Node &node) {
  double p = node.number("p");
  if (!(p > 0 && p <= 1))
    fail("a probability is " + Twine(std::to_string(p)));
  Tensor trials = prim::ceil(exponentialOf(node, node.in("self").type()) / -std::log1p(-p));
  return {prim::max(trials, 1.0).convert(node.in("self").elementType())};
}
Entities logNormal(Node &node) {
  return {prim::exp(
      normal(node, node.floatIn("self").type(), node.number("mean"), node.number("std")))};
}
Entities cauchy(Node &node) {
  Tensor angle = (inside(node, node.floatIn("self").type()) - 0.5) * M_PI;
  return {frontend::tan(angle) * node.number("sigma") + node.number("median")};
}

// ---- choices ----

std::pair<Tensor, Tensor> sorted(Node &node, Tensor x, bool descending) {
  Operation *op = node.create<prim::SortOp>(
      {x}, {node.i64("dimension", x.rank() - 1), node.flag("descending", descending)});
  return {node.wrap(op->getResult(0)), node.wrap(op->getResult(1))};
}

/// Indices of each row's weights. Without replacement, those of the greatest ratios of weight and
/// an exponential number; with it, where a uniform part of the total lies in the running sum.
Entities multinomial(Node &node) {
  Tensor self = node.floatIn("self");
  int64_t count = node.integer("num_samples"), n = self.dim(-1);
  if (self.rank() < 1 || self.rank() > 2 || count < 1 || n < 1)
    fail("cannot choose " + Twine(count) + " elements of weights of shape " + show(self.shape()));
  Tensor weights = self.rank() == 2 ? self : self.reshape({1, n});
  int64_t rows = weights.dim(0);
  SmallVector<int64_t> shape(self.shape());
  shape.back() = count;
  if (!node.boolean("replacement")) {
    if (count > n)
      fail("cannot choose " + Twine(count) + " different elements of " + Twine(n));
    Tensor order = sorted(node, weights / exponentialOf(node, weights.type()), true).second;
    return {order.sliceDim(1, 0, count).reshape(shape)};
  }
  Tensor wide = weights.convert(node.builder().getF64Type());
  Tensor running = prim::cumulative(prim::ReduceKind::sum, wide, 1);
  Tensor total = running.sliceDim(1, n - 1, n).reshape({rows});
  Tensor part = uniform(node, tensorType({rows, count}, wide.elementType()), 0, 1);
  Tensor at = part * total.broadcast(part.shape(), {0});
  SmallVector<int64_t> pairs = {rows, count, n};
  Tensor isBefore = running.broadcast(pairs, {0, 2}) <= at.broadcast(pairs, {0, 1});
  return {prim::sum(isBefore.convert(node.builder().getI64Type()), {2}).reshape(shape)};
}

/// 0 to n - 1 in an order by chance.
Entities permutation(Node &node) {
  int64_t n = node.integer("n");
  Type i64 = node.builder().getI64Type();
  Tensor keys = uniform(node, tensorType({n}, node.builder().getF32Type()), 0, 1);
  return {sorted(node, keys, false).second.convert(node.elementType("dtype", i64))};
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
/// With probability p, a number or a tensor, or else the elements themselves. The gradient of these
/// is zero.
Entities bernoulli(Node &node) {
  Tensor x = node.in("self"),
         p = node.has("p") ? asTensor(node, "p", node.builder().getF32Type()) : x;
  return {zeroDependence(bernoulliOf(node, asFloat(node, node.broadcastTo(p, x.shape())), x.type()),
                         p)};
}

} // namespace

ArrayRef<OpRow> accc::aten::randomOps() {
  static const OpRow rows[] = {
      {"dropout(input, p, train)", dropout, Alias::None, selected::dropout},
      {"alpha_dropout(input, p, train)", alphaDropout<false>},
      {"feature_alpha_dropout(input, p, train)", alphaDropout<true>},
      {"feature_dropout(input, p, train)", featureDropout},
      {"native_dropout(input, p, train)", nativeDropout, Alias::None, selected::dropout},
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
      {"normal(mean, std=1, size=[], *, dtype=None)", normalOf},
      {"exponential(self, lambd=1)", exponential},
      {"geometric(self, p)", geometric},
      {"log_normal(self, mean=1, std=2)", logNormal},
      {"cauchy(self, median=0, sigma=1)", cauchy},
      {"multinomial(self, num_samples, replacement=False)", multinomial},
      {"randperm(n, *, dtype=None)", permutation},
      {"bernoulli(self, p=None)", bernoulli},
  };
  return rows;
}
