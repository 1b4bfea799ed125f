// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images sampled at computed places, and numbers rounded to a grid.
#include "frontend/aten/Backward.h"
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Promotion.h"
#include "frontend/common/Gradient.h"
#include "frontend/common/GridSample.h"
#include "frontend/common/Indexing.h"
#include "frontend/common/Quantization.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

// PyTorch's numbers: 0 bilinear, 1 nearest, 2 bicubic, and 0 zeros, 1 border, 2 reflection.
Entities gridSampler(Node &node) {
  int64_t mode = node.integer("interpolation_mode"), padding = node.integer("padding_mode");
  if (mode < 0 || mode > 2 || padding < 0 || padding > 2)
    fail("the interpolation mode " + Twine(mode) + " or the padding mode " + Twine(padding) +
         " is unknown");
  return {gridSample(node, node.floatIn("input"), node.floatIn("grid"),
                     static_cast<GridInterpolation>(mode), static_cast<GridPadding>(padding),
                     node.boolean("align_corners"))};
}

Entities gridSamplerBackward(Node &node) {
  return pullBackMasked(node, gridSampler,
                        {{"input", node.floatIn("input")}, {"grid", node.floatIn("grid")}},
                        node.floatIn("grad_output"));
}

Entities affineGridGenerator(Node &node) {
  return {affineGrid(node, node.floatIn("theta"), node.integers("size"),
                     node.boolean("align_corners"))};
}

Entities affineGridBackward(Node &node) {
  SmallVector<int64_t> size = node.integers("size");
  Tensor gradient = node.floatIn("grad");
  if (size.empty())
    fail("the image has no size");
  auto spatial = static_cast<int64_t>(size.size()) - 2;
  Tensor anything = node.full({size.front(), spatial, spatial + 1}, gradient.elementType(), 0);
  return {pullBack(node, affineGridGenerator, {{"theta", anything}}, gradient).front()};
}

// ---- quantisation ----

/// x on the grid of scale and zero point, through which the gradient flows as if it were x, where x
/// lies within the grid; and where that is.
Entities quantized(Node &node, Tensor x, Tensor scale, Tensor zero) {
  double low = static_cast<double>(node.integer("quant_min")),
         high = static_cast<double>(node.integer("quant_max"));
  Quantized rounded = quantize(x * (1.0 / scale), zero, low, high);
  return {straightThrough((rounded.value - zero) * scale, x, rounded.isInside), rounded.isInside};
}

Entities fakeQuantize(Node &node) {
  Tensor x = node.floatIn("self");
  auto whole = [&](StringRef name) {
    return node.broadcastTo(node.reshape(asTensor(node, name, x.elementType()), {}), x.shape());
  };
  return quantized(node, x, whole("scale"), whole("zero_point"));
}

/// An argument with a number for each channel of x, for each element.
Tensor ofChannels(Node &node, StringRef name, Tensor x) {
  int64_t axis = node.dim("axis", x);
  Tensor values = node.in(name).convert(x.elementType());
  if (values.rank() != 1 || values.dim(0) != x.dim(axis))
    fail("'" + name + "' has the shape " + show(values.shape()) + " for " + Twine(x.dim(axis)) +
         " channels");
  return values.broadcast(x.shape(), {axis});
}
/// Scale and zero point are tensors, and so is whether anything is rounded.
Entities fakeQuantizeIfEnabled(Node &node) {
  Tensor x = node.floatIn("self");
  Tensor enabled = prim::notEqual(node.reshape(node.in("fake_quant_enabled"), {}), 0.0);
  Entities found = fakeQuantize(node);
  Tensor on = enabled.broadcast(x.shape(), {}), value = node.wrap(found[0].tensor),
         isInside = node.wrap(found[1].tensor);
  return {prim::select(on, value, x), prim::select(on, isInside, isInside.full(1))};
}
Entities fakeQuantizeChannels(Node &node) {
  Tensor x = node.floatIn("self");
  return quantized(node, x, ofChannels(node, "scale", x), ofChannels(node, "zero_point", x));
}

