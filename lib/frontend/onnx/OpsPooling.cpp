// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pooling and its inverses.
#include "frontend/common/Formulas.h"
#include "frontend/common/Indexing.h"
#include "frontend/common/Patches.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/Windows.h"
#include "ir/nn/Nn.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

WindowGeometry geometryOf(Node &node, Tensor x) {
  checkSpatial(x);
  WindowGeometry g = readGeometry(node, x.shape().drop_front(2), node.integers("kernel_shape"));
  checkFits(g, x);
  return g;
}

/// Row-major positions in the tensor as positions that count the spatial dimensions column-major.
Tensor columnMajor(Tensor position, Tensor x) {
  int64_t channel = 1; // its elements
  for (int64_t extent : x.shape().drop_front(2))
    channel *= extent;
  Tensor result = (position / static_cast<double>(channel)) * static_cast<double>(channel);
  int64_t place = 1, later = channel;
  for (int64_t extent : x.shape().drop_front(2)) {
    later /= extent;
    Tensor index = prim::rem(position / static_cast<double>(later),
                             position.full(static_cast<double>(extent)));
    result = result + index * static_cast<double>(place);
    place *= extent;
  }
  return result;
}

Entities maxPool(Node &node) {
  Tensor x = node.in(0);
  WindowGeometry g = geometryOf(node, x);
  bool isFloat = isa<FloatType>(x.elementType());
  Entities results;
  results.push_back(isFloat ? node.make<nn::MaxPoolOp>({x}, windowAttributes(node, g))
                            : reduceWindow(node, x, g, prim::ReduceKind::max));
  if (node.wants(1)) {
    Tensor position = greatestElements(node, x, g);
    results.push_back(node.integer("storage_order", 0) ? columnMajor(position, x) : position);
  }
  return results;
}

Entities averagePool(Node &node) {
  Tensor x = node.floatIn(0);
  WindowGeometry g = geometryOf(node, x);
  SmallVector<NamedAttribute> attributes = windowAttributes(node, g);
  attributes.push_back(node.flag("count_include_pad", node.integer("count_include_pad", 0) != 0));
  return {node.make<nn::AveragePoolOp>({x}, attributes)};
}

/// (sum |x|^p)^(1/p)
Tensor norm(Tensor sum, double p) { return p == 1 ? sum : rootOf(sum, p); }
Tensor power(Tensor x, double p) {
  return p == 1 ? prim::abs(x) : p == 2 ? x * x : prim::pow(prim::abs(x), p);
}

/// Operator set 1 gave p as a float.
double exponent(Node &node) {
  const onnx::AttributeProto *p = node.find("p");
  return p && p->has_f() ? node.real("p") : static_cast<double>(node.integer("p", 2));
}

Entities lpPool(Node &node) {
  Tensor x = node.floatIn(0);
  double p = exponent(node);
  return {norm(reduceWindow(node, power(x, p), geometryOf(node, x), prim::ReduceKind::sum), p)};
}

// ---- over everything ----

SmallVector<int64_t> spatialOf(Tensor x) {
  if (x.rank() < 2)
    fail("needs batch and channels, but the input has the shape " + show(x.shape()));
  SmallVector<int64_t> dimensions(x.rank() - 2);
  std::iota(dimensions.begin(), dimensions.end(), 2);
  return dimensions;
}

Tensor keep(Tensor reduced, Tensor x) {
  SmallVector<int64_t> shape(x.rank(), 1);
  shape[0] = x.dim(0);
  shape[1] = x.dim(1);
  return reduced.reshape(shape);
}

Entities globalAveragePool(Node &node) {
  Tensor x = node.floatIn(0);
  return {keep(prim::mean(x, spatialOf(x)), x)};
}
Entities globalMaxPool(Node &node) {
  Tensor x = node.floatIn(0);
  return {keep(prim::reduce(prim::ReduceKind::max, x, spatialOf(x)), x)};
}
Entities globalLpPool(Node &node) {
  Tensor x = node.floatIn(0);
  double p = exponent(node);
  return {keep(norm(prim::sum(power(x, p), spatialOf(x)), p), x)};
}

// ---- inverses ----

/// The maxima back where they were: indices count through the whole result, as it is without
/// `output_shape`, which adds zeros at the ends.
Entities maxUnpool(Node &node) {
  Tensor x = node.in(0), indices = node.in(1);
  checkSpatial(x);
  bool isIndex = isa<IntegerType>(indices.elementType()) && !indices.elementType().isInteger(1);
  if (indices.shape() != x.shape() || !isIndex)
    fail("indices of shape " + show(indices.shape()) + " do not fit an input of shape " +
         show(x.shape()) + ", or are no integers");
  WindowGeometry g = readGeometry(node, x.shape().drop_front(2), node.integers("kernel_shape"));
  SmallVector<int64_t> shape(x.shape().take_front(2));
  for (size_t i = 0; i < g.rank(); ++i)
    shape.push_back((x.dim(static_cast<int64_t>(i) + 2) - 1) * g.strides[i] - g.low[i] - g.high[i] +
                    g.window[i]);
  int64_t size = tensorType(shape, x.elementType()).getNumElements();
  Tensor positions = flat(indices.convert(node.builder().getI64Type()));
  Tensor y = node.full({size}, x.elementType(), 0)
                 .scatter(positions, flat(x), 0, prim::ScatterKind::set)
                 .reshape(shape);
  if (!node.has(2))
    return {y};
  SmallVector<int64_t> wanted = node.knownIntegers(2, "output_shape"), low(shape.size(), 0), high;
  if (wanted.size() != shape.size())
    fail("output_shape needs " + Twine(shape.size()) + " entries");
  tensorType(wanted, x.elementType());
  for (auto [extent, least] : llvm::zip_equal(wanted, shape))
    high.push_back(extent - least);
  if (llvm::any_of(high, [](int64_t pad) { return pad < 0; }))
    fail("output_shape " + show(wanted) + " is smaller than " + show(shape));
  return {y.pad(0.0, low, high)};
}

Entities col2Im(Node &node) {
  SmallVector<int64_t> image = node.knownIntegers(1, "image_shape");
  WindowGeometry g = readGeometry(node, image, node.knownIntegers(2, "block_shape"));
  return {foldPatches(node, node.numberIn(0), image, g)};
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::poolingOps() {
  static const OpRow rows[] = {
      {"MaxPool", maxPool},
      {"AveragePool", averagePool},
      {"LpPool", lpPool},
      {"GlobalAveragePool", globalAveragePool},
      {"GlobalMaxPool", globalMaxPool},
      {"GlobalLpPool", globalLpPool},
      {"MaxUnpool", maxUnpool},
      {"Col2Im", col2Im},
  };
  return rows;
}
