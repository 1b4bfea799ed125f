// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Padding and resizing.
#include "frontend/common/Interpolation.h"
#include "frontend/common/Padding.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/Tensors.h"
#include "ir/nn/Nn.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

// ---- pad ----

Entities pad(Node &node) {
  Tensor x = node.in(0);
  std::string mode = node.string("mode", "constant");
  bool attributes = node.opset() < 11;
  SmallVector<int64_t> pads = attributes ? node.integers(node.opset() < 2 ? "paddings" : "pads")
                                         : node.knownIntegers(1, "pads");
  SmallVector<int64_t> axes(x.rank());
  std::iota(axes.begin(), axes.end(), 0);
  if (node.has(3))
    axes = node.knownIntegers(3, "axes");
  node.axes(axes, x.rank());
  if (pads.size() != 2 * axes.size())
    fail("there are " + Twine(pads.size()) + " pads for " + Twine(axes.size()) + " axes");
  SmallVector<int64_t> low(x.rank(), 0), high(x.rank(), 0), interior(x.rank(), 0), shape(x.shape());
  for (auto [i, given] : llvm::enumerate(axes)) {
    int64_t axis = node.axis(given, x.rank());
    low[axis] = pads[i];
    high[axis] = pads[i + axes.size()];
    constexpr int64_t limit = int64_t(1) << 40;
    if (std::abs(low[axis]) > limit || std::abs(high[axis]) > limit)
      fail("a pad is " + Twine(low[axis]) + " or " + Twine(high[axis]));
    shape[axis] += low[axis] + high[axis];
  }
  tensorType(shape, x.elementType());
  if (mode == "constant") {
    Tensor value = node.scalar(attributes ? node.real("value", 0.0) : 0.0, x.elementType());
    if (!attributes && node.has(2))
      value = node.reshape(node.in(2), {}).convert(x.elementType());
    return {node.make<prim::PadOp>({x, value}, {node.list("low", low), node.list("high", high),
                                                node.list("interior", interior)})};
  }
  if (mode != "edge" && mode != "reflect" && mode != "wrap")
    fail("unknown mode '" + mode + "'");
  return {padByElements(node, x, mode, low, high)};
}

// ---- resize ----

nn::ResizeMode modeOf(Node &node) {
  std::string mode = node.string("mode", "nearest");
  if (mode == "nearest")
    return nn::ResizeMode::nearest;
  if (mode == "linear" || mode == "bilinear")
    return nn::ResizeMode::linear;
  if (mode == "cubic")
    return nn::ResizeMode::cubic;
  fail("unknown mode '" + mode + "'");
}

nn::ResizeCoordinates coordinatesOf(Node &node) {
  if (node.opset() < 11)
    return nn::ResizeCoordinates::asymmetric;
  std::string name = node.string("coordinate_transformation_mode", "half_pixel");
  auto coordinates = nn::symbolizeResizeCoordinates(name);
  if (!coordinates)
    fail("coordinate_transformation_mode '" + name + "' is not supported");
  return *coordinates;
}

nn::ResizeNearest nearestOf(Node &node) {
  if (node.opset() < 11)
    return nn::ResizeNearest::floor;
  std::string name = node.string("nearest_mode", "round_prefer_floor");
  auto nearest = nn::symbolizeResizeNearest(name);
  if (!nearest)
    fail("nearest_mode '" + name + "' is not supported");
  return *nearest;
}

/// keep_aspect_ratio_policy: one scale for all axes, the least or the greatest.
void keepAspect(Node &node, Tensor x, ArrayRef<int64_t> axes, SmallVector<double> &scales,
                SmallVector<int64_t> &shape) {
  std::string policy = node.string("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch")
    return;
  if (policy != "not_larger" && policy != "not_smaller")
    fail("unknown keep_aspect_ratio_policy '" + policy + "'");
  double scale = scales[axes.front()];
  for (int64_t axis : axes)
    scale = policy == "not_larger" ? std::min(scale, scales[axis]) : std::max(scale, scales[axis]);
  for (int64_t axis : axes) {
    scales[axis] = scale;
    shape[axis] = static_cast<int64_t>(std::floor(scale * static_cast<double>(x.dim(axis)) + 0.5));
  }
}