/// x on a grid whose scale and zero point are trained (Esser et al., "Learned step size
/// quantization", 2020). `rounded` is what the zero point counts as, and `differentiated` what it
/// counts as in PyTorch's derivative.
Entities learnedQuantized(Node &node, Tensor x, Tensor scale, Tensor zero, Tensor rounded,
                          Tensor differentiated) {
  double low = static_cast<double>(node.integer("quant_min")),
         high = static_cast<double>(node.integer("quant_max")), factor = node.real("grad_factor");
  Tensor scaled = x * (1.0 / scale);
  Tensor value = (quantize(scaled, rounded, low, high).value - rounded) * scale;
  Quantized grid = quantize(scaled, differentiated, low, high);
  Tensor steps = grid.value - differentiated;
  Tensor ofScale = prim::select(grid.isInside, (steps * scale - x) / scale, steps);
  Tensor ofZero = prim::select(grid.isInside, x.full(0.0), -scale);
  Tensor moved = prim::select(grid.isInside, x, detach(x)) + scale * detach(ofScale * factor) +
                 zero * detach(ofZero * factor);
  return {straightThrough(value, moved)};
}
Tensor clamped(Node &node, Tensor zero) {
  return prim::min(prim::max(zero, static_cast<double>(node.integer("quant_min"))),
                   static_cast<double>(node.integer("quant_max")));
}
Entities learnedQuantize(Node &node) {
  Tensor x = node.floatIn("self");
  auto whole = [&](StringRef name) {
    return node.broadcastTo(node.reshape(node.floatIn(name), {}), x.shape());
  };
  Tensor zero = whole("zero_point"), half = clamped(node, zero + 0.5);
  // PyTorch rounds it, but in the derivative adds a half and drops the fraction.
  Tensor dropped = prim::sign(half) * prim::floor(prim::abs(half));
  return learnedQuantized(node, x, whole("scale"), zero, clamped(node, prim::roundEven(zero)),
                          dropped);
}
Entities learnedQuantizeChannels(Node &node) {
  Tensor x = node.floatIn("self"), zero = ofChannels(node, "zero_point", x);
  Tensor rounded = clamped(node, prim::roundEven(zero));
  return learnedQuantized(node, x, ofChannels(node, "scale", x), zero, rounded, rounded);
}

template <Rule rule> Entities learnedBackward(Node &node) {
  SmallVector<Tensor> gradients = pullBack(node, rule,
                                           {{"self", node.floatIn("self")},
                                            {"scale", node.floatIn("scale")},
                                            {"zero_point", node.floatIn("zero_point")}},
                                           node.floatIn("grad"));
  return {gradients[0], gradients[1], gradients[2]};
}

} // namespace

ArrayRef<OpRow> accc::aten::samplingOps() {
  static const OpRow rows[] = {
      {"grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners)", gridSampler},
      {"grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners)",
       gridSampler},
      {"grid_sampler_2d_backward(grad_output, input, grid, interpolation_mode, padding_mode, "
       "align_corners, output_mask)",
       gridSamplerBackward},
      {"grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners)",
       gridSampler},
      {"grid_sampler_3d_backward(grad_output, input, grid, interpolation_mode, padding_mode, "
       "align_corners, output_mask)",
       gridSamplerBackward},
      {"affine_grid_generator(theta, size, align_corners)", affineGridGenerator},
      {"affine_grid_generator_backward(grad, size, align_corners)", affineGridBackward},
      {"_fake_quantize_learnable_per_tensor_affine(self, scale, zero_point, quant_min, quant_max, "
       "grad_factor=1.0)",
       learnedQuantize},
      {"_fake_quantize_learnable_per_channel_affine(self, scale, zero_point, axis, quant_min, "
       "quant_max, grad_factor=1.0)",
       learnedQuantizeChannels},
      {"_fake_quantize_learnable_per_tensor_affine_backward(grad, self, scale, zero_point, "
       "quant_min, quant_max, grad_factor=1.0)",
       learnedBackward<learnedQuantize>},
      {"_fake_quantize_learnable_per_channel_affine_backward(grad, self, scale, zero_point, axis, "
       "quant_min, quant_max, grad_factor=1.0)",
       learnedBackward<learnedQuantizeChannels>},
      {"_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(self, scale, zero_point, "
       "fake_quant_enabled, quant_min, quant_max)",
       fakeQuantizeIfEnabled},
      {"fake_quantize_per_tensor_affine(self, scale, zero_point, quant_min, quant_max)",
       fakeQuantize},
      {"fake_quantize_per_tensor_affine_cachemask(self, scale, zero_point, quant_min, quant_max)",
       fakeQuantize},
      {"fake_quantize_per_channel_affine_cachemask(self, scale, zero_point, axis, quant_min, "
       "quant_max)",
       fakeQuantizeChannels},
      {"fake_quantize_per_channel_affine(self, scale, zero_point, axis, quant_min, quant_max)",
       fakeQuantizeChannels},
  };
  return rows;
}
