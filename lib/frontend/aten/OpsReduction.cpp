// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions, running reductions, order.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Parts.h"
#include "frontend/aten/Promotion.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Formulas.h"
#include "frontend/common/Indexing.h"
#include "ir/nn/Nn.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

/// A reduced tensor, with extents of 1 where it was reduced if the call asks for that.
Tensor kept(Node &node, Tensor reduced, Tensor x, ArrayRef<int64_t> dims) {
  if (!node.boolean("keepdim"))
    return reduced;
  SmallVector<int64_t> shape(x.shape());
  for (int64_t d : dims)
    shape[d] = 1;
  return reduced.reshape(shape);
}

int64_t countOf(Tensor x, ArrayRef<int64_t> dims) {
  int64_t count = 1;
  for (int64_t d : dims)
    count *= x.dim(d);
  return count;
}

Tensor summand(Node &node) {
  Tensor x = node.in("self");
  Type type =
      isa<IntegerType>(x.elementType()) ? Type(node.builder().getI64Type()) : x.elementType();
  return x.convert(node.elementType("dtype", type));
}

Entities sumOf(Node &node) {
  Tensor x = summand(node);
  SmallVector<int64_t> dims = node.dims("dim", x);
  return {kept(node, prim::sum(x, dims), x, dims)};
}
Entities mean(Node &node) {
  Tensor x = node.in("self");
  x = x.convert(node.elementType("dtype", x.elementType()));
  if (!isa<FloatType>(x.elementType()))
    fail("the mean of integers is no float; PyTorch refuses it, too");
  SmallVector<int64_t> dims = node.dims("dim", x);
  return {kept(node, prim::mean(x, dims), x, dims)};
}

/// NaN do not count.
Entities sumOfNumbers(Node &node) {
  Tensor x = node.in("self");
  node.set("self", prim::select(prim::notEqual(x, x), x.full(0.0), x).get());
  return sumOf(node);
}
Entities meanOfNumbers(Node &node) {
  Tensor x = node.floatIn("self");
  Tensor total = node.wrap(sumOfNumbers(node).front().tensor);
  node.set("self", prim::equal(x, x).convert(x.elementType()).get());
  return {total / node.wrap(sumOf(node).front().tensor)};
}

/// Along one dimension, or over everything without one.
Entities product(Node &node) {
  Tensor x = summand(node);
  SmallVector<int64_t> dims = node.dims("dim", x);
  return {kept(node, prim::reduce(prim::ReduceKind::prod, x, dims), x, dims)};
}

/// The variance of float elements, and their mean.
std::pair<Tensor, Tensor> varianceAndMean(Node &node, Tensor x, ArrayRef<int64_t> dims) {
  double correction = node.has("correction") ? node.number("correction") : node.boolean("unbiased");
  Tensor average = prim::mean(x, dims);
  Tensor centred = x - average.broadcastAlong(x.shape(), dims);
  double freedom = std::max(0.0, static_cast<double>(countOf(x, dims)) - correction);
  return {prim::sum(centred * centred, dims) / freedom, average};
}

template <bool root, bool withMean> Entities variance(Node &node) {
  Tensor x = node.floatIn("self");
  SmallVector<int64_t> dims = node.dims("dim", x);
  auto [var, average] = varianceAndMean(node, x, dims);
  Entities results = {kept(node, root ? rootOf(var) : var, x, dims)};
  if (withMean)
    results.push_back(kept(node, average, x, dims));
  return results;
}

/// The greatest or least along `dims`, which are dropped; of booleans, whether any or all are true.
Tensor extremeOver(Node &node, prim::ReduceKind kind, Tensor x, ArrayRef<int64_t> dims) {
  return prim::reduce(kind, asOrdered(node, x), dims).convert(x.elementType());
}

template <prim::ReduceKind kind> Entities extreme(Node &node) {
  Tensor x = node.in("self");
  SmallVector<int64_t> dims = node.dims("dim", x);
  return {kept(node, extremeOver(node, kind, x, dims), x, dims)};
}

