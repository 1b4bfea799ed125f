// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Order statistics, histograms and covariances.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Promotion.h"
#include "frontend/common/Fold.h"
#include "frontend/common/Formulas.h"
#include "frontend/common/Indexing.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::ScatterKind;
using accc::prim::Tensor;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor isNan(Tensor x) { return prim::notEqual(x, x); }

/// Sorted along a dimension, and where the elements were; NaN stand behind all numbers.
std::pair<Tensor, Tensor> sorted(Node &node, Tensor x, int64_t dim) {
  Operation *op =
      node.create<prim::SortOp>({x}, {node.i64("dimension", dim), node.flag("descending", false)});
  return {node.wrap(op->getResult(0)), node.wrap(op->getResult(1))};
}

Tensor elementsAlong(Node &node, Tensor x, Tensor indices, int64_t dim) {
  return flat(x).gather(alongAxis(node, indices, x.shape(), dim), 0);
}

/// With an extent of 1, or without the dimension: as the call asks for.
Tensor reduced(Node &node, Tensor x, int64_t dim) {
  SmallVector<int64_t> shape(x.shape());
  if (node.in("self").rank() == 0)
    shape = {};
  else if (!node.boolean("keepdim"))
    shape.erase(shape.begin() + dim);
  return x.reshape(shape);
}

// ---- quantiles ----

/// A rule by which real positions become whole ones.
struct Rounding {
  Tensor (*ofTensor)(Tensor);
  double (*ofNumber)(double);
};
constexpr Rounding kDown = {prim::floor, std::floor}, kUp = {prim::ceil, std::ceil},
                   kNearest = {prim::roundEven, std::nearbyint};

/// What lies at real positions of sorted rows, between whose elements it interpolates: `at` gives
/// those at the positions as they are rounded.
Tensor interpolated(Node &node, Tensor positions, llvm::function_ref<Tensor(Rounding)> at) {
  std::string mode = node.string("interpolation");
  if (mode == "lower")
    return at(kDown);
  if (mode == "higher")
    return at(kUp);
  if (mode == "nearest")
    return at(kNearest);
  if (mode != "linear" && mode != "midpoint")
    fail("the interpolation '" + mode + "' is not known");
  Tensor low = prim::floor(positions), below = at(kDown), above = at(kUp);
  Tensor weight = mode == "linear" ? positions - low : positions.full(0.5);
  return prim::select(weight < 0.5, below + weight * (above - below),
                      above - (above - below) * (1.0 - weight));
}

/// The positions of known quantiles among n elements, as a product of their type gives them;
/// nothing where some are not known or not within the elements.
std::optional<SmallVector<double>> knownPositions(Tensor q, int64_t n) {
  DenseElementsAttr known = knownValue(q, GivenValues());
  if (!known)
    return std::nullopt;
  SmallVector<double> positions;
  for (APFloat position : known.getValues<APFloat>()) {
    APFloat last(static_cast<double>(n - 1));
    bool isInexact;
    last.convert(position.getSemantics(), APFloat::rmNearestTiesToEven, &isInexact);
    position.multiply(last, APFloat::rmNearestTiesToEven);
    position.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &isInexact);
    positions.push_back(position.convertToDouble());
    if (!(positions.back() >= 0 && positions.back() <= static_cast<double>(n - 1)))
      return std::nullopt;
  }
  return positions;
}

/// The elements of sorted rows at positions that all have in common, as slices, so that the sort
/// need give no others.
Tensor atPositions(Node &node, Tensor rows, ArrayRef<double> positions, Rounding round) {
  int64_t last = rows.rank() - 1;
  SmallVector<Tensor> parts;
  for (double position : positions) {
    auto place = static_cast<int64_t>(round.ofNumber(position));
    parts.push_back(rows.sliceDim(last, place, place + 1));
  }
  return node.concatenate(parts, last);
}

/// The last NaN of each row of x that has one, else its first element.
Tensor lastNan(Node &node, Tensor x) {
  int64_t last = x.rank() - 1;
  Tensor position = node.iota(x.shape(), last);
  Tensor places = prim::select(isNan(x), position, position.full(0.0));
  SmallVector<int64_t> one(x.shape());
  one[last] = 1;
  Tensor place = prim::reduce(prim::ReduceKind::max, places, {last}).reshape(one);
  return elementsAlong(node, x, place, last).reshape(x.shape().drop_back());
}

