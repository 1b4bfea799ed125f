// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions.
#include "frontend/common/DeformableConvolution.h"
#include "frontend/common/Fold.h"
#include "frontend/common/Padding.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/Windows.h"
#include "ir/nn/Nn.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

/// Exporters write zeros where there is no bias.
Value biasOf(Node &node, size_t input) {
  if (!node.has(input))
    return Value();
  Tensor bias = node.floatIn(input);
  DenseElementsAttr known = knownValue(bias);
  return known && known.isSplat() && known.getSplatValue<APFloat>().isPosZero() ? Value()
                                                                                : bias.get();
}

void checkRanks(Tensor x, Tensor w) {
  checkSpatial(x);
  if (w.rank() != x.rank())
    fail("the weights have the shape " + show(w.shape()) + " for an input of shape " +
         show(x.shape()));
}

void checkKernelShape(Node &node, ArrayRef<int64_t> kernel) {
  SmallVector<int64_t> said = node.integers("kernel_shape");
  if (!said.empty() && ArrayRef(said) != kernel)
    fail("kernel_shape " + show(said) + " is not the shape of the weights, " + show(kernel));
}

Entities conv(Node &node) {
  return {convolution(node, node.floatIn(0), node.floatIn(1), biasOf(node, 2))};
}

/// What `output_shape` or `auto_pad` ask for, as padding: the total along each dimension is split,
/// with the odd one at the end for SAME_UPPER, else at the start; what is missing is added at the
/// end.
void fitOutput(Node &node, Tensor x, WindowGeometry &g, SmallVector<int64_t> &outputPadding) {
  std::string autoPad = node.string("auto_pad", "NOTSET");
  SmallVector<int64_t> output = node.integers("output_shape");
  size_t rank = g.rank();
  if (output.size() == rank + 2) // some exporters include batch and channels
    output.erase(output.begin(), output.begin() + 2);
  bool same = autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER";
  if (output.empty() && !same)
    return;
  if (output.empty())
    for (size_t i = 0; i < rank; ++i)
      output.push_back(x.dim(i + 2) * g.strides[i]);
  if (output.size() != rank)
    fail("output_shape needs " + Twine(rank) + " entries");
  for (size_t i = 0; i < rank; ++i) {
    int64_t natural = (x.dim(i + 2) - 1) * g.strides[i] + g.extent(i) + outputPadding[i];
    if (output[i] < 0 || output[i] > int64_t(1) << 32)
      fail("output_shape has the entry " + Twine(output[i]));
    int64_t total = natural - output[i];
    if (total < 0) {
      outputPadding[i] -= total;
      total = 0;
    }
    g.low[i] = autoPad == "SAME_UPPER" ? total / 2 : total - total / 2;
    g.high[i] = total - g.low[i];
  }
}

Entities convTranspose(Node &node) {
  Tensor x = node.floatIn(0), w = node.floatIn(1);
  checkRanks(x, w);
  ArrayRef<int64_t> kernel = w.shape().drop_front(2);
  checkKernelShape(node, kernel);
  WindowGeometry g = readGeometry(node, x.shape().drop_front(2), kernel);
  SmallVector<int64_t> outputPadding = node.integers("output_padding");
  if (outputPadding.empty())
    outputPadding.assign(g.rank(), 0);
  if (outputPadding.size() != g.rank())
    fail("output_padding needs " + Twine(g.rank()) + " entries");
  fitOutput(node, x, g, outputPadding);
  x = withOutputPadding(x, g.strides, g.dilations, outputPadding);
  return {node.make<nn::ConvTransposeOp>(
      {x, w, biasOf(node, 2)},
      {node.list("strides", g.strides), node.list("dilations", g.dilations),
       node.list("pad_low", g.low), node.list("pad_high", g.high),
       node.list("output_padding", outputPadding), node.i64("groups", node.integer("group", 1))})};
}

Entities deformConv(Node &node) {
  Tensor x = node.floatIn(0), w = node.floatIn(1);
  checkRanks(x, w);
  ArrayRef<int64_t> kernel = w.shape().drop_front(2);
  checkKernelShape(node, kernel);
  std::optional<Tensor> bias, mask;
  if (node.has(3))
    bias = node.floatIn(3);
  if (node.has(4))
    mask = node.floatIn(4);
  return {deformableConvolution(node, x, w, node.floatIn(2), mask, bias,
                                readGeometry(node, x.shape().drop_front(2), kernel),
                                node.integer("group", 1), node.integer("offset_group", 1))};
}

/// Each channel along its own kernel, of which no position lies ahead; the positions before the
/// first are the past, or zeros.
Entities causalConv(Node &node) {
  Tensor x = node.floatIn(0), w = node.floatIn(1);
  if (x.rank() != 3 || w.rank() != 3 || w.dim(0) != x.dim(1) || w.dim(1) != 1 || w.dim(2) < 1)
    fail("the weights have the shape " + show(w.shape()) + " for an input of shape " +
         show(x.shape()));
  int64_t before = w.dim(2) - 1;
  Tensor all = node.has(3) ? node.concatenate({node.floatIn(3), x}, 2)
                           : x.pad(0.0, {0, 0, before}, {0, 0, 0});
  if (all.dim(2) != x.dim(2) + before)
    fail("the past must have " + Twine(before) + " positions");
  SmallVector<int64_t> one = {1}, zero = {0};
  Tensor y = node.make<nn::ConvolutionOp>({all, w, biasOf(node, 2)},
                                          {node.list("strides", one), node.list("dilations", one),
                                           node.list("pad_low", zero), node.list("pad_high", zero),
                                           node.i64("groups", x.dim(1))});
  std::string activation = node.string("activation", "none");
  if (activation == "silu" || activation == "swish")
    y = node.make<nn::SiluOp>({y});
  else if (activation != "none")
    fail("'activation' must be none, silu or swish, not '" + activation + "'");
  return {y, all.sliceDim(2, x.dim(2), all.dim(2))};
}

} // namespace

Tensor accc::onnx_import::convolution(Node &node, Tensor x, Tensor w, Value bias) {
  checkRanks(x, w);
  ArrayRef<int64_t> kernel = w.shape().drop_front(2);
  checkKernelShape(node, kernel);
  WindowGeometry g = readGeometry(node, x.shape().drop_front(2), kernel);
  return node.make<nn::ConvolutionOp>(
      {x, w, bias}, {node.list("strides", g.strides), node.list("dilations", g.dilations),
                     node.list("pad_low", g.low), node.list("pad_high", g.high),
                     node.i64("groups", node.integer("group", 1))});
}

ArrayRef<OpRow> accc::onnx_import::convolutionOps() {
  static const OpRow rows[] = {
      {"Conv", conv},
      {"ConvTranspose", convTranspose},
      {"DeformConv", deformConv},
      {"CausalConvWithState", causalConv},
  };
  return rows;
}
