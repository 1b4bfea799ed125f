// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Upsampling: what torch.nn.functional.interpolate calls.
#include "frontend/aten/Backward.h"
#include "frontend/aten/OpTable.h"
#include "frontend/common/Interpolation.h"
#include "ir/nn/Nn.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

/// The scales given for single dimensions (scales, scales_h, ...) or as a list; 0 where a dimension
/// has none.
SmallVector<double> givenScales(Node &node, size_t spatial, bool isList) {
  if (isList) {
    if (!node.has("scale_factors"))
      return SmallVector<double>(spatial, 0);
    SmallVector<double> scales = node.reals("scale_factors");
    if (scales.size() != spatial)
      fail("there are " + Twine(scales.size()) + " scales for " + Twine(spatial) + " dimensions");
    return scales;
  }
  static const char *const ofOne[] = {"scales"}, *const ofTwo[] = {"scales_h", "scales_w"},
                           *const ofThree[] = {"scales_d", "scales_h", "scales_w"};
  ArrayRef<const char *> names = spatial == 1   ? ArrayRef<const char *>(ofOne)
                                 : spatial == 2 ? ArrayRef<const char *>(ofTwo)
                                                : ArrayRef<const char *>(ofThree);
  SmallVector<double> scales;
  for (const char *name : names)
    scales.push_back(node.has(name) ? node.real(name) : 0);
  return scales;
}

/// Where the elements of a result lie, and how its values are made of their neighbours.
struct Sampling {
  nn::ResizeMode mode;
  nn::ResizeCoordinates coordinates = nn::ResizeCoordinates::half_pixel;
  nn::ResizeNearest nearest = nn::ResizeNearest::floor;
  bool isAntialiased = false;
};

/// An antialiased resize has its grid from edge to edge, and align_corners says how wide its steps
/// are alone.
double alignedScale(int64_t in, int64_t out) {
  return out > 1 && in > 1 ? static_cast<double>(out - 1) / static_cast<double>(in - 1)
                           : std::numeric_limits<double>::max();
}

Entities resize(Node &node, size_t spatial, bool isList, const Sampling &sampling) {
  Tensor x = node.floatIn(isList ? "input" : "self");
  if (x.rank() != static_cast<int64_t>(spatial) + 2)
    fail("an input of shape " + show(x.shape()) + " does not have " + Twine(spatial) +
         " spatial dimensions");
  SmallVector<double> factors = givenScales(node, spatial, isList), scales(2, 1.0);
  SmallVector<int64_t> shape(x.shape()), size;
  if (node.has("output_size"))
    size = node.integers("output_size");
  for (size_t i = 0; i < spatial; ++i) {
    int64_t d = static_cast<int64_t>(i) + 2;
    double extent = static_cast<double>(x.dim(d));
    if (i < size.size())
      shape[d] = size[i];
    else if (factors[i] > 0 && factors[i] * extent < 0x1p40)
      shape[d] = static_cast<int64_t>(std::floor(factors[i] * extent));
    else
      fail("neither a size nor a scale is given");
    if (shape[d] < 1 || shape[d] > int64_t(1) << 40 || x.dim(d) == 0)
      fail("cannot resize " + Twine(x.dim(d)) + " elements to " + Twine(shape[d]));
    if (sampling.isAntialiased && node.boolean("align_corners"))
      scales.push_back(alignedScale(x.dim(d), shape[d]));
    else
      scales.push_back(factors[i] > 0 ? factors[i] : static_cast<double>(shape[d]) / extent);
  }
  MLIRContext *context = &node.context();
  SmallVector<NamedAttribute> attributes = {
      node.attr("scales", node.builder().getDenseF64ArrayAttr(scales)),
      node.attr("mode", nn::ResizeModeAttr::get(context, sampling.mode)),
      node.attr("coordinates", nn::ResizeCoordinatesAttr::get(context, sampling.coordinates)),
      node.attr("nearest", nn::ResizeNearestAttr::get(context, sampling.nearest)),
      node.f64("cubic_coefficient", sampling.isAntialiased ? -0.5 : -0.75)};
  if (sampling.isAntialiased) {
    checkWideKernels(x, shape);
    for (const char *flag : {"antialias", "exclude_outside"})
      attributes.push_back(node.attr(flag, node.builder().getUnitAttr()));
  }
  return {node.make<nn::ResizeOp>({x}, attributes, {tensorType(shape, x.elementType())})};
}

template <size_t spatial, bool isList> Entities nearestFloor(Node &node) {
  return resize(node, spatial, isList,
                {nn::ResizeMode::nearest, nn::ResizeCoordinates::asymmetric});
}
template <size_t spatial, bool isList> Entities nearestExact(Node &node) {
  return resize(node, spatial, isList,
                {nn::ResizeMode::nearest, nn::ResizeCoordinates::half_pixel,
                 nn::ResizeNearest::round_prefer_ceil});
}
template <size_t spatial, nn::ResizeMode mode, bool isList> Entities interpolated(Node &node) {
  return resize(node, spatial, isList,
                {mode, node.boolean("align_corners") ? nn::ResizeCoordinates::align_corners
                                                     : nn::ResizeCoordinates::half_pixel});
}
template <nn::ResizeMode mode, bool isList> Entities antialiased(Node &node) {
  return resize(node, 2, isList, {.mode = mode, .isAntialiased = true});
}
template <Rule rule> Entities resizeBackward(Node &node) {
  return backwardOfLinear(node, rule, "input_size");
}

} // namespace