/// The quantiles come first, unless there is one number alone. A row with NaN gives NaN, or these
/// do not count.
template <bool ignoresNan> Entities quantile(Node &node) {
  Tensor self = node.floatIn("self"), x = asVector(node.has("dim") ? self : flat(self));
  int64_t dim = node.has("dim") ? node.dim("dim", self) : 0;
  Tensor q = asTensor(node, "q", x.elementType());
  if (x.dim(dim) == 0 || q.rank() > 1)
    fail("the quantiles of shape " + show(q.shape()) + " of a tensor of shape " +
         show(self.shape()) + " are not defined");

  SmallVector<int64_t> order, rowShape;
  for (int64_t d = 0; d < x.rank(); ++d)
    if (d != dim)
      order.push_back(d);
  for (int64_t d : order)
    rowShape.push_back(x.dim(d));
  order.push_back(dim);
  int64_t last = x.rank() - 1, n = x.dim(dim);
  Tensor unsorted = x.transpose(order), rows = sorted(node, unsorted, last).first;

  SmallVector<int64_t> shape(rowShape);
  shape.push_back(q.size());
  auto perRow = [&](Tensor row) { return row.broadcastAlong(shape, {last}); };
  Tensor nans = prim::sum(isNan(unsorted).convert(x.elementType()), {last});
  auto quantiles = [&](Tensor positions) {
    if (ignoresNan) {
      Tensor greatest = static_cast<double>(n - 1) - nans;
      positions = positions * perRow(prim::max(greatest, 0.0));
    } else {
      Tensor scaled = positions * static_cast<double>(n - 1);
      if (auto known = knownPositions(q, n)) {
        auto at = [&](Rounding round) { return atPositions(node, rows, *known, round); };
        return prim::select(perRow(nans > 0.0), perRow(lastNan(node, unsorted)),
                            interpolated(node, scaled, at));
      }
      positions = prim::select(perRow(nans > 0.0), scaled.full(static_cast<double>(n - 1)), scaled);
    }
    return interpolated(node, positions, [&](Rounding round) {
      Tensor where = round.ofTensor(positions).convert(node.builder().getI64Type());
      return elementsAlong(node, rows, where, last);
    });
  };
  Tensor values = quantiles(flat(q).broadcast(shape, {last}));

  // [rows, q] as [q, rows].
  SmallVector<int64_t> front = {last};
  for (int64_t d = 0; d < last; ++d)
    front.push_back(d);
  SmallVector<int64_t> result;
  if (q.rank() == 1)
    result.push_back(q.size());
  if (node.has("dim") && self.rank() > 0) {
    for (int64_t d = 0; d < self.rank(); ++d)
      if (d != dim || node.boolean("keepdim"))
        result.push_back(d == dim ? 1 : self.dim(d));
  } else if (node.boolean("keepdim")) {
    result.append(self.rank(), 1);
  }
  return {values.transpose(front).reshape(result)};
}

/// The lower one of two in the middle of the numbers, and where it is.
Entities nanMedianAlong(Node &node) {
  Tensor x = asVector(node.in("self"));
  int64_t dim = node.dim("dim", x);
  if (x.dim(dim) == 0)
    fail("a tensor of shape " + show(x.shape()) + " has no median");
  auto [values, indices] = sorted(node, x, dim);
  SmallVector<int64_t> one(x.shape());
  one[dim] = 1;
  Tensor nans = prim::sum(isNan(x).convert(node.builder().getI64Type()), {dim}).reshape(one);
  Tensor middle = prim::max(static_cast<double>(x.dim(dim) - 1) - nans, 0.0) / 2.0;
  Tensor at = elementsAlong(node, indices, middle, dim);
  return {reduced(node, elementsAlong(node, x, at, dim), dim), reduced(node, at, dim)};
}

