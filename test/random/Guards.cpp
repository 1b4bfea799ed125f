// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands that the rules of --simplify are about, and such as nearly are: neighbouring and other
// indices, neutral and other constants, views and their inverses or not.
#include "Sketch.h"

#include "ir/interfaces/ReferenceValues.h"
#include "ir/prim/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

/// Indices that count up from anywhere, or nearly so.
Value run(Sketch &s, int64_t count, int64_t extent) {
  auto type = s.tensor({count}, s.random.chance(0.7) ? s.b.getI64Type() : s.b.getI32Type());
  ReferenceArray array(type.getShape());
  int64_t first = s.random.between(0, std::max<int64_t>(extent - count, 0));
  for (int64_t i = 0; i < count; ++i)
    array.values[i] = static_cast<double>(std::min(first + i, extent - 1));
  if (s.random.chance(0.4) && count > 0)
    array.values[s.random.below(count)] = static_cast<double>(s.random.below(extent));
  return s.one("prim.constant", {}, s.named("value", toElements(array, type)), type);
}

bool gatherOfRun(Sketch &s) {
  Value data = s.floats(1, 4);
  int64_t axis = s.random.below(Sketch::rankOf(data)), extent = Sketch::shapeOf(data)[axis];
  if (extent == 0)
    return false;
  return bool(s.one("prim.gather", {data, run(s, s.random.between(1, extent), extent)},
                    s.integer("axis", axis)));
}

bool scatterOfRun(Sketch &s) {
  Value data = s.floats(1, 4);
  int64_t axis = s.random.below(Sketch::rankOf(data)), extent = Sketch::shapeOf(data)[axis];
  if (extent == 0)
    return false;
  if (s.random.chance(0.5))
    data = s.constant(Sketch::typeOf(data), s.random.pick({0.0, 0.0, 1.0}));
  int64_t count = s.random.between(1, extent);
  SmallVector<int64_t> shape(Sketch::shapeOf(data));
  shape[axis] = count;
  auto kind = s.random.pick({prim::ScatterKind::add, prim::ScatterKind::set, prim::ScatterKind::max,
                             prim::ScatterKind::mul});
  Value updates = s.of(s.tensor(shape, Sketch::typeOf(data).getElementType()));
  return bool(s.one("prim.scatter", {data, run(s, count, extent), updates},
                    {s.integer("axis", axis), s.choice<prim::ScatterKindAttr>("kind", kind)}));
}

/// A view of a pointwise op of a view, inverse or not, and a constant.
bool viewAroundPointwise(Sketch &s) {
  Value x = s.floats(2, 4);
  int64_t rank = Sketch::rankOf(x);
  SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, rank)), back(rank);
  s.random.shuffle(permutation);
  for (int64_t i = 0; i < rank; ++i)
    back[permutation[i]] = i;
  Value inner = s.one("prim.transpose", x, s.list("permutation", permutation));
  if (!inner)
    return false;
  Value other = s.random.chance(0.5) ? s.constant(Sketch::typeOf(inner), 2.0) : inner;
  if (s.random.chance(0.2))
    other = s.of(Sketch::typeOf(inner));
  Value between = s.same(s.random.pick({"prim.mul", "prim.add", "prim.max"}), {inner, other});
  return bool(s.one("prim.transpose", between,
                    s.list("permutation", s.random.chance(0.6) ? back : permutation)));
}

/// Pads by zero that lie side by side, or overlap, or leave a gap.
bool sumOfPads(Sketch &s) {
  Value a = s.floats(1, 3);
  Value b = s.of(Sketch::typeOf(a));
  int64_t rank = Sketch::rankOf(a), along = s.random.below(rank);
  int64_t extent = Sketch::shapeOf(a)[along];
  Value zero = s.constant(s.tensor({}, Sketch::typeOf(a).getElementType()),
                          s.random.chance(0.8) ? 0.0 : 1.0);
  SmallVector<int64_t> low(rank, 0), high(rank, 0), none(rank, 0);
  int64_t total = 2 * extent + s.random.between(0, 2);
  auto padded = [&](Value x, int64_t start) {
    low[along] = start;
    high[along] = total - extent - start;
    return s.one("prim.pad", {x, zero},
                 {s.list("low", low), s.list("high", high), s.list("interior", none)});
  };
  int64_t start = s.random.between(0, total - 2 * extent);
  int64_t next =
      std::clamp<int64_t>(start + extent + s.random.pick({0, 0, 0, 1, -1}), 0, total - extent);
  SmallVector<Value> pads{padded(a, start), padded(b, next)};
  s.random.shuffle(pads);
  return bool(pads[0] && s.same("prim.add", pads));
}