ArrayRef<OpRow> accc::aten::resizeOps() {
  using enum nn::ResizeMode;
  static const OpRow rows[] = {
      {"upsample_nearest1d(self, output_size, scales=None)", nearestFloor<1, false>},
      {"_upsample_nearest_exact1d(self, output_size, scales=None)", nearestExact<1, false>},
      {"upsample_nearest2d(self, output_size, scales_h=None, scales_w=None)",
       nearestFloor<2, false>},
      {"_upsample_nearest_exact2d(self, output_size, scales_h=None, scales_w=None)",
       nearestExact<2, false>},
      {"upsample_nearest3d(self, output_size, scales_d=None, scales_h=None, scales_w=None)",
       nearestFloor<3, false>},
      {"_upsample_nearest_exact3d(self, output_size, scales_d=None, scales_h=None, scales_w=None)",
       nearestExact<3, false>},
      {"upsample_linear1d(self, output_size, align_corners, scales=None)",
       interpolated<1, linear, false>},
      {"upsample_bilinear2d(self, output_size, align_corners, scales_h=None, scales_w=None)",
       interpolated<2, linear, false>},
      {"upsample_trilinear3d(self, output_size, align_corners, scales_d=None, scales_h=None, "
       "scales_w=None)",
       interpolated<3, linear, false>},
      {"upsample_bicubic2d(self, output_size, align_corners, scales_h=None, scales_w=None)",
       interpolated<2, cubic, false>},
      {"upsample_nearest1d.vec(input, output_size, scale_factors=None)", nearestFloor<1, true>},
      {"_upsample_nearest_exact1d.vec(input, output_size, scale_factors=None)",
       nearestExact<1, true>},
      {"upsample_nearest2d.vec(input, output_size, scale_factors=None)", nearestFloor<2, true>},
      {"_upsample_nearest_exact2d.vec(input, output_size, scale_factors=None)",
       nearestExact<2, true>},
      {"upsample_nearest3d.vec(input, output_size, scale_factors=None)", nearestFloor<3, true>},
      {"_upsample_nearest_exact3d.vec(input, output_size, scale_factors=None)",
       nearestExact<3, true>},
      {"upsample_linear1d.vec(input, output_size, align_corners, scale_factors=None)",
       interpolated<1, linear, true>},
      {"upsample_bilinear2d.vec(input, output_size, align_corners, scale_factors=None)",
       interpolated<2, linear, true>},
      {"upsample_trilinear3d.vec(input, output_size, align_corners, scale_factors=None)",
       interpolated<3, linear, true>},
      {"upsample_bicubic2d.vec(input, output_size, align_corners, scale_factors=None)",
       interpolated<2, cubic, true>},
      {"_upsample_bilinear2d_aa(self, output_size, align_corners, scales_h=None, scales_w=None)",
       antialiased<linear, false>},
      {"_upsample_bilinear2d_aa.vec(input, output_size, align_corners, scale_factors=None)",
       antialiased<linear, true>},
      {"_upsample_bilinear2d_aa_backward(grad_output, output_size, input_size, align_corners, "
       "scales_h=None, scales_w=None)",
       resizeBackward<antialiased<linear, false>>},
      {"_upsample_bicubic2d_aa(self, output_size, align_corners, scales_h=None, scales_w=None)",
       antialiased<cubic, false>},
      {"_upsample_bicubic2d_aa.vec(input, output_size, align_corners, scale_factors=None)",
       antialiased<cubic, true>},
      {"_upsample_bicubic2d_aa_backward(grad_output, output_size, input_size, align_corners, "
       "scales_h=None, scales_w=None)",
       resizeBackward<antialiased<cubic, false>>},
      {"upsample_nearest1d_backward(grad_output, output_size, input_size, scales=None)",
       resizeBackward<nearestFloor<1, false>>},
      {"_upsample_nearest_exact1d_backward(grad_output, output_size, input_size, scales=None)",
       resizeBackward<nearestExact<1, false>>},
      {"upsample_nearest2d_backward(grad_output, output_size, input_size, scales_h=None, "
       "scales_w=None)",
       resizeBackward<nearestFloor<2, false>>},
      {"_upsample_nearest_exact2d_backward(grad_output, output_size, input_size, scales_h=None, "
       "scales_w=None)",
       resizeBackward<nearestExact<2, false>>},
      {"upsample_nearest3d_backward(grad_output, output_size, input_size, scales_d=None, "
       "scales_h=None, scales_w=None)",
       resizeBackward<nearestFloor<3, false>>},
      {"_upsample_nearest_exact3d_backward(grad_output, output_size, input_size, scales_d=None, "
       "scales_h=None, scales_w=None)",
       resizeBackward<nearestExact<3, false>>},
      {"upsample_linear1d_backward(grad_output, output_size, input_size, align_corners, "
       "scales=None)",
       resizeBackward<interpolated<1, linear, false>>},
      {"upsample_bilinear2d_backward(grad_output, output_size, input_size, align_corners, "
       "scales_h=None, scales_w=None)",
       resizeBackward<interpolated<2, linear, false>>},
      {"upsample_trilinear3d_backward(grad_output, output_size, input_size, align_corners, "
       "scales_d=None, scales_h=None, scales_w=None)",
       resizeBackward<interpolated<3, linear, false>>},
      {"upsample_bicubic2d_backward(grad_output, output_size, input_size, align_corners, "
       "scales_h=None, scales_w=None)",
       resizeBackward<interpolated<2, cubic, false>>},
  };
  return rows;
}