/// The middle element of all. Those that are equal to it share its gradient evenly, as those of a
/// maximum do: that of the elements which are not greater. So do NaN, where it is one.
template <bool ignoresNan> Entities median(Node &node) {
  Tensor x = flat(node.in("self"));
  int64_t n = x.size();
  if (n == 0)
    return {node.full({}, x.elementType(), std::numeric_limits<double>::quiet_NaN())};
  Tensor values = sorted(node, x, 0).first;
  if (!isa<FloatType>(x.elementType()))
    return {values.sliceDim(0, (n - 1) / 2, (n + 1) / 2).reshape({})};
  Tensor nans = prim::sumAll(isNan(x).convert(node.builder().getI64Type()));
  auto middle = [&] {
    if (ignoresNan)
      return values.gather(prim::max(static_cast<double>(n - 1) - nans, 0.0) / 2.0, 0);
    Tensor value = values.sliceDim(0, (n - 1) / 2, (n + 1) / 2).reshape({});
    return prim::select(nans > 0.0, value.full(std::numeric_limits<double>::quiet_NaN()), value);
  };
  Tensor value = detach(middle());
  Tensor upTo = prim::select(x <= value.broadcast({n}, {}), x, x.full(-kInfinity));
  Tensor shared = prim::reduce(prim::ReduceKind::max, upTo, {0});
  return {prim::select(isNan(value), nanOf(x), shared)};
}

/// The value that comes most often, of several the least one, and where the last such stands.
Entities mostFrequent(Node &node) {
  Tensor x = asVector(node.in("self"));
  int64_t dim = node.dim("dim", x);
  if (x.dim(dim) == 0)
    fail("a tensor of shape " + show(x.shape()) + " has no most frequent value");
  auto [values, indices] = sorted(node, x, dim);
  // How far each element stands behind the first one of its value.
  Tensor position = node.iota(x.shape(), dim);
  Tensor first = position;
  if (x.dim(dim) > 1) {
    Tensor before = node.concatenate(
        {values.sliceDim(dim, 0, 1), values.sliceDim(dim, 0, x.dim(dim) - 1)}, dim);
    Tensor starts = prim::select(prim::notEqual(values, before), position, position.full(0.0));
    first = prim::cumulative(prim::ReduceKind::max, starts, dim);
  }
  auto kind = prim::ReduceKindAttr::get(&node.context(), prim::ReduceKind::max);
  Tensor longest = node.make<prim::ArgReduceOp>(
      {position - first}, {node.attr("kind", kind), node.i64("dimension", dim)});
  SmallVector<int64_t> one(x.shape());
  one[dim] = 1;
  Tensor at = elementsAlong(node, indices, longest.reshape(one), dim);
  return {reduced(node, elementsAlong(node, x, at, dim), dim), reduced(node, at, dim)};
}

// ---- bins ----

/// The place of each value in sorted rows: the first that is not less, or to the right the first
/// that is greater. A binary search, in which NaN are greater than all numbers, as in PyTorch.
Tensor placesIn(Node &node, Tensor rows, Tensor values, bool right, std::optional<Tensor> order) {
  Type i64 = node.builder().getI64Type();
  int64_t n = rows.rank() == 0 ? 1 : rows.dim(-1);
  Tensor low = node.full(values.shape(), i64, 0), high = low.full(static_cast<double>(n));
  Tensor start = low; // of a value's own row
  if (rows.rank() > 1) {
    int64_t count = values.dim(-1), all = n == 0 ? 0 : rows.size() / n;
    start = (node.iota({all, count}, 0) * static_cast<double>(n)).reshape(values.shape());
  }
  Tensor elements = flat(rows);
  if (order)
    elements =
        flat(elementsAlong(node, asVector(rows), asVector(*order), asVector(rows).rank() - 1));
  for (int64_t left = n; left > 0; left /= 2) {
    Tensor middle = low + (high - low) / 2.0;
    Tensor isOpen = low < high;
    Tensor element = elements.gather(start + prim::select(isOpen, middle, middle.full(0.0)), 0);
    Tensor isBehind =
        prim::bitAnd(isOpen, prim::logicalNot(right ? element > values : element >= values));
    high = prim::select(isBehind, high, prim::select(isOpen, middle, high));
    low = prim::select(isBehind, middle + 1.0, low);
  }
  return low;
}

