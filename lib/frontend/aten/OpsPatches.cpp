// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The patches of an image: unfold and fold.
#include "frontend/aten/OpTable.h"
#include "frontend/common/Patches.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

WindowGeometry geometry(Node &node) {
  WindowGeometry g;
  g.window = node.integers("kernel_size", 2);
  g.strides = node.integers("stride", 2);
  g.dilations = node.integers("dilation", 2);
  g.low = g.high = node.integers("padding", 2);
  checkNumbers(g);
  return g;
}

/// A rule for a batch, of a tensor of `rank` dimensions or, without a batch, one less.
template <typename Rule> Entities batched(Tensor x, int64_t rank, Rule rule) {
  if (x.rank() != rank - 1)
    return {rule(x)};
  SmallVector<int64_t> shape(x.shape());
  shape.insert(shape.begin(), 1);
  Tensor y = rule(x.reshape(shape));
  return {y.reshape(y.shape().drop_front())};
}

Entities im2col(Node &node) {
  return batched(node.in("self"), 4,
                 [&](Tensor x) { return unfoldPatches(node, x, geometry(node)); });
}

Entities col2im(Node &node) {
  SmallVector<int64_t> image = node.integers("output_size", 2);
  return batched(node.in("self"), 3,
                 [&](Tensor x) { return foldPatches(node, x, image, geometry(node)); });
}

} // namespace

ArrayRef<OpRow> accc::aten::patchOps() {
  static const OpRow rows[] = {
      {"im2col(self, kernel_size, dilation, padding, stride)", im2col},
      {"col2im(self, output_size, kernel_size, dilation, padding, stride)", col2im},
  };
  return rows;
}
