// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Interpolation.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::Tensor;

// ---- taps ----

/// [places...] as [1, places...].
static Tensor asTap(Tensor x) {
  SmallVector<int64_t> shape = {1};
  llvm::append_range(shape, x.shape());
  return x.reshape(shape);
}

Taps accc::frontend::nearestTaps(Tensor place) {
  return {asTap(prim::roundEven(place)), std::nullopt};
}

Taps accc::frontend::linearTaps(Tensor place) {
  Tensor floor = prim::floor(place), t = place - floor;
  return {prim::concatenate({asTap(floor), asTap(floor + 1.0)}, 0),
          prim::concatenate({asTap(1.0 - t), asTap(t)}, 0)};
}

// Of an element at the distance d: (a + 2) d^3 - (a + 3) d^2 + 1 where d <= 1, and
// a d^3 - 5 a d^2 + 8 a d - 4 a up to 2 (R. G. Keys, 1981).
Taps accc::frontend::cubicTaps(Tensor place, double a) {
  Tensor floor = prim::floor(place), t = place - floor;
  auto near = [&](Tensor d) { return ((a + 2) * d - (a + 3)) * d * d + 1.0; };
  auto far = [&](Tensor d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {prim::concatenate(
              {asTap(floor - 1.0), asTap(floor), asTap(floor + 1.0), asTap(floor + 2.0)}, 0),
          prim::concatenate(
              {asTap(far(t + 1.0)), asTap(near(t)), asTap(near(1.0 - t)), asTap(far(2.0 - t))}, 0)};
}

// ---- elements ----

Tensor accc::frontend::moveLast(Tensor x, int64_t to) {
  SmallVector<int64_t> order(x.rank() - 1);
  std::iota(order.begin(), order.end(), 0);
  order.insert(order.begin() + to, x.rank() - 1);
  return x.transpose(order);
}

/// [samples, channels, spatial...] as rows of channels.
static Tensor rowsOfChannels(Tensor x) {
  SmallVector<int64_t> order(x.rank());
  std::iota(order.begin(), order.end(), 0);
  order.erase(order.begin() + 1);
  order.push_back(1);
  int64_t rows = x.dim(0);
  for (int64_t extent : x.shape().drop_front(2))
    rows *= extent;
  return x.transpose(order).reshape({rows, x.dim(1)});
}

Tensor accc::frontend::weightedElements(NodeBuilder &node, Tensor x, Tensor sample,
                                        ArrayRef<Taps> taps) {
  auto spatial = static_cast<int64_t>(taps.size());
  Tensor rows = rowsOfChannels(x);
  // Processors convert floats to narrow integers, several at once.
  bool isNarrow = rows.dim(0) + rows.dim(0) / std::max<int64_t>(x.dim(0), 1) < int64_t(1) << 31;
  Type type = isNarrow ? node.builder().getI32Type() : node.builder().getI64Type();
  // [taps of the first spatial dimension, ..., of the last, places...]
  SmallVector<int64_t> shape, places(sample.rank());
  int64_t combinations = 1;
  for (const Taps &each : taps) {
    shape.push_back(each.position.dim(0));
    combinations *= shape.back();
  }
  llvm::append_range(shape, sample.shape());
  std::iota(places.begin(), places.end(), spatial);
  SmallVector<int64_t> flat = {combinations}, result;
  llvm::append_range(flat, sample.shape());
  result = flat;
  result.push_back(x.dim(1));
  tensorType(result, node.builder().getI64Type());

  Tensor row = sample.convert(type).broadcast(shape, places);
  std::optional<Tensor> weight, isInside;
  for (auto [d, each] : llvm::enumerate(taps)) {
    SmallVector<int64_t> dimensions = {static_cast<int64_t>(d)};
    llvm::append_range(dimensions, places);
    int64_t extent = x.dim(static_cast<int64_t>(d) + 2);
    Tensor at = each.position;
    Tensor inside = prim::bitAnd(at >= 0.0, at <= static_cast<double>(extent - 1));
    Tensor index = prim::select(inside, at, 0.0).convert(type);
    row = row * static_cast<double>(extent) + index.broadcast(shape, dimensions);
    inside = inside.broadcast(shape, dimensions);
    isInside = isInside ? prim::bitAnd(*isInside, inside) : inside;
    if (each.weight) {
      Tensor factor = each.weight->convert(x.elementType()).broadcast(shape, dimensions);
      weight = weight ? *weight * factor : factor;
    }
  }

  Tensor values = rows.gather(row.reshape(flat), 0);
  SmallVector<int64_t> all(flat.size());
  std::iota(all.begin(), all.end(), 0);
  values = prim::select(isInside->reshape(flat).broadcast(result, all), values, 0.0);
  return weight ? values * weight->reshape(flat).broadcast(result, all) : values;
}

Tensor accc::frontend::interpolate(NodeBuilder &node, Tensor x, Tensor sample,
                                   ArrayRef<Taps> taps) {
  Tensor products = weightedElements(node, x, sample, taps);
  return products.dim(0) == 1 ? products.reshape(products.shape().drop_front())
                              : prim::sum(products, {0});
}

void accc::frontend::checkWideKernels(Tensor x, ArrayRef<int64_t> shape) {
  for (auto [in, out] : llvm::zip(x.shape(), shape))
    if (in != out && in * out > int64_t(1) << 26)
      fail("antialias from " + Twine(in) + " to " + Twine(out) + " elements is not supported");
}
