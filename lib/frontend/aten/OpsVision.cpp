// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What torchvision.ops calls: regions of interest, deformable convolution.
#include "frontend/aten/Backward.h"
#include "frontend/aten/OpTable.h"
#include "frontend/common/DeformableConvolution.h"
#include "frontend/common/Regions.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

// ---- regions ----

/// Each row begins with the image.
Regions regionsOf(Node &node) {
  Tensor rows = node.floatIn("rois");
  if (rows.rank() != 2 || rows.dim(1) != 5)
    fail("regions of shape " + show(rows.shape()) + " are not supported");
  Tensor images = rows.sliceDim(1, 0, 1).reshape({rows.dim(0)});
  return {rows.sliceDim(1, 1, 5), images.convert(node.builder().getI64Type()),
          node.real("spatial_scale"), node.integer("pooled_height"), node.integer("pooled_width")};
}

Entities roiAlign(Node &node) {
  AlignOptions options;
  options.isHalfPixel = node.boolean("aligned");
  options.samples = std::max<int64_t>(0, node.integer("sampling_ratio"));
  return {alignRegions(node, node.floatIn("input"), regionsOf(node), options)};
}

Entities roiAlignBackward(Node &node) {
  Tensor gradient = node.floatIn("grad");
  Tensor anything = node.full({node.integer("batch_size"), node.integer("channels"),
                               node.integer("height"), node.integer("width")},
                              gradient.elementType(), 0);
  return {pullBack(node, roiAlign, {{"input", anything}}, gradient).front()};
}

/// Without the positions of the greatest elements, which only its backward pass reads.
Entities roiPool(Node &node) { return {poolRegions(node, node.floatIn("input"), regionsOf(node))}; }

Entities roiAlignByPosition(Node &node) {
  AlignOptions options;
  options.isPositionSensitive = true;
  options.samples = std::max<int64_t>(0, node.integer("sampling_ratio"));
  return {alignRegions(node, node.floatIn("input"), regionsOf(node), options)};
}

/// Without the channel of each element, which only its backward pass reads.
Entities roiPoolByPosition(Node &node) {
  return {poolRegionsByPosition(node, node.floatIn("input"), regionsOf(node))};
}

// ---- deformable convolution ----

Entities deformConv(Node &node) {
  Tensor x = node.floatIn("input"), w = node.floatIn("weight");
  if (x.rank() != 4 || w.rank() != 4)
    fail("an input of shape " + show(x.shape()) + " and a filter of shape " + show(w.shape()) +
         " are not supported");
  WindowGeometry g;
  g.window.assign(w.shape().begin() + 2, w.shape().end());
  g.strides = {node.integer("stride_h"), node.integer("stride_w")};
  g.low = g.high = {node.integer("pad_h"), node.integer("pad_w")};
  g.dilations = {node.integer("dilation_h"), node.integer("dilation_w")};
  checkNumbers(g);
  std::optional<Tensor> mask;
  if (node.boolean("use_mask"))
    mask = node.floatIn("mask");
  return {deformableConvolution(node, x, w, node.floatIn("offset"), mask, node.floatIn("bias"), g,
                                node.integer("groups"), node.integer("offset_groups"))};
}

Entities deformConvBackward(Node &node) {
  SmallVector<Primal> primals;
  for (StringRef name : {"input", "weight", "offset", "mask", "bias"})
    primals.push_back({name, node.floatIn(name)});
  SmallVector<Tensor> gradients = pullBack(node, deformConv, primals, node.floatIn("grad"));
  return Entities(gradients.begin(), gradients.end());
}

} // namespace

ArrayRef<OpRow> accc::aten::visionOps() {
  static const OpRow rows[] = {
      {"torchvision::roi_align(input, rois, spatial_scale, pooled_height, pooled_width, "
       "sampling_ratio, aligned)",
       roiAlign},
      {"torchvision::_roi_align_backward(grad, rois, spatial_scale, pooled_height, pooled_width, "
       "batch_size, channels, height, width, sampling_ratio, aligned)",
       roiAlignBackward},
      {"torchvision::roi_pool(input, rois, spatial_scale, pooled_height, pooled_width)", roiPool},
      {"torchvision::ps_roi_align(input, rois, spatial_scale, pooled_height, pooled_width, "
       "sampling_ratio)",
       roiAlignByPosition},
      {"torchvision::ps_roi_pool(input, rois, spatial_scale, pooled_height, pooled_width)",
       roiPoolByPosition},
      {"torchvision::deform_conv2d(input, weight, offset, mask, bias, stride_h, stride_w, pad_h, "
       "pad_w, dilation_h, dilation_w, groups, offset_groups, use_mask)",
       deformConv},
      {"torchvision::_deform_conv2d_backward(grad, input, weight, offset, mask, bias, stride_h, "
       "stride_w, pad_h, pad_w, dilation_h, dilation_w, groups, offset_groups, use_mask)",
       deformConvBackward},
  };
  return rows;
}
