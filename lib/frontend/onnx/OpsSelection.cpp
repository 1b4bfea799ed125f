// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is there, and how much of it, depends on the data: these must be known at compile time, for
// every tensor has a size.
#include "frontend/common/Distinct.h"
#include "frontend/common/Indexing.h"
#include "frontend/onnx/OpTable.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

/// Throws ImportError unless an input is constant. A parameter's initial value does not count: it
/// would stay what it is while the parameter is trained.
void requireConstant(Node &node, size_t input, const Twine &result) {
  if (!node.isKnown(input))
    fail("the number of " + result + " depends on input " + Twine(input) +
         ", which is not a constant: no tensor here has a size that is found only while training");
}

Tensor asIndices(Node &node, ArrayRef<int64_t> values) {
  return node.integers(values, {static_cast<int64_t>(values.size())});
}

/// Which elements stay must be known, for the shape depends on it.
Entities compress(Node &node) {
  Tensor x = node.in(0);
  SmallVector<int64_t> kept;
  for (auto [i, keep] : llvm::enumerate(node.knownIntegers(1, "condition")))
    if (keep)
      kept.push_back(static_cast<int64_t>(i));
  int64_t axis = 0;
  if (node.hasAttribute("axis"))
    axis = node.axis(node.integer("axis"), x.rank());
  else
    x = flat(x);
  if (!kept.empty() && kept.back() >= x.dim(axis))
    fail("the condition is longer than the axis");
  return {x.gather(asIndices(node, kept), axis)};
}

Entities nonZero(Node &node) {
  Tensor x = node.in(0);
  SmallVector<double> values = node.knownReals(0, "input");
  SmallVector<int64_t> positions;
  for (auto [i, value] : llvm::enumerate(values))
    if (value != 0)
      positions.push_back(static_cast<int64_t>(i));
  int64_t count = static_cast<int64_t>(positions.size());
  SmallVector<int64_t> strides = stridesOf(x.shape()), indices;
  for (int64_t d = 0; d < x.rank(); ++d)
    for (int64_t position : positions)
      indices.push_back(position / strides[d] % x.dim(d));
  return {node.integers(indices, {x.rank(), count})};
}

/// The different slices along an axis, or the different elements.
Entities unique(Node &node) {
  requireConstant(node, 0, "different elements");
  Tensor x = node.in(0);
  SmallVector<int64_t> order = orderOfKnown(node, x, "input");
  int64_t axis = 0;
  if (node.hasAttribute("axis"))
    axis = node.axis(node.integer("axis"), x.rank());
  else
    x = flat(x);
  Among among = node.integer("sorted", 1) != 0 ? Among::allSorted : Among::allAsFound;
  Distinct different = distinctSlices(order, x.shape(), axis, among);
  Tensor indices = asIndices(node, different.first);
  return {x.gather(indices, axis), indices, asIndices(node, different.inverse),
          asIndices(node, different.counts)};
}

// ---- boxes ----

struct Box {
  double x0, y0, x1, y1;

  double area() const { return (x1 - x0) * (y1 - y0); }
};

/// Opposite corners as (y, x), or the center and the extents as (x, y).
Box boxOf(ArrayRef<double> numbers, bool isCentered) {
  double a = numbers[0], b = numbers[1], c = numbers[2], d = numbers[3];
  if (isCentered)
    return {a - c / 2, b - d / 2, a + c / 2, b + d / 2};
  return {std::min(b, d), std::min(a, c), std::max(b, d), std::max(a, c)};
}

/// Intersection over union.
double overlap(const Box &a, const Box &b) {
  Box common = {std::max(a.x0, b.x0), std::max(a.y0, b.y0), std::min(a.x1, b.x1),
                std::min(a.y1, b.y1)};
  bool meet = common.x0 < common.x1 && common.y0 < common.y1;
  return meet ? common.area() / (a.area() + b.area() - common.area()) : 0;
}

/// The boxes of a class, from the highest score down, that overlap none taken before.
SmallVector<int64_t> suppress(ArrayRef<Box> boxes, ArrayRef<double> scores, int64_t most,
                              double threshold, double least) {
  SmallVector<int64_t> candidates, taken;
  for (int64_t i = 0; i < static_cast<int64_t>(boxes.size()); ++i)
    if (scores[i] > least)
      candidates.push_back(i);
  llvm::sort(candidates, [&](int64_t a, int64_t b) {
    return scores[a] != scores[b] ? scores[a] > scores[b] : a < b;
  });
  for (int64_t i : candidates) {
    if (static_cast<int64_t>(taken.size()) >= most)
      break;
    if (llvm::none_of(taken, [&](int64_t j) { return overlap(boxes[i], boxes[j]) > threshold; }))
      taken.push_back(i);
  }
  return taken;
}

Entities nonMaxSuppression(Node &node) {
  for (size_t input : {0, 1})
    requireConstant(node, input, "selected boxes");
  Tensor boxes = node.in(0), scores = node.in(1);
  bool fit = boxes.rank() == 3 && scores.rank() == 3 && boxes.dim(2) == 4 &&
             scores.dim(0) == boxes.dim(0) && scores.dim(2) == boxes.dim(1);
  if (!fit)
    fail("boxes of the shape " + show(boxes.shape()) + " with scores of the shape " +
         show(scores.shape()));
  int64_t most = node.has(2) ? node.knownInteger(2, "greatest number of boxes") : 0;
  double threshold = node.has(3) ? node.knownReal(3, "overlap threshold") : 0;
  double least =
      node.has(4) ? node.knownReal(4, "score threshold") : -std::numeric_limits<double>::infinity();
  bool isCentered = node.integer("center_point_box", 0) != 0;
  SmallVector<double> corners = node.knownReals(0, "boxes"), values = node.knownReals(1, "scores");
  int64_t count = boxes.dim(1);
  SmallVector<int64_t> selected;
  for (int64_t batch = 0; batch < boxes.dim(0); ++batch) {
    SmallVector<Box> ofBatch;
    for (int64_t i = 0; i < count; ++i)
      ofBatch.push_back(boxOf(ArrayRef(corners).slice((batch * count + i) * 4, 4), isCentered));
    for (int64_t kind = 0; kind < scores.dim(1); ++kind) {
      ArrayRef<double> ofKind =
          ArrayRef(values).slice((batch * scores.dim(1) + kind) * count, count);
      for (int64_t i : suppress(ofBatch, ofKind, most, threshold, least))
        selected.append({batch, kind, i});
    }
  }
  return {node.integers(selected, {static_cast<int64_t>(selected.size()) / 3, 3})};
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::selectionOps() {
  static const OpRow rows[] = {
      {"Compress", compress},
      {"NonZero", nonZero},
      {"Unique", unique},
      {"NonMaxSuppression", nonMaxSuppression},
  };
  return rows;
}
