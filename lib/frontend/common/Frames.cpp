// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Frames.h"
#include "frontend/common/Padding.h"

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::Tensor;

/// Frames are cut from, and summed to, blocks of the step's length where these are not more.
static constexpr int64_t kMostBlocks = 16;

/// The positions of the elements of frames, [frames, length].
static Tensor positionsOf(NodeBuilder &node, int64_t count, int64_t length, int64_t step) {
  SmallVector<int64_t> shape = {count, length};
  return node.iota(shape, 0) * static_cast<double>(step) + node.iota(shape, 1);
}

Tensor accc::frontend::framesOf(NodeBuilder &node, Tensor x, int64_t length, int64_t step) {
  int64_t batch = x.dim(0), elements = x.dim(1);
  if (length > elements)
    fail("a frame of " + Twine(length) + " elements does not fit a signal of " + Twine(elements));
  int64_t count = (elements - length) / step + 1, blocks = (length + step - 1) / step;
  tensorType({batch, count, length}, node.builder().getI64Type());
  if (blocks > kMostBlocks)
    return x.gather(positionsOf(node, count, length, step), 1);
  // A frame is some blocks of `step` elements, one after the other.
  int64_t all = count + blocks - 1;
  Tensor split = fit(x, 1, all * step).reshape({batch, all, step});
  SmallVector<Tensor> pieces;
  for (int64_t i = 0; i < blocks; ++i)
    pieces.push_back(split.sliceDim(1, i, i + count));
  return fit(node.concatenate(pieces, 2), 2, length);
}

Tensor accc::frontend::sumOfFrames(NodeBuilder &node, Tensor frames, int64_t step) {
  int64_t batch = frames.dim(0), count = frames.dim(1), length = frames.dim(2);
  int64_t blocks = (length + step - 1) / step, all = count + blocks - 1;
  int64_t total = (count - 1) * step + length;
  tensorType({batch, all, step}, frames.elementType());
  if (blocks > kMostBlocks) {
    Tensor at = positionsOf(node, count, length, step).reshape({count * length});
    return node.full({batch, total}, frames.elementType(), 0)
        .scatter(at, frames.reshape({batch, count * length}), 1, prim::ScatterKind::add);
  }
  // Block i of every frame, [batch, frames, step], moved i blocks on.
  Tensor padded = fit(frames, 2, blocks * step);
  std::optional<Tensor> sum;
  for (int64_t i = 0; i < blocks; ++i) {
    Tensor piece =
        padded.sliceDim(2, i * step, (i + 1) * step).pad(0.0, {0, i, 0}, {0, all - count - i, 0});
    sum = sum ? *sum + piece : piece;
  }
  return fit(sum->reshape({batch, all * step}), 1, total);
}
