// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images sampled at computed places, on grids and in regions.
#include "frontend/common/GridSample.h"
#include "frontend/common/Regions.h"
#include "frontend/onnx/OpTable.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

// ---- grids ----

/// Operator set 16 said bilinear and bicubic.
GridInterpolation interpolationOf(Node &node) {
  std::string mode = node.string("mode", "linear");
  if (mode == "linear" || mode == "bilinear")
    return GridInterpolation::linear;
  if (mode == "cubic" || mode == "bicubic")
    return GridInterpolation::cubic;
  if (mode == "nearest")
    return GridInterpolation::nearest;
  fail("unknown mode '" + mode + "'");
}

GridPadding paddingOf(Node &node) {
  std::string mode = node.string("padding_mode", "zeros");
  if (mode == "zeros")
    return GridPadding::zeros;
  if (mode == "border")
    return GridPadding::border;
  if (mode == "reflection")
    return GridPadding::reflection;
  fail("unknown padding_mode '" + mode + "'");
}

Entities gridSampled(Node &node) {
  GridInterpolation interpolation = interpolationOf(node);
  Tensor x = interpolation == GridInterpolation::nearest ? node.in(0) : node.floatIn(0);
  return {gridSample(node, x, node.floatIn(1), interpolation, paddingOf(node),
                     node.integer("align_corners", 0) != 0)};
}

Entities affineGrids(Node &node) {
  return {affineGrid(node, node.floatIn(0), node.knownIntegers(1, "size"),
                     node.integer("align_corners", 0) != 0)};
}

// ---- regions ----

Entities roiAlign(Node &node) {
  Tensor x = node.floatIn(0), images = node.in(2);
  if (!isa<IntegerType>(images.elementType()))
    fail("the batch indices must be integers");
  Regions regions{node.floatIn(1), images.convert(node.builder().getI64Type()),
                  node.real("spatial_scale", 1.0), node.integer("output_height", 1),
                  node.integer("output_width", 1)};
  // Before operator set 16 there was no choice.
  std::string coordinates = node.string("coordinate_transformation_mode",
                                        node.opset() < 16 ? "output_half_pixel" : "half_pixel");
  std::string mode = node.string("mode", "avg");
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel")
    fail("coordinate_transformation_mode '" + coordinates + "' is not supported");
  if (mode != "avg" && mode != "max")
    fail("unknown mode '" + mode + "'");
  return {alignRegions(
      node, x, regions,
      {coordinates == "half_pixel", node.integer("sampling_ratio", 0), mode == "max"})};
}

/// Each row of the regions begins with the image.
Entities maxRoiPool(Node &node) {
  Tensor x = node.floatIn(0), rows = node.floatIn(1);
  SmallVector<int64_t> pooled = node.integers("pooled_shape");
  if (pooled.size() != 2 || rows.rank() != 2 || rows.dim(1) != 5)
    fail("regions of shape " + show(rows.shape()) + " or pooled_shape " + show(pooled) +
         " are not supported");
  Tensor images = rows.sliceDim(1, 0, 1).reshape({rows.dim(0)});
  return {poolRegions(node, x,
                      {rows.sliceDim(1, 1, 5), images.convert(node.builder().getI64Type()),
                       node.real("spatial_scale", 1.0), pooled[0], pooled[1]})};
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::samplingOps() {
  static const OpRow rows[] = {
      {"GridSample", gridSampled},
      {"AffineGrid", affineGrids},
      {"RoiAlign", roiAlign},
      {"MaxRoiPool", maxRoiPool},
  };
  return rows;
}