/// Of all elements. Those that are equal to it share its gradient evenly, NaN among them.
template <prim::ReduceKind kind> Entities extremeOfAll(Node &node) {
  Tensor x = node.in("self");
  if (!isa<FloatType>(x.elementType()))
    return {extremeOver(node, kind, flat(x), {0})};
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Tensor isNan = prim::notEqual(x, x), y = flat(x);
  Tensor numbers =
      prim::select(flat(isNan), kind == prim::ReduceKind::max ? -infinity : infinity, y);
  Tensor hasNan = prim::sumAll(isNan.convert(x.elementType())) > 0.0;
  return {prim::select(hasNan, nanOf(x), prim::reduce(kind, numbers, {0}))};
}

Entities extremes(Node &node) {
  return {extreme<prim::ReduceKind::min>(node).front(),
          extreme<prim::ReduceKind::max>(node).front()};
}

/// Whether all or any elements are other than 0.
template <prim::ReduceKind kind> Entities logical(Node &node) {
  Tensor x = node.in("self");
  SmallVector<int64_t> dims = node.dims("dim", x);
  Tensor truth = x.elementType().isInteger(1) ? x : prim::notEqual(x, 0.0);
  return {kept(node, extremeOver(node, kind, truth, dims), x, dims)};
}

Tensor argument(Node &node, Tensor x, prim::ReduceKind kind, int64_t dim) {
  return node.make<prim::ArgReduceOp>(
      {asOrdered(node, x)}, {node.attr("kind", prim::ReduceKindAttr::get(&node.context(), kind)),
                             node.i64("dimension", dim)});
}

/// The position of the first extreme, along one dimension or in the whole tensor.
template <prim::ReduceKind kind> Entities position(Node &node) {
  Tensor x = node.in("self");
  if (!node.has("dim") || x.rank() == 0) {
    Tensor at = argument(node, flat(x), kind, 0);
    SmallVector<int64_t> dims(x.rank());
    std::iota(dims.begin(), dims.end(), 0);
    return {kept(node, at, x, dims)};
  }
  int64_t dim = node.dim("dim", x);
  return {kept(node, argument(node, x, kind, dim), x, {dim})};
}

/// Along a dimension: the extreme and where it is. The gradient goes to that element alone.
template <prim::ReduceKind kind> Entities extremeAlong(Node &node) {
  Tensor x = node.in("self");
  if (x.rank() == 0)
    return {x, node.full({}, node.builder().getI64Type(), 0)};
  int64_t dim = node.dim("dim", x);
  Tensor at = argument(node, x, kind, dim);
  SmallVector<int64_t> one(x.shape());
  one[dim] = 1;
  Tensor index = at.reshape(one);
  Tensor value = flat(x).gather(alongAxis(node, index, x.shape(), dim), 0);
  return {kept(node, value.reshape(at.shape()), x, {dim}), kept(node, at, x, {dim})};
}

// ---- norms ----

Entities vectorNorm(Node &node, StringRef order) {
  Tensor x = node.in("self");
  x = asFloat(node, x.convert(node.elementType("dtype", x.elementType())));
  SmallVector<int64_t> dims = node.dims("dim", x);
  double p = node.has(order) ? node.number(order) : 2;
  return {kept(node, norm(x, p, dims), x, dims)};
}
Entities linalgVectorNorm(Node &node) { return vectorNorm(node, "ord"); }
Entities pNorm(Node &node) { return vectorNorm(node, "p"); }

Entities logSumExp(Node &node) {
  Tensor x = node.floatIn("self");
  SmallVector<int64_t> dims = node.dims("dim", x);
  Tensor greatest = detach(prim::reduce(prim::ReduceKind::max, x, dims));
  // Where all are -inf, nothing is subtracted.
  greatest = prim::select(prim::isFinite(greatest), greatest, greatest.full(0.0));
  Tensor sum = prim::sum(prim::exp(x - greatest.broadcastAlong(x.shape(), dims)), dims);
  return {kept(node, prim::log(sum) + greatest, x, dims)};
}