Entities places(Node &node, StringRef sequence, StringRef input, bool right,
                std::optional<Tensor> order) {
  Type type = resultType(node, {sequence, input});
  Tensor rows = asTensor(node, sequence, type), values = asTensor(node, input, type);
  bool isShared = rows.rank() <= 1;
  if (!isShared && rows.shape().drop_back() != values.shape().drop_back(values.rank() > 0))
    fail("values of shape " + show(values.shape()) + " for sequences of shape " +
         show(rows.shape()));
  Tensor found = placesIn(node, rows, values, right, order);
  return {node.boolean("out_int32") ? found.convert(node.builder().getI32Type()) : found};
}
Entities bucketize(Node &node) {
  return places(node, "boundaries", "self", node.boolean("right"), std::nullopt);
}
Entities searchSorted(Node &node) {
  bool right = node.boolean("right") || (node.has("side") && node.string("side") == "right");
  std::optional<Tensor> order;
  if (node.has("sorter"))
    order = node.indexIn("sorter");
  return places(node, "sorted_sequence", "self", right, order);
}

/// How many elements lie in each of equally wide bins from min to max, which are those of the
/// elements where both are equal.
Entities histogram(Node &node) {
  Tensor x = flat(node.floatIn("self"));
  int64_t bins = node.integer("bins");
  double least = node.number("min"), greatest = node.number("max");
  if (bins < 1 || bins > int64_t(1) << 24 || !(least <= greatest))
    fail(Twine(bins) + " bins from " + Twine(std::to_string(least)) + " to " +
         Twine(std::to_string(greatest)));
  Tensor counts = node.full({bins}, x.elementType(), 0);
  if (x.size() == 0)
    return {counts};
  Tensor low = node.scalar(least, x.elementType()), high = node.scalar(greatest, x.elementType());
  if (least == greatest) {
    low = prim::reduce(prim::ReduceKind::min, x, {0});
    high = prim::reduce(prim::ReduceKind::max, x, {0});
    Tensor isPoint = prim::equal(low, high);
    std::tie(low, high) =
        std::pair(prim::select(isPoint, low - 1.0, low), prim::select(isPoint, high + 1.0, high));
  }
  Tensor from = low.broadcast(x.shape(), {}), to = high.broadcast(x.shape(), {});
  Tensor isInside = prim::bitAnd(x >= from, x <= to);
  Tensor bin = (prim::select(isInside, x, from) - from) * static_cast<double>(bins) / (to - from);
  Tensor place = prim::min(prim::floor(bin), static_cast<double>(bins - 1));
  Tensor one = isInside.convert(x.elementType());
  return {counts.scatter(place.convert(node.builder().getI64Type()), one, 0, ScatterKind::add)};
}

/// How many numbers bincount() tells apart: with numbers that depend on data as many as it is told,
/// where the scatter makes a data error of a greater one.
int64_t countedNumbers(Node &node, Tensor x) {
  int64_t size = node.integer("minlength");
  if (size > 0 && !node.given(x))
    return size;
  StringRef what = "'self', whose greatest element decides the size of the result,";
  for (int64_t number : node.knownIntegers(x, what)) {
    if (number < 0 || number > int64_t(1) << 32)
      fail("an element of 'self' is " + Twine(number));
    size = std::max(size, number + 1);
  }
  return size;
}

/// How often each number stands in a vector, or the sum of the weights of those places.
Entities numberCounts(Node &node) {
  Tensor x = node.in("self");
  if (x.rank() != 1 || isa<FloatType>(x.elementType()))
    fail("'self' is no vector of integers");
  int64_t size = countedNumbers(node, x);
  Type count = node.builder().getI64Type();
  Tensor weights = node.has("weights") ? node.in("weights") : node.full(x.shape(), count, 1);
  if (weights.shape() != x.shape())
    fail("'weights' has the shape " + show(weights.shape()) + " for numbers of shape " +
         show(x.shape()));
  if (node.has("weights") && !weights.elementType().isF32())
    weights = weights.convert(node.builder().getF64Type());
  Tensor counts = node.full({size}, weights.elementType(), 0);
  return {counts.scatter(x.convert(count), detach(weights), 0, ScatterKind::add)};
}

// ---- covariances ----

