// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Many elements become one: reductions, scans, sorts, windows.
#include "Sketch.h"

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

SmallVector<int64_t> someDimensions(Sketch &s, Value x) {
  SmallVector<int64_t> dimensions;
  for (int64_t i = 0; i < Sketch::rankOf(x); ++i)
    if (s.random.chance(0.5))
      dimensions.push_back(i);
  return dimensions;
}

/// Those that a reduction of these dimensions leaves.
SmallVector<int64_t> otherDimensions(Value x, ArrayRef<int64_t> dimensions) {
  SmallVector<int64_t> others;
  for (int64_t i = 0; i < Sketch::rankOf(x); ++i)
    if (!llvm::is_contained(dimensions, i))
      others.push_back(i);
  return others;
}

NamedAttribute kindAttr(Sketch &s, prim::ReduceKind kind) {
  return s.choice<prim::ReduceKindAttr>("kind", kind);
}

bool reduce(Sketch &s) {
  using prim::ReduceKind;
  Value x = s.floats(1);
  ReduceKind kind = s.random.pick({ReduceKind::sum, ReduceKind::sum, ReduceKind::sum,
                                   ReduceKind::max, ReduceKind::min, ReduceKind::prod});
  return bool(
      s.one("prim.reduce", x, {kindAttr(s, kind), s.list("dimensions", someDimensions(s, x))}));
}

/// x - mean, x / norm: a reduction that is broadcast back.
bool normalise(Sketch &s) {
  Value x = s.floats(1);
  SmallVector<int64_t> dimensions = someDimensions(s, x);
  auto kind = s.random.chance(0.7) ? prim::ReduceKind::sum : prim::ReduceKind::max;
  Value y = s.one("prim.reduce", x, {kindAttr(s, kind), s.list("dimensions", dimensions)});
  if (!y)
    return false;
  if (s.random.chance(0.7))
    y = s.same("prim.mul", {y, s.constant(Sketch::typeOf(y), 0.25)});
  Value back =
      s.one("prim.broadcast", y, s.list("dimensions", otherDimensions(x, dimensions)), x.getType());
  return bool(s.same(s.random.pick({"prim.sub", "prim.mul", "prim.add"}), {x, back}));
}

/// The greatest or least of sums, beside others of the same, and layers behind them: the gradient
/// looks for it among the sums long after they were computed.
bool extremeSum(Sketch &s) {
  Value x = s.floats(2);
  NamedAttribute dimension = s.list("dimensions", {s.random.below(Sketch::rankOf(x))});
  auto sumOf = [&](Value terms) {
    return s.one("prim.reduce", terms, {kindAttr(s, prim::ReduceKind::sum), dimension});
  };
  Value sums = sumOf(s.same("prim.sin", x)), others = sumOf(s.same("prim.tanh", x));
  if (!sums || !others)
    return false;
  SmallVector<int64_t> dimensions = someDimensions(s, sums);
  auto kind = s.random.chance(0.5) ? prim::ReduceKind::max : prim::ReduceKind::min;
  Value extreme = s.one("prim.reduce", sums, {kindAttr(s, kind), s.list("dimensions", dimensions)});
  Value back = s.one("prim.broadcast", extreme,
                     s.list("dimensions", otherDimensions(sums, dimensions)), others.getType());
  Value y = s.same("prim.mul", {others, back});
  for (int64_t layers = s.random.below(4); y && layers > 0 && Sketch::rankOf(y) > 0; --layers) {
    int64_t features = Sketch::shapeOf(y).back();
    y = s.same("nn.matmul", {y, s.of({features, features})});
    if (y)
      y = s.same("prim.tanh", y);
  }
  return bool(y);
}

bool reduceOthers(Sketch &s) {
  bool ofBooleans = s.random.chance(0.5);
  Value x = s.find([&](Value v) {
    auto element = dyn_cast<IntegerType>(Sketch::typeOf(v).getElementType());
    return element && Sketch::rankOf(v) > 0 && (element.getWidth() == 1) == ofBooleans;
  });
  if (!x)
    return false;
  auto kind = prim::ReduceKind(ofBooleans ? s.random.between(4, 5) : s.random.between(0, 3));
  return bool(
      s.one("prim.reduce", x, {kindAttr(s, kind), s.list("dimensions", someDimensions(s, x))}));
}