/// The region that tf_crop_and_resize takes, as the starts and the ends of all dimensions.
SmallVector<double> regionOf(Node &node, Tensor x, ArrayRef<int64_t> axes) {
  SmallVector<double> given = node.knownReals(1, "roi"), region(2 * x.rank(), 0.0);
  if (given.size() != 2 * axes.size())
    fail("the roi (input 1) has " + Twine(given.size()) + " entries for " + Twine(axes.size()) +
         " axes");
  std::fill(region.begin() + x.rank(), region.end(), 1.0);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    region[axis] = given[i];
    region[x.rank() + axis] = given[axes.size() + i];
  }
  return region;
}

Entities resize(Node &node) {
  Tensor x = node.in(0);
  SmallVector<int64_t> axes(x.rank());
  std::iota(axes.begin(), axes.end(), 0);
  if (node.hasAttribute("axes"))
    axes = node.integers("axes");
  for (int64_t &axis : axes)
    axis = node.axis(axis, x.rank());

  nn::ResizeCoordinates coordinates = coordinatesOf(node);
  SmallVector<double> region;
  if (coordinates == nn::ResizeCoordinates::tf_crop_and_resize)
    region = regionOf(node, x, axes);
  size_t scalesInput = node.opset() < 11 ? 1 : 2;
  bool hasSizes = node.has(3) && node.in(3).size() > 0;
  SmallVector<double> scales(x.rank(), 1.0);
  SmallVector<int64_t> shape(x.shape());
  if (hasSizes) {
    SmallVector<int64_t> sizes = node.knownIntegers(3, "sizes");
    if (sizes.size() != axes.size())
      fail("there are " + Twine(sizes.size()) + " sizes for " + Twine(axes.size()) + " axes");
    for (auto [axis, size] : llvm::zip(axes, sizes)) {
      if (size < 1 || size > int64_t(1) << 40 || x.dim(axis) == 0)
        fail("cannot resize an axis of " + Twine(x.dim(axis)) + " elements to " + Twine(size));
      shape[axis] = size;
      scales[axis] = static_cast<double>(size) / static_cast<double>(x.dim(axis));
    }
    keepAspect(node, x, axes, scales, shape);
  } else {
    SmallVector<double> given =
        node.has(scalesInput) ? node.knownReals(scalesInput, "scales") : node.reals("scales");
    if (given.size() != axes.size())
      fail("there are " + Twine(given.size()) + " scales for " + Twine(axes.size()) + " axes");
    for (auto [axis, scale] : llvm::zip(axes, given)) {
      double share = region.empty() ? 1.0 : region[x.rank() + axis] - region[axis];
      double extent = std::floor(scale * share * static_cast<double>(x.dim(axis)));
      if (!(scale > 0) || !(extent >= 0) || !(extent < 0x1p40))
        fail("the scale " + Twine(std::to_string(scale)) + " makes no sense");
      scales[axis] = scale;
      shape[axis] = static_cast<int64_t>(extent);
    }
  }
  MLIRContext *context = &node.context();
  bool isFloat = isa<FloatType>(x.elementType());
  Tensor wide = isFloat ? x : x.convert(node.builder().getF32Type());
  SmallVector<NamedAttribute> attributes = {
      node.attr("scales", node.builder().getDenseF64ArrayAttr(scales)),
      node.attr("mode", nn::ResizeModeAttr::get(context, modeOf(node))),
      node.attr("coordinates", nn::ResizeCoordinatesAttr::get(context, coordinates)),
      node.attr("nearest", nn::ResizeNearestAttr::get(context, nearestOf(node))),
      node.f64("cubic_coefficient", node.real("cubic_coeff_a", -0.75))};
  if (!region.empty()) {
    attributes.push_back(node.attr("region", node.builder().getDenseF64ArrayAttr(region)));
    attributes.push_back(node.f64("extrapolation", node.real("extrapolation_value", 0.0)));
  }
  if (node.integer("antialias", 0) != 0)
    checkWideKernels(x, shape);
  for (const char *flag : {"antialias", "exclude_outside"})
    if (node.integer(flag, 0) != 0)
      attributes.push_back(node.attr(flag, node.builder().getUnitAttr()));
  Tensor y = node.make<nn::ResizeOp>({wide}, attributes, {tensorType(shape, wide.elementType())});
  return {y.convert(x.elementType())};
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::resizeOps() {
  static const OpRow rows[] = {
      {"Pad", pad},
      {"Resize", resize},
      {"Upsample", resize},
  };
  return rows;
}
