// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The patches of an image: unfold and fold.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Promotion.h"
#include "frontend/common/Indexing.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::ScatterKind;
using accc::prim::Tensor;

namespace {

/// Windows over an image: kernel, dilation, padding and stride of im2col and col2im.
struct Patches {
  SmallVector<int64_t> kernel, dilation, padding, stride, image, count;

  Patches(Node &node, ArrayRef<int64_t> image)
      : kernel(node.integers("kernel_size", 2)), dilation(node.integers("dilation", 2)),
        padding(node.integers("padding", 2)), stride(node.integers("stride", 2)), image(image) {
    for (size_t i = 0; i < 2; ++i) {
      int64_t room = image[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1;
      if (kernel[i] < 1 || dilation[i] < 1 || stride[i] < 1 || padding[i] < 0 || room < 0)
        fail("the window does not fit an image of " + show(image));
      count.push_back(room / stride[i] + 1);
    }
  }

  /// For each position of the kernel and of the windows along dimension i: the padded row.
  Tensor positions(Node &node, size_t i) const {
    SmallVector<int64_t> listed;
    for (int64_t k = 0; k < kernel[i]; ++k)
      for (int64_t w = 0; w < count[i]; ++w)
        listed.push_back(k * dilation[i] + w * stride[i]);
    return node.integers(listed, {kernel[i], count[i]});
  }
  /// The row-major positions in a padded image, [kh, kw, rows, columns].
  Tensor linear(Node &node) const {
    SmallVector<int64_t> shape = {kernel[0], kernel[1], count[0], count[1]};
    Tensor rows = positions(node, 0).broadcast(shape, {0, 2});
    return rows * static_cast<double>(image[1] + 2 * padding[1]) +
           positions(node, 1).broadcast(shape, {1, 3});
  }
};

/// [N, C, H, W] as [N, C kh kw, windows].
Entities im2col(Node &node) {
  Tensor x = node.in("self");
  bool isBatch = x.rank() == 4;
  if (x.rank() == 3)
    x = x.reshape({1, x.dim(0), x.dim(1), x.dim(2)});
  if (x.rank() != 4)
    fail("an input of shape " + show(x.shape()));
  Patches patches(node, {x.dim(2), x.dim(3)});
  SmallVector<int64_t> pads = {0, 0, patches.padding[0], patches.padding[1]};
  Tensor padded = x.pad(0.0, pads, pads);
  Tensor plane = padded.reshape({x.dim(0), x.dim(1), padded.dim(2) * padded.dim(3)});
  Tensor windows = plane.gather(patches.linear(node), 2);
  SmallVector<int64_t> shape = {x.dim(0), x.dim(1) * patches.kernel[0] * patches.kernel[1],
                                patches.count[0] * patches.count[1]};
  return {windows.reshape(isBatch ? ArrayRef(shape) : ArrayRef(shape).drop_front())};
}

/// Its inverse, which sums where windows overlap.
Entities col2im(Node &node) {
  Tensor x = node.in("self");
  bool isBatch = x.rank() == 3;
  if (x.rank() == 2)
    x = x.reshape({1, x.dim(0), x.dim(1)});
  if (x.rank() != 3)
    fail("an input of shape " + show(x.shape()));
  SmallVector<int64_t> image = node.integers("output_size", 2);
  Patches patches(node, image);
  int64_t cells = patches.kernel[0] * patches.kernel[1];
  int64_t windows = patches.count[0] * patches.count[1];
  if (x.dim(1) % cells != 0 || x.dim(2) != windows)
    fail("an input of shape " + show(x.shape()) + " does not hold the windows of an image of " +
         show(image));
  int64_t channels = x.dim(1) / cells, height = image[0] + 2 * patches.padding[0],
          width = image[1] + 2 * patches.padding[1];
  Tensor updates = x.reshape({x.dim(0), channels, cells * windows});
  Tensor zeros = node.full({x.dim(0), channels, height * width}, x.elementType(), 0);
  Tensor y = zeros.scatter(flat(patches.linear(node)), updates, 2, ScatterKind::add)
                 .reshape({x.dim(0), channels, height, width});
  y = y.sliceDim(2, patches.padding[0], patches.padding[0] + image[0])
          .sliceDim(3, patches.padding[1], patches.padding[1] + image[1]);
  return {isBatch ? y : y.reshape(y.shape().drop_front())};
}

} // namespace

ArrayRef<OpRow> accc::aten::patchOps() {
  static const OpRow rows[] = {
      {"im2col(self, kernel_size, dilation, padding, stride)", im2col},
      {"col2im(self, output_size, kernel_size, dilation, padding, stride)", col2im},
  };
  return rows;
}
