// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images sampled at computed places, and numbers rounded to a grid.
#include "frontend/aten/Backward.h"
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Promotion.h"
#include "frontend/common/Indexing.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

/// Samples an image [N, C, H, W] at places [N, h, w, (x, y)] between -1 and 1.
class GridSampler {
public:
  explicit GridSampler(Node &node)
      : node(node), x(node.floatIn("input")), grid(node.floatIn("grid")) {
    if (x.rank() != 4 || grid.rank() != 4 || grid.dim(3) != 2 || grid.dim(0) != x.dim(0))
      fail("an image of shape " + show(x.shape()) + " and a grid of shape " + show(grid.shape()) +
           " are not supported");
    // PyTorch's numbers: 0 zeros, 1 border, 2 reflection.
    if (node.integer("padding_mode") > 1)
      fail("the padding mode 'reflection' is not supported");
    isBorder = node.integer("padding_mode") == 1;
  }

  Tensor sample() {
    Tensor column = place(0, x.dim(3)), row = place(1, x.dim(2));
    switch (node.integer("interpolation_mode")) {
    case 0:
      return bilinear(row, column);
    case 1:
      return at(prim::roundEven(row), prim::roundEven(column));
    default:
      fail("the interpolation mode 'bicubic' is not supported");
    }
  }

private:
  /// Coordinates in elements along a dimension, [N, h, w].
  Tensor place(int64_t coordinate, int64_t extent) {
    Tensor g = grid.sliceDim(3, coordinate, coordinate + 1).reshape(grid.shape().drop_back());
    double size = static_cast<double>(extent);
    Tensor at = node.boolean("align_corners") ? (g + 1.0) * ((size - 1) / 2)
                                              : ((g + 1.0) * size - 1.0) / 2.0;
    if (!isBorder)
      return at;
    // The gradient at an end and outside is 0.
    at = prim::select(at <= 0.0, at.full(0.0), at);
    return prim::select(at >= size - 1, at.full(size - 1), at);
  }

  /// The elements at whole coordinates, 0 outside the image: [N, C, h, w].
  Tensor at(Tensor row, Tensor column) {
    Type i64 = node.builder().getI64Type();
    int64_t height = x.dim(2), width = x.dim(3);
    Tensor isInside =
        prim::bitAnd(prim::bitAnd(row >= 0.0, row <= static_cast<double>(height - 1)),
                     prim::bitAnd(column >= 0.0, column <= static_cast<double>(width - 1)));
    Tensor r = prim::select(isInside, row, row.full(0.0)).convert(i64);
    Tensor c = prim::select(isInside, column, column.full(0.0)).convert(i64);
    SmallVector<int64_t> shape = {x.dim(0), x.dim(1), row.dim(1), row.dim(2)};
    Tensor plane = node.iota(shape, 0) * static_cast<double>(x.dim(1)) + node.iota(shape, 1);
    Tensor inPlane = (r * static_cast<double>(width) + c).broadcast(shape, {0, 2, 3});
    Tensor values = flat(x).gather(plane * static_cast<double>(height * width) + inPlane, 0);
    return prim::select(isInside.broadcast(shape, {0, 2, 3}), values, values.full(0.0));
  }

  Tensor bilinear(Tensor row, Tensor column) {
    Tensor top = prim::floor(row), left = prim::floor(column);
    Tensor down = row - top, right = column - left;
    auto corner = [&](double i, double j) {
      Tensor values = at(top + i, left + j);
      Tensor weight = (i == 1 ? down : 1.0 - down) * (j == 1 ? right : 1.0 - right);
      return values * weight.broadcast(values.shape(), {0, 2, 3});
    };
    return corner(0, 0) + corner(0, 1) + corner(1, 0) + corner(1, 1);
  }

  Node &node;
  Tensor x, grid;
  bool isBorder;
};

Entities gridSampler(Node &node) { return {GridSampler(node).sample()}; }

Entities gridSamplerBackward(Node &node) {
  return pullBackMasked(node, gridSampler,
                        {{"input", node.floatIn("input")}, {"grid", node.floatIn("grid")}},
                        node.floatIn("grad_output"));
}

// ---- quantisation ----

/// x on the grid of scale and zero point, through which the gradient flows as if it were x, where x
/// lies within the grid; and where that is.
Entities quantized(Node &node, Tensor x, Tensor scale, Tensor zero) {
  double low = static_cast<double>(node.integer("quant_min")),
         high = static_cast<double>(node.integer("quant_max"));
  Tensor place = prim::roundEven(x * (1.0 / scale)) + zero;
  Tensor isInside = prim::bitAnd(place >= low, place <= high);
  Tensor value = (prim::max(prim::min(place, high), low) - zero) * scale;
  Tensor passed = prim::select(isInside, x, x.full(0.0));
  return {detach(value) + (passed - detach(passed)), isInside};
}

Entities fakeQuantize(Node &node) {
  Tensor x = node.floatIn("self");
  auto whole = [&](StringRef name) {
    return node.broadcastTo(node.reshape(asTensor(node, name, x.elementType()), {}), x.shape());
  };
  return quantized(node, x, whole("scale"), whole("zero_point"));
}
Entities fakeQuantizeChannels(Node &node) {
  Tensor x = node.floatIn("self");
  int64_t axis = node.dim("axis", x);
  auto along = [&](StringRef name) {
    Tensor values = node.in(name).convert(x.elementType());
    if (values.rank() != 1 || values.dim(0) != x.dim(axis))
      fail("'" + name + "' has the shape " + show(values.shape()) + " for " + Twine(x.dim(axis)) +
           " channels");
    return values.broadcast(x.shape(), {axis});
  };
  return quantized(node, x, along("scale"), along("zero_point"));
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
