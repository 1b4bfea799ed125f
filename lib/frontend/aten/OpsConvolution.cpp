// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions.
#include "frontend/aten/Backward.h"
#include "frontend/aten/OpTable.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Padding.h"
#include "frontend/common/Windows.h"
#include "ir/nn/Nn.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

/// A convolution of `spatial` dimensions, of one sample or of a batch.
class Convolution {
public:
  Convolution(Node &node, size_t spatial)
      : node(node), spatial(spatial), x(node.floatIn("input")), w(node.floatIn("weight")) {
    isBatch = x.rank() != static_cast<int64_t>(spatial) + 1;
    if (!isBatch) {
      SmallVector<int64_t> shape(x.shape());
      shape.insert(shape.begin(), 1);
      x = x.reshape(shape);
    }
    if (x.rank() != static_cast<int64_t>(spatial) + 2 || w.rank() != x.rank())
      fail("the weights have the shape " + show(w.shape()) + " for an input of shape " +
           show(x.shape()));
    checkSpatial(x);
  }

  Entities forward(ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
    return finish(node.make<nn::ConvolutionOp>(
        {x, w, node.optional("bias")},
        {node.list("strides", node.integers("stride", spatial)),
         node.list("dilations", node.integers("dilation", spatial)), node.list("pad_low", low),
         node.list("pad_high", high), node.i64("groups", node.integer("groups"))}));
  }

  Entities transposed() {
    SmallVector<int64_t> padding = node.integers("padding", spatial);
    SmallVector<int64_t> strides = node.integers("stride", spatial);
    SmallVector<int64_t> dilations = node.integers("dilation", spatial);
    SmallVector<int64_t> extra = node.integers("output_padding", spatial);
    Tensor padded = withOutputPadding(x, strides, dilations, extra);
    return finish(node.make<nn::ConvTransposeOp>(
        {padded, w, node.optional("bias")},
        {node.list("strides", strides), node.list("dilations", dilations),
         node.list("pad_low", padding), node.list("pad_high", padding),
         node.list("output_padding", extra), node.i64("groups", node.integer("groups"))}));
  }

  /// padding='same': the odd one at the end.
  std::pair<SmallVector<int64_t>, SmallVector<int64_t>> samePadding() {
    SmallVector<int64_t> low, high, dilations = node.integers("dilation", spatial);
    for (size_t i = 0; i < spatial; ++i) {
      int64_t total = dilations[i] * (w.dim(static_cast<int64_t>(i) + 2) - 1);
      low.push_back(total / 2);
      high.push_back(total - total / 2);
    }
    return {low, high};
  }

private:
  Entities finish(Tensor y) { return {isBatch ? y : y.reshape(y.shape().drop_front())}; }

  Node &node;
  size_t spatial;
  Tensor x, w;
  bool isBatch;
};

template <size_t spatial> Entities conv(Node &node) {
  Convolution convolution(node, spatial);
  if (!node.isString("padding")) {
    SmallVector<int64_t> padding = node.integers("padding", spatial);
    return convolution.forward(padding, padding);
  }
  std::string padding = node.string("padding");
  if (padding == "valid") {
    SmallVector<int64_t> none(spatial, 0);
    return convolution.forward(none, none);
  }
  if (padding != "same")
    fail("the padding '" + padding + "' is not known");
  auto [low, high] = convolution.samePadding();
  return convolution.forward(low, high);
}

template <size_t spatial> Entities convTranspose(Node &node) {
  return Convolution(node, spatial).transposed();
}

/// Core ATen's one operator for all of them.
Entities convolution(Node &node) {
  size_t spatial = static_cast<size_t>(std::max<int64_t>(node.in("weight").rank() - 2, 1));
  Convolution convolution(node, spatial);
  if (node.boolean("transposed"))
    return convolution.transposed();
  SmallVector<int64_t> padding = node.integers("padding", spatial);
  return convolution.forward(padding, padding);
}

/// The gradients of input, weights and bias, as far as they are asked for.
Entities convolutionBackward(Node &node) {
  Tensor input = node.floatIn("input"), weight = node.floatIn("weight");
  Value bias;
  if (node.has("bias_sizes"))
    bias = node.full(node.integers("bias_sizes"), weight.elementType(), 0);
  node.set("bias", NoValue());
  return pullBackMasked(node, convolution, {{"input", input}, {"weight", weight}, {"bias", bias}},
                        node.floatIn("grad_output"));
}

} // namespace

ArrayRef<OpRow> accc::aten::convolutionOps() {
  static const OpRow rows[] = {
      {"conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1)", conv<1>,
       Alias::None, selected::convolution},
      {"conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1)", conv<2>,
       Alias::None, selected::convolution},
      {"conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1)", conv<3>,
       Alias::None, selected::convolution},
      {"conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, "
       "groups=1, "
       "dilation=1)",
       convTranspose<1>},
      {"conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, "
       "groups=1, "
       "dilation=1)",
       convTranspose<2>},
      {"conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, "
       "groups=1, "
       "dilation=1)",
       convTranspose<3>},
      {"convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, "
       "groups)",
       convolution, Alias::None, selected::convolution},
      {"convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation, "
       "transposed, output_padding, groups, output_mask)",
       convolutionBackward, Alias::None, selected::convolutionBackward},
      {"_convolution(input, weight, bias, stride, padding, dilation, transposed, output_padding, "
       "groups, benchmark=False, deterministic=False, cudnn_enabled=True, allow_tf32=True)",
       convolution, Alias::None, selected::convolution},
      {"_convolution_mode(input, weight, bias, stride, padding, dilation, groups)",
       [](Node &node) -> Entities {
         switch (node.in("weight").rank()) {
         case 3:
           return conv<1>(node);
         case 4:
           return conv<2>(node);
         default:
           return conv<3>(node);
         }
       }},
  };
  return rows;
}