/// What cancels, or nearly does: negations, products with numbers, extremes of extremes, choices.
bool algebra(Sketch &s) {
  Value x = s.floats(), y = s.of(Sketch::typeOf(x));
  auto number = [&](double value) { return s.constant(Sketch::typeOf(x), value); };
  double c = s.random.pick({0.0, 1.0, -1.0, 2.0, 0.5, 4.0, 3.0, 1e-3});
  switch (s.random.below(7)) {
  case 0:
    return bool(s.same(s.random.pick({"prim.add", "prim.sub", "prim.mul"}),
                       {s.random.chance(0.5) ? s.same("prim.neg", x) : x,
                        s.random.chance(0.7) ? s.same("prim.neg", y) : y}));
  case 1:
    return bool(
        s.same(s.random.pick({"prim.mul", "prim.div", "prim.add"}),
               {s.same("prim.mul", {x, number(c)}), number(s.random.pick({2.0, 0.25, 3.0}))}));
  case 2:
    return bool(s.same("prim.neg", s.same(s.random.pick({"prim.sub", "prim.mul", "prim.neg"}),
                                          {x, s.random.chance(0.5) ? number(c) : y})));
  case 3: {
    const char *outer = s.random.pick({"prim.max", "prim.min"});
    const char *inner = s.random.pick({"prim.max", "prim.min"});
    return bool(s.same(outer, {s.same(inner, {x, y}), s.random.chance(0.5) ? x : y}));
  }
  case 4: {
    Value exponent = number(s.random.pick({0.0, 1.0, 2.0, 3.0, 0.5, -0.5, -1.0, -2.0, 4.0}));
    return bool(s.same("prim.pow", {s.within(x, 0.2, HUGE_VAL), exponent}));
  }
  case 5: { // the guard of a derivative rule
    auto direction = s.random.chance(0.8) ? prim::Direction::eq : prim::Direction::ne;
    Value isZero = s.one("prim.compare", {x, number(s.random.chance(0.8) ? 0 : 1)},
                         s.choice<prim::DirectionAttr>("direction", direction));
    Value product = s.same("prim.mul", {s.random.chance(0.8) ? x : y, number(c)});
    return bool(s.one("prim.select", {isZero, number(s.random.chance(0.8) ? 0 : 1), product}, {},
                      x.getType()));
  }
  default: { // choices of choices
    Value p = s.of(s.tensor(Sketch::shapeOf(x), s.b.getI1Type()));
    Value q = s.random.chance(0.3)   ? s.same("prim.not", p)
              : s.random.chance(0.5) ? p
                                     : s.of(Sketch::typeOf(p));
    Value inner = s.one("prim.select", {p, x, y}, {}, x.getType());
    return bool(s.random.chance(0.5) ? s.one("prim.select", {q, inner, y}, {}, x.getType())
                                     : s.one("prim.select", {q, x, inner}, {}, x.getType()));
  }
  }
}

/// One integer through two conversions, with values that the types cannot hold.
bool conversions(Sketch &s) {
  SmallVector<Type> types{s.b.getI64Type(),
                          s.b.getI32Type(),
                          s.b.getIntegerType(8),
                          s.b.getIntegerType(8, false),
                          s.b.getIntegerType(32, false),
                          s.b.getIntegerType(16),
                          s.b.getI1Type(),
                          s.floatType(),
                          s.otherFloatType()};
  Type first = s.random.pick(types);
  SmallVector<int64_t> shape = s.shape(1, 2);
  auto integer = dyn_cast<IntegerType>(first);
  double most = !integer ? 400 : integer.getWidth() == 1 ? 2 : integer.getWidth() == 8 ? 127 : 400;
  Value x =
      s.input(s.tensor(shape, first),
              {integer && (integer.isUnsigned() || integer.getWidth() == 1) ? 0.0 : -most, most});
  Value y = s.one("prim.convert", x, {}, s.tensor(shape, s.random.pick(types)));
  return bool(y && s.one("prim.convert", y, {}, s.tensor(shape, s.random.pick(types))));
}

