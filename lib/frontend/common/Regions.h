// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions of interest of images, made equally large.
#ifndef ACCC_FRONTEND_COMMON_REGIONS_H
#define ACCC_FRONTEND_COMMON_REGIONS_H

#include "frontend/common/NodeBuilder.h"

namespace accc::frontend {

/// Rectangles of images. No gradient flows to them.
struct Regions {
  /// [regions, (x1, y1, x2, y2)], in units of `scale` elements.
  prim::Tensor corners;
  /// [regions], the image of each, as int64.
  prim::Tensor image;
  double scale = 1;
  /// The rows and columns of the result.
  int64_t height = 1, width = 1;
};

struct AlignOptions {
  /// Elements have their centres at 0.5, 1.5, ...; else at 0, 1, ..., and regions are at least one
  /// element large.
  bool isHalfPixel = true;
  /// Samples along each side of a bin; 0 for one for each element of the bin that was begun.
  int64_t samples = 0;
  /// The greatest of the weighted elements of all samples; else their mean.
  bool isMax = false;
  /// Each bin reads channels of its own.
  bool isPositionSensitive = false;
};

/// Each bin of x [images, channels, rows, columns] is the mean of samples between its elements
/// (RoIAlign of Mask R-CNN): [regions, channels, height, width]. Where the number of samples
/// depends on regions that are larger than the image, the step fails with an error in the data.
/// If position sensitive (R-FCN), of x [images, channels * height * width, rows, columns], where
/// the mean of no samples is NaN. Throws ImportError for what does not fit.
prim::Tensor alignRegions(NodeBuilder &node, prim::Tensor x, const Regions &regions,
                          const AlignOptions &options);

/// Each bin is its greatest element (RoIPool of Fast R-CNN), or 0 without elements. The gradient of
/// ties is split evenly.
prim::Tensor poolRegions(NodeBuilder &node, prim::Tensor x, const Regions &regions);

/// Each bin is the mean of its elements, or 0 without any, of channels of its own
/// (position-sensitive RoI pooling of R-FCN): x has channels * height * width of them. As in
/// torchvision, the last row and column of an image take part in the gradient alone.
prim::Tensor poolRegionsByPosition(NodeBuilder &node, prim::Tensor x, const Regions &regions);

} // namespace accc::frontend

#endif