// ---- running ----

Tensor cumulative(Node &node, Tensor x, prim::ReduceKind kind) {
  if (x.rank() == 0)
    return x;
  return prim::cumulative(kind, x, node.dim("dim", x));
}
Entities cumulativeSum(Node &node) {
  return {cumulative(node, summand(node), prim::ReduceKind::sum)};
}
Entities cumulativeProduct(Node &node) {
  return {cumulative(node, summand(node), prim::ReduceKind::prod)};
}

/// The greatest or least element so far, and where the last such stands.
template <prim::ReduceKind kind> Entities runningExtreme(Node &node) {
  Tensor self = node.in("self"), x = asOrdered(node, self);
  Tensor values = cumulative(node, x, kind);
  if (x.rank() == 0)
    return {self, node.iota({1}, 0).reshape({})};
  Tensor at = node.iota(x.shape(), node.dim("dim", x));
  Tensor isSuch = prim::equal(x, values);
  if (isa<FloatType>(x.elementType()))
    isSuch = prim::bitOr(isSuch, prim::notEqual(x, x)); // a NaN is the greatest, and the least
  Tensor last = cumulative(node, prim::select(isSuch, at, at.full(0.0)), prim::ReduceKind::max);
  return {values.convert(self.elementType()), last};
}

/// The differences of neighbours, n times, of the tensor with others before and behind.
Entities diff(Node &node) {
  Tensor x = node.in("self");
  int64_t times = node.integer("n");
  if (times == 0) // PyTorch then leaves out what stands before and behind
    return {x};
  if (x.rank() == 0)
    fail("a tensor without dimensions has no neighbours");
  int64_t dim = node.dim("dim", x);
  SmallVector<Tensor> parts;
  Type type = resultType(node, {"prepend", "self", "append"});
  for (StringRef name : {"prepend", "self", "append"})
    if (node.has(name))
      parts.push_back(asTensor(node, name, type));
  x = parts.size() == 1 ? x : node.concatenate(parts, dim);
  for (int64_t n = 0; n < times && x.dim(dim) > 0; ++n) {
    Tensor next = x.sliceDim(dim, 1, x.dim(dim)), before = x.sliceDim(dim, 0, x.dim(dim) - 1);
    x = x.elementType().isInteger(1) ? prim::notEqual(next, before) : next - before;
  }
  return {x};
}

/// log of the running sum of exponentials. Its terms may be of any size, and -inf: relative to the
/// greatest of all, those far below it would be 0.
Entities logCumulativeSumExp(Node &node) {
  Tensor x = node.floatIn("self");
  if (x.rank() == 0 || x.size() == 0)
    return {x};
  size_t dim = static_cast<size_t>(node.dim("dim", x));
  auto product = [](ArrayRef<int64_t> extents) {
    return std::accumulate(extents.begin(), extents.end(), int64_t(1), std::multiplies<>());
  };
  ArrayRef<int64_t> shape = x.shape();
  int64_t before = product(shape.take_front(dim)), rows = shape[dim],
          columns = product(shape.drop_front(dim + 1));
  Tensor terms = prim::widen(x).reshape({before, rows, columns});
  Tensor goesOn = node.full({before, 1, rows, columns}, terms.elementType(), 0.0);
  Tensor sums = node.make<prim::LogRecurrenceOp>({terms, goesOn});
  return {sums.reshape(shape).convert(x.elementType())};
}

Entities countNonzero(Node &node) {
  Tensor x = node.in("self");
  Tensor truth = x.elementType().isInteger(1) ? x : prim::notEqual(x, 0.0);
  return {prim::sum(truth.convert(node.builder().getI64Type()), node.dims("dim", x))};
}

// ---- order ----

