// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions, extremes and running sums.
#include "frontend/common/Formulas.h"
#include "frontend/onnx/OpTable.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::ReduceKind;
using accc::prim::Tensor;

namespace {

/// Reduces a tensor along dimensions, which disappear.
using Reduction = Tensor (*)(Tensor, ArrayRef<int64_t>);

Tensor sumOf(Tensor x, ArrayRef<int64_t> dims) { return prim::sum(x, dims); }
Tensor prodOf(Tensor x, ArrayRef<int64_t> dims) { return prim::reduce(ReduceKind::prod, x, dims); }
Tensor maxOf(Tensor x, ArrayRef<int64_t> dims) {
  return prim::reduce(x.elementType().isInteger(1) ? ReduceKind::any : ReduceKind::max, x, dims);
}
Tensor minOf(Tensor x, ArrayRef<int64_t> dims) {
  return prim::reduce(x.elementType().isInteger(1) ? ReduceKind::all : ReduceKind::min, x, dims);
}
Tensor meanOf(Tensor x, ArrayRef<int64_t> dims) {
  if (isa<FloatType>(x.elementType()))
    return prim::mean(x, dims);
  double count = 1;
  for (int64_t d : dims)
    count *= static_cast<double>(x.dim(d));
  return prim::sum(x, dims) / count;
}
Tensor l1Of(Tensor x, ArrayRef<int64_t> dims) { return prim::sum(prim::abs(x), dims); }
Tensor sumSquareOf(Tensor x, ArrayRef<int64_t> dims) { return prim::sum(x * x, dims); }

/// Integers through doubles.
Tensor inFloat(Tensor x, Tensor (*f)(Tensor)) {
  if (isa<FloatType>(x.elementType()))
    return f(x);
  return f(x.convert(x.getBuilder().getF64Type())).convert(x.elementType());
}
Tensor l2Of(Tensor x, ArrayRef<int64_t> dims) {
  return inFloat(sumSquareOf(x, dims), [](Tensor squares) { return rootOf(squares); });
}
Tensor logSumOf(Tensor x, ArrayRef<int64_t> dims) { return inFloat(sumOf(x, dims), prim::log); }

/// m + log sum e^(x - m) with m the greatest element, or 0 where that is not finite.
Tensor logSumExpOf(Tensor x, ArrayRef<int64_t> dims) {
  if (!isa<FloatType>(x.elementType()))
    return logSumExpOf(x.convert(x.getBuilder().getF64Type()), dims).convert(x.elementType());
  Tensor greatest = maxOf(x, dims);
  Tensor shift = prim::select(prim::isFinite(greatest), greatest, 0.0);
  return shift + prim::log(prim::sum(prim::exp(x - shift.broadcastAlong(x.shape(), dims)), dims));
}

/// `axes` is an attribute in old operator sets, an input in new ones; left out it means all, or
/// none if noop_with_empty_axes says so (the elementwise part of the reduction is done then, too).
template <Reduction reduction> Entities reduce(Node &node) {
  constexpr bool isLogical = reduction == maxOf || reduction == minOf;
  Tensor x = isLogical ? node.in(0) : node.numberIn(0);
  auto given = node.integersFrom("axes", 1);
  SmallVector<int64_t> axes;
  if (given && !given->empty()) {
    axes = node.axes(*given, x.rank());
  } else if (node.integer("noop_with_empty_axes", 0) == 0) {
    axes.resize(x.rank());
    std::iota(axes.begin(), axes.end(), 0);
  }
  Tensor y = reduction(x, axes);
  if (node.integer("keepdims", 1) == 0)
    return {y};
  SmallVector<int64_t> shape(x.shape());
  for (int64_t axis : axes)
    shape[axis] = 1;
  return {y.reshape(shape)};
}

// ---- positions of extremes ----

template <ReduceKind kind> Entities arg(Node &node) {
  Tensor x = node.in(0);
  int64_t axis = node.axis(node.integer("axis", 0), x.rank());
  if (x.dim(axis) == 0)
    fail("there is no extreme along an axis of extent 0");
  bool last = node.integer("select_last_index", 0) != 0;
  if (last)
    x = x.reverse({axis});
  Tensor index = node.make<prim::ArgReduceOp>(
      {x}, {node.attr("kind", prim::ReduceKindAttr::get(&node.context(), kind)),
            node.i64("dimension", axis)});
  if (last)
    index = static_cast<double>(x.dim(axis) - 1) - index;
  if (node.integer("keepdims", 1) == 0)
    return {index};
  SmallVector<int64_t> shape(x.shape());
  shape[axis] = 1;
  return {index.reshape(shape)};
}

/// Exclusive: shifted by one, starting from the neutral element.
template <ReduceKind kind> Entities cumulative(Node &node) {
  Tensor x = node.in(0);
  int64_t axis = node.axis(node.knownInteger(1, "axis"), x.rank());
  bool reverse = node.integer("reverse", 0) != 0;
  if (reverse)
    x = x.reverse({axis});
  if (node.integer("exclusive", 0) != 0 && x.dim(axis) > 0) {
    SmallVector<int64_t> low(x.rank(), 0), high(x.rank(), 0);
    low[axis] = 1;
    high[axis] = -1;
    x = x.pad(kind == ReduceKind::sum ? 0.0 : 1.0, low, high);
  }
  Tensor y = prim::cumulative(kind, x, axis);
  return {reverse ? y.reverse({axis}) : y};
}

Entities topK(Node &node) {
  Tensor x = node.in(0);
  int64_t axis = node.axis(node.integer("axis", -1), x.rank());
  int64_t k = node.opset() < 10 ? node.integer("k") : node.knownInteger(1, "number k");
  if (k < 0 || k > x.dim(axis))
    fail("k is " + Twine(k) + " but the axis has " + Twine(x.dim(axis)) + " elements");
  bool descending = node.integer("largest", 1) != 0;
  Operation *sorted = node.create<prim::SortOp>(
      {x}, {node.i64("dimension", axis), node.flag("descending", descending)});
  return {node.wrap(sorted->getResult(0)).sliceDim(axis, 0, k),
          node.wrap(sorted->getResult(1)).sliceDim(axis, 0, k)};
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::reductionOps() {
  static const OpRow rows[] = {
      {"ReduceSum", reduce<sumOf>},
      {"ReduceProd", reduce<prodOf>},
      {"ReduceMax", reduce<maxOf>},
      {"ReduceMin", reduce<minOf>},
      {"ReduceMean", reduce<meanOf>},
      {"ReduceL1", reduce<l1Of>},
      {"ReduceL2", reduce<l2Of>},
      {"ReduceLogSum", reduce<logSumOf>},
      {"ReduceLogSumExp", reduce<logSumExpOf>},
      {"ReduceSumSquare", reduce<sumSquareOf>},
      {"ArgMax", arg<ReduceKind::max>},
      {"ArgMin", arg<ReduceKind::min>},
      {"CumSum", cumulative<ReduceKind::sum>},
      {"CumProd", cumulative<ReduceKind::prod>},
      {"TopK", topK},
  };
  return rows;
}