/// Reductions of what was repeated, permuted, reshaped, negated, reduced.
bool reductionOfView(Sketch &s) {
  using prim::ReduceKind;
  Value x = s.floats(2, 4);
  int64_t rank = Sketch::rankOf(x);
  switch (s.random.below(4)) {
  case 0: {
    SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    s.random.shuffle(permutation);
    x = s.one("prim.transpose", x, s.list("permutation", permutation));
    break;
  }
  case 1: {
    SmallVector<int64_t> shape(Sketch::shapeOf(x)), dimensions;
    int64_t at = s.random.below(rank + 1);
    for (int64_t i = 0; i < rank; ++i)
      dimensions.push_back(i + (i >= at));
    shape.insert(shape.begin() + at, s.extent());
    x = s.one("prim.broadcast", x, s.list("dimensions", dimensions),
              s.tensor(shape, Sketch::typeOf(x).getElementType()));
    break;
  }
  case 2:
    x = s.same("prim.neg", x);
    break;
  default: {
    SmallVector<int64_t> shape(Sketch::shapeOf(x));
    int64_t at = s.random.below(rank - 1);
    shape[at] *= shape[at + 1];
    shape.erase(shape.begin() + at + 1);
    x = s.one("prim.reshape", x, {}, s.tensor(shape, Sketch::typeOf(x).getElementType()));
  }
  }
  for (int64_t n = s.random.between(1, 2); x && n > 0; --n) {
    SmallVector<int64_t> dimensions;
    for (int64_t i = 0; i < Sketch::rankOf(x); ++i)
      if (s.random.chance(0.4))
        dimensions.push_back(i);
    ReduceKind kind = s.random.pick(
        {ReduceKind::sum, ReduceKind::sum, ReduceKind::max, ReduceKind::min, ReduceKind::prod});
    x = s.one("prim.reduce", x,
              {s.choice<prim::ReduceKindAttr>("kind", kind), s.list("dimensions", dimensions)});
  }
  return bool(x);
}

/// dot_general of what was transposed and scaled, transposed again.
bool productOfViews(Sketch &s) {
  auto view = [&](Value x) {
    if (s.random.chance(0.4))
      x = s.same("prim.mul", {x, s.constant(Sketch::typeOf(x), s.random.pick({0.5, 2.0, 1.0}))});
    if (!x || s.random.chance(0.3))
      return x;
    SmallVector<int64_t> permutation = llvm::to_vector(llvm::seq<int64_t>(0, Sketch::rankOf(x)));
    s.random.shuffle(permutation);
    return s.one("prim.transpose", x, s.list("permutation", permutation));
  };
  Value a = view(s.floats(2, 3)), b = view(s.floats(2, 3));
  if (!a || !b || Sketch::typeOf(a).getElementType() != Sketch::typeOf(b).getElementType())
    return false;
  int64_t i = s.random.below(Sketch::rankOf(a)), k = s.random.below(Sketch::rankOf(b));
  SmallVector<int64_t> batchA, batchB;
  if (s.random.chance(0.4)) {
    batchA.push_back((i + 1) % Sketch::rankOf(a));
    batchB.push_back((k + 1) % Sketch::rankOf(b));
  }
  Value dot = s.one("prim.dot_general", {a, b},
                    {s.list("lhs_batch", batchA), s.list("rhs_batch", batchB),
                     s.list("lhs_contracting", {i}), s.list("rhs_contracting", {k})});
  return bool(dot && view(dot));
}

constexpr Production kGuards[] = {
    {"gather_of_run", 1, gatherOfRun},
    {"scatter_of_run", 1, scatterOfRun},
    {"view_around_pointwise", 1, viewAroundPointwise},
    {"sum_of_pads", 1, sumOfPads},
    {"algebra", 3, algebra},
    {"conversions", 1, conversions},
    {"reduction_of_view", 2, reductionOfView},
    {"product_of_views", 2, productOfViews},
};

} // namespace

ArrayRef<Production> accc::test::guardProductions() { return kGuards; }