std::pair<Tensor, Tensor> sorted(Node &node, Tensor x, int64_t dim, bool descending) {
  Operation *op = node.create<prim::SortOp>(
      {asOrdered(node, x)}, {node.i64("dimension", dim), node.flag("descending", descending)});
  return {node.wrap(op->getResult(0)).convert(x.elementType()), node.wrap(op->getResult(1))};
}

Entities sort(Node &node) {
  Tensor x = node.in("self");
  if (x.rank() == 0)
    return {x, node.full({}, node.builder().getI64Type(), 0)};
  auto [values, indices] = sorted(node, x, node.dim("dim", x), node.boolean("descending"));
  return {values, indices};
}
Entities argsort(Node &node) { return {sort(node)[1]}; }
/// Along the first dimension, without the indices.
Entities sortedRows(Node &node) { return {sort(node)[0]}; }

/// The element of rank k, counted from 1, and where it is.
Entities atRank(Node &node, Tensor x, int64_t dim, int64_t k) {
  if (x.rank() == 0)
    return {x, node.full({}, node.builder().getI64Type(), 0)};
  if (k < 1 || k > x.dim(dim))
    fail("k is " + Twine(k) + " for a tensor of shape " + show(x.shape()));
  auto [values, indices] = sorted(node, x, dim, false);
  SmallVector<int64_t> shape(x.shape());
  shape.erase(shape.begin() + dim);
  return {kept(node, values.sliceDim(dim, k - 1, k).reshape(shape), x, {dim}),
          kept(node, indices.sliceDim(dim, k - 1, k).reshape(shape), x, {dim})};
}
Entities kthValue(Node &node) {
  Tensor x = node.in("self");
  return atRank(node, x, node.dim("dim", x), node.integer("k"));
}
/// The lower one of two in the middle, or the first NaN.
Entities medianAlong(Node &node) {
  Tensor x = node.in("self");
  int64_t dim = node.dim("dim", x);
  if (x.rank() == 0 || x.dim(dim) == 0 || !isa<FloatType>(x.elementType()))
    return atRank(node, x, dim, x.rank() == 0 ? 1 : (x.dim(dim) + 1) / 2);
  Tensor indices = sorted(node, x, dim, false).second;
  int64_t middle = (x.dim(dim) - 1) / 2;
  SmallVector<int64_t> one(x.shape()), shape(x.shape());
  one[dim] = 1;
  shape.erase(shape.begin() + dim);
  Tensor isNan = prim::notEqual(x, x);
  Tensor firstNan = argument(node, isNan, prim::ReduceKind::max, dim);
  Tensor hasNan = prim::sum(isNan.convert(node.builder().getI64Type()), {dim}) > 0.0;
  Tensor at =
      prim::select(hasNan, firstNan, indices.sliceDim(dim, middle, middle + 1).reshape(shape));
  Tensor value = flat(x).gather(alongAxis(node, at.reshape(one), x.shape(), dim), 0);
  return {kept(node, value.reshape(shape), x, {dim}), kept(node, at, x, {dim})};
}
Entities topk(Node &node) {
  Tensor x = node.in("self");
  int64_t k = node.integer("k"), dim = node.dim("dim", x);
  if (x.rank() == 0 && k == 1)
    return {x, node.full({}, node.builder().getI64Type(), 0)};
  if (x.rank() == 0 || k < 0 || k > x.dim(dim))
    fail("k is " + Twine(k) + " for a tensor of shape " + show(x.shape()));
  auto [values, indices] = sorted(node, x, dim, node.boolean("largest"));
  return {values.sliceDim(dim, 0, k), indices.sliceDim(dim, 0, k)};
}

} // namespace