bool argReduce(Sketch &s) {
  Value x = s.floats(1);
  auto kind = s.random.chance(0.5) ? prim::ReduceKind::max : prim::ReduceKind::min;
  return bool(
      s.one("prim.arg_reduce", x,
            {kindAttr(s, kind), s.integer("dimension", s.random.below(Sketch::rankOf(x)))}));
}

bool cumulative(Sketch &s) {
  Value x = s.floats(1);
  auto kind = s.random.chance(0.5) ? prim::ReduceKind::sum : prim::ReduceKind(s.random.below(4));
  return bool(
      s.same("prim.cumulative", x,
             {kindAttr(s, kind), s.integer("dimension", s.random.below(Sketch::rankOf(x)))}));
}

bool sort(Sketch &s) {
  Value x = s.floats(1);
  int64_t dimension = s.random.below(Sketch::rankOf(x)), extent = Sketch::shapeOf(x)[dimension];
  SmallVector<NamedAttribute> attributes = {s.integer("dimension", dimension),
                                            s.flag("descending", s.random.chance(0.5))};
  if (s.random.chance(0.4)) {
    int64_t first = s.random.between(0, extent);
    attributes.push_back(s.list("range", {first, s.random.between(first, extent)}));
  }
  return !s.add("prim.sort", x, attributes).empty();
}

constexpr Production kReductions[] = {
    {"reduce", 10, reduce},
    {"normalise", 6, normalise},
    {"extreme_sum", 5, extremeSum},
    {"reduce_others", 2, reduceOthers},
    {"arg_reduce", 2, argReduce},
    {"cumulative", 2, cumulative},
    {"sort", 2, sort},
};

// ---- windows ----

struct Window {
  SmallVector<NamedAttribute> attributes;
  SmallVector<int64_t> result;
};

/// A window that slides over some dimensions.
Window window(Sketch &s, Value x) {
  SmallVector<int64_t> size, strides, dilations, low, high;
  Window w;
  for (int64_t extent : Sketch::shapeOf(x)) {
    bool slides = s.random.chance(0.6);
    size.push_back(slides ? s.random.between(1, 3) : 1);
    strides.push_back(slides ? s.random.between(1, 2) : 1);
    dilations.push_back(slides && s.random.chance(0.2) ? 2 : 1);
    low.push_back(slides && s.random.chance(0.3) ? s.random.between(0, size.back() - 1) : 0);
    high.push_back(slides && s.random.chance(0.3) ? s.random.between(0, size.back() - 1) : 0);
    int64_t span = extent + low.back() + high.back() - ((size.back() - 1) * dilations.back() + 1);
    w.result.push_back(span < 0 ? 0 : span / strides.back() + 1);
  }
  w.attributes = {s.list("window", size), s.list("strides", strides),
                  s.list("dilations", dilations), s.list("pad_low", low), s.list("pad_high", high)};
  return w;
}

bool reduceWindow(Sketch &s) {
  Value x = s.floats(1, 4);
  Window w = window(s, x);
  bool varies = s.varies(x); // of max and min there is no derivative: nn.max_pool has its own
  w.attributes.push_back(
      kindAttr(s, varies ? prim::ReduceKind::sum
                         : s.random.pick({prim::ReduceKind::max, prim::ReduceKind::min})));
  return bool(s.one("prim.reduce_window", x, w.attributes));
}

bool argWindow(Sketch &s) {
  Value x = s.floats(1, 4);
  return bool(s.one("prim.arg_window", x, window(s, x).attributes));
}

bool windowScatter(Sketch &s) {
  Value x = s.floats(1, 4);
  Window w = window(s, x);
  if (llvm::is_contained(w.result, 0))
    return false;
  Value numbers = s.one("prim.arg_window", x, w.attributes);
  if (!numbers)
    return false;
  Value source = s.of(s.tensor(w.result, Sketch::typeOf(x).getElementType()));
  w.attributes.push_back(s.list("extents", SmallVector<int64_t>(Sketch::shapeOf(x))));
  return bool(s.one("prim.window_scatter", {numbers, source}, w.attributes));
}

constexpr Production kWindows[] = {{"reduce_window", 4, reduceWindow},
                                   {"arg_window", 1, argWindow},
                                   {"window_scatter", 2, windowScatter}};

} // namespace

ArrayRef<Production> accc::test::reductionProductions() { return kReductions; }
ArrayRef<Production> accc::test::windowProductions() { return kWindows; }