/// How often and how much each observation counts, or nothing where all count alike.
std::optional<Tensor> observationWeights(Node &node, Tensor x) {
  std::optional<Tensor> weights;
  for (const char *name : {"fweights", "aweights"}) {
    if (!node.has(name))
      continue;
    Tensor each = node.in(name).convert(x.elementType());
    if (each.rank() > 1 || each.size() != x.dim(1))
      fail("'" + Twine(name) + "' has the shape " + show(each.shape()) + " for " + Twine(x.dim(1)) +
           " observations");
    each = each.reshape({x.dim(1)});
    weights = weights ? *weights * each : each;
  }
  return weights;
}

/// Of variables, one a row, that are observed together.
Tensor covariance(Node &node) {
  Tensor x = node.floatIn("self");
  if (x.rank() > 2)
    fail("a tensor of shape " + show(x.shape()) + " is no matrix");
  x = x.rank() == 2 ? x : x.reshape({1, x.size()});
  if (node.has("aweights"))
    x = x.convert(promoteTypes(x.elementType(), node.in("aweights").elementType()));
  double correction = node.number("correction");
  auto products = [&](Tensor a, Tensor b) {
    Tensor c = prim::dotGeneral(a, b, {}, {}, {1}, {1});
    return x.dim(0) == 1 ? c.reshape({}) : c;
  };
  std::optional<Tensor> weights = observationWeights(node, x);
  if (!weights) {
    double freedom = static_cast<double>(x.dim(1)) - correction;
    Tensor centred = x - prim::mean(x, {1}).broadcastAlong(x.shape(), {1});
    return products(centred, centred) / std::max(freedom, 0.0);
  }
  Tensor all = prim::sum(*weights, {0}), wide = weights->broadcast(x.shape(), {1});
  Tensor mean = prim::sum(x * wide, {1});
  mean = mean / all.broadcast(mean.shape(), {});
  Tensor centred = x - mean.broadcastAlong(x.shape(), {1});
  Tensor lost = all.full(correction);
  if (node.has("aweights")) {
    Tensor amounts = node.in("aweights").convert(x.elementType());
    Tensor squares = *weights * node.reshape(amounts, weights->shape());
    lost = prim::sum(squares, {0}) * correction / all;
  }
  Tensor c = products(centred, centred * wide), freedom = prim::max(all - lost, 0.0);
  return c / freedom.broadcast(c.shape(), {});
}
Entities cov(Node &node) { return {covariance(node)}; }

/// Covariances over the standard deviations of both, within [-1, 1].
Entities correlation(Node &node) {
  Tensor c = covariance(node);
  if (c.rank() == 0)
    return {c / c};
  int64_t n = c.dim(0);
  Tensor onDiagonal = prim::equal(node.iota({n, n}, 0), node.iota({n, n}, 1));
  Tensor deviation = prim::sqrt(prim::sum(prim::select(onDiagonal, c, c.full(0.0)), {1}));
  Tensor r = c / deviation.broadcast({n, n}, {0}) / deviation.broadcast({n, n}, {1});
  r = prim::select(r < -1.0, r.full(-1.0), r);
  return {prim::select(r > 1.0, r.full(1.0), r)};
}

} // namespace

ArrayRef<OpRow> accc::aten::statisticsOps() {
  static const OpRow rows[] = {
      {"quantile(self, q, dim=None, keepdim=False, *, interpolation='linear')", quantile<false>},
      {"nanquantile(self, q, dim=None, keepdim=False, *, interpolation='linear')", quantile<true>},
      {"median(self)", median<false>},
      {"nanmedian(self)", median<true>},
      {"nanmedian.dim(self, dim, keepdim=False)", nanMedianAlong},
      {"mode(self, dim=-1, keepdim=False)", mostFrequent},
      {"bucketize(self, boundaries, *, out_int32=False, right=False)", bucketize},
      {"searchsorted(sorted_sequence, self, *, out_int32=False, right=False, side=None, "
       "sorter=None)",
       searchSorted},
      {"histc(self, bins=100, min=0, max=0)", histogram},
      {"bincount(self, weights=None, minlength=0)", numberCounts},
      {"cov(self, *, correction=1, fweights=None, aweights=None)", cov},
      {"corrcoef(self, correction=1, fweights=None, aweights=None)", correlation},
  };
  return rows;
}