ArrayRef<OpRow> accc::aten::reductionOps() {
  using enum prim::ReduceKind;
  using enum Alias;
  static const OpRow rows[] = {
      {"sum(self, dim=None, keepdim=False, *, dtype=None)",
       [](Node &node) { return byParts(node, sumOf, {"self"}); }, None, selected::sum},
      {"mean(self, dim=None, keepdim=False, *, dtype=None)",
       [](Node &node) { return byParts(node, mean, {"self"}); }, None, selected::mean},
      {"nansum(self, dim=None, keepdim=False, *, dtype=None)", sumOfNumbers, None, selected::sum},
      {"nanmean(self, dim=None, keepdim=False, *, dtype=None)", meanOfNumbers},
      {"prod(self, dim=None, keepdim=False, *, dtype=None)", product, None, selected::multiplied},
      {"var(self, dim=None, unbiased=True, keepdim=False, *, correction=None)",
       variance<false, false>, None, selected::variance},
      {"std(self, dim=None, unbiased=True, keepdim=False, *, correction=None)",
       variance<true, false>, None, selected::deviation},
      {"var_mean(self, dim=None, unbiased=True, keepdim=False, *, correction=None)",
       variance<false, true>},
      {"std_mean(self, dim=None, unbiased=True, keepdim=False, *, correction=None)",
       variance<true, true>},
      {"amax(self, dim=[], keepdim=False)", extreme<max>, None, selected::greatest},
      {"amin(self, dim=[], keepdim=False)", extreme<min>, None, selected::least},
      {"max(self)", extremeOfAll<max>, None, selected::greatest},
      {"min(self)", extremeOfAll<min>, None, selected::least},
      {"aminmax(self, *, dim=None, keepdim=False)", extremes},
      {"max.dim(self, dim, keepdim=False)", extremeAlong<max>},
      {"min.dim(self, dim, keepdim=False)", extremeAlong<min>},
      {"argmax(self, dim=None, keepdim=False)", position<max>, None, selected::placeOfExtreme},
      {"argmin(self, dim=None, keepdim=False)", position<min>, None, selected::placeOfExtreme},
      {"all(self, dim=None, keepdim=False)", logical<min>, None, selected::all},
      {"any(self, dim=None, keepdim=False)", logical<max>, None, selected::any},
      {"_is_all_true(self, dim=None, keepdim=False)", logical<min>},
      {"_is_any_true(self, dim=None, keepdim=False)", logical<max>},
      {"linalg_vector_norm(self, ord=2, dim=None, keepdim=False, *, dtype=None)",
       byMagnitudes<linalgVectorNorm>, None, selected::norm},
      {"frobenius_norm(self, dim, keepdim=False, p=2, dtype=None)", byMagnitudes<pNorm>},
      {"norm(self, p=2, dim=None, keepdim=False, *, dtype=None)", byMagnitudes<pNorm>, None,
       selected::norm},
      {"logsumexp(self, dim, keepdim=False)", logSumExp, None, selected::logSumExp},
      {"special_logsumexp(self, dim, keepdim=False)", logSumExp, None, selected::logSumExp},
      {"cumsum(self, dim, *, dtype=None)",
       [](Node &node) { return byParts(node, cumulativeSum, {"self"}); }, None,
       selected::cumulativeSum},
      {"cumprod(self, dim, *, dtype=None)", cumulativeProduct, None, selected::cumulativeProduct},
      {"logcumsumexp(self, dim)", logCumulativeSumExp},
      {"cummax(self, dim)", runningExtreme<max>},
      {"cummin(self, dim)", runningExtreme<min>},
      {"diff(self, n=1, dim=-1, prepend=None, append=None)",
       [](Node &node) { return byParts(node, diff, {"prepend", "append"}); }},
      {"count_nonzero(self, dim=None)", countNonzero, None, selected::sum},
      {"kthvalue(self, k, dim=-1, keepdim=False)", kthValue},
      {"median.dim(self, dim, keepdim=False)", medianAlong},
      {"sort(self, dim=-1, descending=False)", sort},
      {"sort.stable(self, *, stable=None, dim=-1, descending=False)", sort},
      {"argsort(self, dim=-1, descending=False)", argsort},
      {"argsort.stable(self, *, stable=None, dim=-1, descending=False)", argsort},
      {"msort(self, dim=0, descending=False)", sortedRows},
      {"topk(self, k, dim=-1, largest=True, sorted=True)", topk},
  };
  return rows;
}
