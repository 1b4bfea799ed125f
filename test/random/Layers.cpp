// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Activations, softmax, normalisations, pooling, resizing.
#include "Sketch.h"

#include "ir/prim/FunctionContract.h"

#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

bool activation(Sketch &s) {
  Value x = s.floats();
  switch (s.random.below(16)) {
  case 0:
    return bool(
        s.same("nn.gelu", x, s.choice<nn::GeluFormAttr>("form", nn::GeluForm(s.random.below(2)))));
  case 1:
    return bool(s.same("nn.leaky_relu", x, s.number("alpha", 0.1)));
  case 2:
    return bool(s.same("nn.elu", x, s.number("alpha", 0.8)));
  case 3:
    return bool(s.same("nn.celu", x, s.number("alpha", 1.5)));
  case 4:
    return bool(s.same("nn.selu", x, {s.number("alpha", 1.67), s.number("gamma", 1.05)}));
  case 5:
    return bool(s.same("nn.hard_sigmoid", x, {s.number("alpha", 0.2), s.number("beta", 0.5)}));
  case 6:
    return bool(s.same("nn.thresholded_relu", x, s.number("alpha", 0.3)));
  case 7: {
    double infinity = std::numeric_limits<double>::infinity();
    double low = s.random.pick({-0.5, -1.0, -infinity}), high = s.random.pick({0.5, infinity});
    return bool(s.same("nn.clamp", x, {s.number("min", low), s.number("max", high)}));
  }
  case 8:
    return bool(
        s.same("nn.bessel_i", x, {s.integer("order", s.random.below(3)), s.flag("scaled", true)}));
  default:
    return bool(
        s.same(s.random.pick({"nn.relu", "nn.relu", "nn.relu", "nn.silu", "nn.hard_swish",
                              "nn.softplus", "nn.softsign", "nn.mish", "nn.erfc", "nn.log_ndtr"}),
               x));
  }
}

/// Functions with poles or edges, of values away from these.
bool special(Sketch &s) {
  Value x = s.floats();
  switch (s.random.below(7)) {
  case 0:
    return bool(s.same("nn.lgamma", s.within(x, 0.5, 4)));
  case 1:
    return bool(s.same("nn.polygamma", s.within(x, 0.5, 4), s.integer("order", s.random.below(3))));
  case 2: {
    Value exponent = s.constant(Sketch::typeOf(x), s.random.pick({1.5, 2.0, 3.5}));
    return bool(s.same("nn.zeta", {exponent, s.within(x, 0.5, 4)}));
  }
  case 3:
    return bool(s.same("nn.erfinv", s.within(x, -0.9, 0.9)));
  case 4:
    return bool(s.same("nn.ndtri", s.within(x, 0.05, 0.95)));
  case 5:
    return bool(s.same("nn.erfcx", s.within(x, -1, 4)));
  default:
    return bool(s.same("nn.entr", s.within(x, 0.1, 3)));
  }
}

bool prelu(Sketch &s) {
  Value x = s.floats(1);
  SmallVector<int64_t> slope;
  for (int64_t extent : Sketch::shapeOf(x))
    slope.push_back(s.random.chance(0.5) ? extent : 1);
  if (s.random.chance(0.5))
    slope.erase(slope.begin());
  Value w = s.of(s.tensor(slope, Sketch::typeOf(x).getElementType()));
  return bool(s.one("nn.prelu", {x, w}, {}, x.getType()));
}

bool straightThrough(Sketch &s) {
  Value x = s.floats();
  return bool(s.one("nn.straight_through", {s.of(Sketch::typeOf(x)), x}, {}, x.getType()));
}

bool zeroDependence(Sketch &s) {
  Value x = s.floats();
  return bool(s.one("nn.zero_dependence", {x, s.floats()}, {}, x.getType()));
}

bool byMode(Sketch &s) {
  Value x = s.floats();
  return bool(s.one("nn.by_mode", {x, s.of(Sketch::typeOf(x))}, {}, x.getType()));
}

bool softmax(Sketch &s) {
  Value x = s.floats(1);
  return bool(s.same(s.random.chance(0.7) ? "nn.softmax" : "nn.log_softmax", x,
                     s.integer("dimension", s.random.below(Sketch::rankOf(x)))));
}

constexpr Production kActivations[] = {{"activation", 16, activation},
                                       {"special", 2, special},
                                       {"prelu", 2, prelu},
                                       {"softmax", 5, softmax},
                                       {"straight_through", 1, straightThrough},
                                       {"zero_dependence", 1, zeroDependence},
                                       {"by_mode", 1, byMode}};

// ---- normalisations ----

NamedAttribute epsilon(Sketch &s) { return s.number("epsilon", s.random.pick({1e-5, 1e-3, 0.1})); }

