// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Losses.
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/TorchCall.h"
#include "ir/nn/Nn.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

nn::Reduction reductionOf(Node &node) {
  std::string reduction = node.string("reduction", "mean");
  if (reduction == "none")
    return nn::Reduction::none;
  if (reduction == "sum")
    return nn::Reduction::sum;
  if (reduction == "mean")
    return nn::Reduction::mean;
  fail("unknown reduction '" + reduction + "'");
}

Tensor targetOf(Node &node) {
  Tensor target = node.in(1);
  bool fits =
      target.elementType().isSignlessInteger(32) || target.elementType().isSignlessInteger(64);
  return fits ? target : target.convert(node.builder().getI64Type());
}

SmallVector<NamedAttribute> attributesOf(Node &node) {
  SmallVector<NamedAttribute> attributes = {
      node.attr("reduction", nn::ReductionAttr::get(&node.context(), reductionOf(node)))};
  if (node.hasAttribute("ignore_index"))
    attributes.push_back(node.i64("ignore_index", node.integer("ignore_index")));
  return attributes;
}

Entities nll(Node &node) {
  return {node.make<nn::NllLossOp>({node.floatIn(0), targetOf(node), node.optional(2)},
                                   attributesOf(node))};
}

Entities softmaxCrossEntropy(Node &node) {
  Tensor logits = node.floatIn(0);
  SmallVector<NamedAttribute> attributes = attributesOf(node);
  std::optional<TorchCall> call = node.torchCall();
  attributes.push_back(node.f64("label_smoothing", call ? labelSmoothingOf(*call) : 0.0));
  Entities results = {
      node.make<nn::CrossEntropyOp>({logits, targetOf(node), node.optional(2)}, attributes)};
  if (node.wants(1))
    results.push_back(
        node.make<nn::LogSoftmaxOp>({logits}, {node.i64("dimension", logits.rank() > 1 ? 1 : 0)}));
  return results;
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::lossOps() {
  static const OpRow rows[] = {
      {"NegativeLogLikelihoodLoss", nll},
      {"SoftmaxCrossEntropyLoss", softmaxCrossEntropy},
  };
  return rows;
}