bool batchNorm(Sketch &s) {
  Value x = s.floats(2);
  auto channels = s.tensor({Sketch::shapeOf(x)[1]}, Sketch::typeOf(x).getElementType());
  Value scale = s.of(channels), bias = s.of(channels);
  if (s.random.chance(0.2))
    return bool(s.one("nn.batch_norm_untracked", {x, scale, bias}, epsilon(s)));
  Value mean = s.buffer(channels), variance = s.buffer(channels, {0.5, 1.5});
  if (s.random.chance(0.3))
    return bool(s.one("nn.batch_norm_inference", {x, scale, bias, mean, variance}, epsilon(s)));
  // Of processes with the same rows the interpreter, which is one alone, knows all but their
  // number.
  bool isSynchronized = s.random.chance(0.3), isUnbiased = !isSynchronized && s.random.chance(0.5);
  SmallVector<NamedAttribute> attributes = {epsilon(s), s.number("momentum", 0.1),
                                            s.flag("unbiased", isUnbiased)};
  if (isSynchronized)
    attributes.push_back(s.unit("synchronized"));
  SmallVector<Value> results =
      s.add("nn.batch_norm_training", {x, scale, bias, mean, variance}, attributes);
  if (results.empty())
    return false;
  for (auto [buffer, value] : {std::pair(mean, results[1]), std::pair(variance, results[2])}) {
    std::string name = s.argumentName(cast<BlockArgument>(buffer)).str();
    s.result(value, "new." + name, Role::Update, name);
  }
  return true;
}

bool layerNorm(Sketch &s) {
  Value x = s.floats(1);
  int64_t axis = s.random.below(Sketch::rankOf(x));
  auto type = s.tensor(Sketch::shapeOf(x).drop_front(axis), Sketch::typeOf(x).getElementType());
  SmallVector<Value> operands{x};
  bool scale = s.random.chance(0.7), bias = s.random.chance(0.6);
  if (scale)
    operands.push_back(s.of(type));
  if (s.random.chance(0.3))
    return bool(s.one("nn.rms_norm", operands, {s.integer("axis", axis), epsilon(s)}));
  if (bias)
    operands.push_back(s.of(type));
  return bool(s.one("nn.layer_norm", operands,
                    {s.integer("axis", axis), epsilon(s), s.segments({1, scale, bias})}));
}

bool groupNorm(Sketch &s) {
  Value x = s.floats(2);
  int64_t channels = Sketch::shapeOf(x)[1];
  auto type = s.tensor({channels}, Sketch::typeOf(x).getElementType());
  Value scale = s.of(type), bias = s.of(type);
  if (Sketch::rankOf(x) >= 3 && s.random.chance(0.4))
    return bool(s.one("nn.instance_norm", {x, scale, bias}, epsilon(s)));
  int64_t groups =
      channels % 2 == 0 && s.random.chance(0.5) ? 2 : s.random.pick({int64_t(1), channels});
  if (groups == 0)
    return false;
  return bool(s.one("nn.group_norm", {x, scale, bias}, {s.integer("groups", groups), epsilon(s)}));
}

// ---- pooling and resizing ----

bool pool(Sketch &s) {
  Value x = s.floats(3, 5);
  SmallVector<int64_t> window, strides, dilations, low, high;
  for (int64_t i = 2; i < Sketch::rankOf(x); ++i) {
    window.push_back(s.random.between(1, 3));
    strides.push_back(s.random.between(1, 3));
    dilations.push_back(s.random.chance(0.85) ? 1 : 2);
    low.push_back(s.random.chance(0.6) ? 0 : s.random.between(0, window.back() - 1));
    high.push_back(s.random.chance(0.6) ? 0 : s.random.between(0, window.back() - 1));
  }
  SmallVector<NamedAttribute> attributes{
      s.list("window", window),       s.list("strides", strides),
      s.list("dilations", dilations), s.list("pad_low", low),
      s.list("pad_high", high),       s.flag("ceil_mode", s.random.chance(0.3))};
  if (s.random.chance(0.5))
    return bool(s.one("nn.max_pool", x, attributes));
  attributes.push_back(s.flag("count_include_pad", s.random.chance(0.5)));
  return bool(s.one("nn.average_pool", x, attributes));
}

bool resize(Sketch &s) {
  Value x = s.floats(2, 4);
  SmallVector<int64_t> shape(Sketch::shapeOf(x));
  SmallVector<double> scales;
  for (int64_t &extent : shape) {
    int64_t now = extent;
    if (s.random.chance(0.6))
      extent = s.random.between(1, 2 * now + 1);
    if (now == 0)
      return false;
    scales.push_back(static_cast<double>(extent) / static_cast<double>(now));
  }
  return bool(s.one(
      "nn.resize", x,
      {s.named("scales", s.b.getDenseF64ArrayAttr(scales)),
       s.choice<nn::ResizeModeAttr>("mode", nn::ResizeMode(s.random.below(3))),
       s.choice<nn::ResizeCoordinatesAttr>("coordinates", nn::ResizeCoordinates(s.random.below(5))),
       s.choice<nn::ResizeNearestAttr>("nearest", nn::ResizeNearest(s.random.below(4)))},
      s.tensor(shape, Sketch::typeOf(x).getElementType())));
}

constexpr Production kLayers[] = {
    {"batch_norm", 4, batchNorm}, {"layer_norm", 5, layerNorm},
    {"group_norm", 2, groupNorm}, {"pool", 4, pool},
    {"resize", 1, resize},
};

} // namespace

ArrayRef<Production> accc::test::activationProductions() { return kActivations; }
ArrayRef<Production> accc::test::layerProductions() { return kLayers; }
