// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Losses by margins between the scores of a sample's classes.
#include "frontend/aten/Backward.h"
#include "frontend/aten/OpTable.h"
#include "frontend/common/Indexing.h"
#include "ir/nn/Nn.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

Tensor rowOf(Tensor x) { return x.rank() == 2 ? x : x.reshape({1, x.size()}); }

/// A matrix of scores, of which one vector or number is a single row.
Tensor scores(Node &node) {
  Tensor x = node.floatIn("self");
  if (x.rank() > 2 || x.size() == 0)
    fail("scores of shape " + show(x.shape()) + " are no vector or matrix");
  return rowOf(x);
}

/// The losses of the samples, reduced as PyTorch's numbers say: 0 none, 1 mean, 2 sum.
Entity reduced(Node &node, Tensor losses) {
  switch (node.integer("reduction")) {
  case 0:
    return node.in("self").rank() < 2 ? losses.reshape({}) : losses;
  case 1:
    return prim::mean(losses, {0});
  case 2:
    return prim::sum(losses, {0});
  default:
    fail("the reduction " + Twine(node.integer("reduction")) + " is not known");
  }
}

/// The mean over the classes of weight max(0, margin - x[target] + x)^p, but for the target's own.
Entities multiMargin(Node &node) {
  Tensor x = scores(node), target = asVector(node.indexIn("target"));
  double p = node.number("p");
  int64_t samples = x.dim(0), classes = x.dim(1);
  if ((p != 1 && p != 2) || target.shape() != ArrayRef(samples))
    fail("targets of shape " + show(target.shape()) + " and p of " + Twine(std::to_string(p)) +
         " for scores of shape " + show(x.shape()));
  Tensor own = flat(x).gather(alongAxis(node, target.reshape({samples, 1}), x.shape(), 1), 0);
  Tensor z = node.number("margin") - node.broadcastTo(own, x.shape()) + x;
  z = node.make<nn::ReluOp>({z});
  z = p == 1 ? z : z * z;
  if (node.has("weight")) {
    Tensor weight = node.reshape(node.floatIn("weight"), {classes});
    z = z * weight.gather(target, 0).broadcast(z.shape(), {0});
  }
  Tensor index = target.convert(node.builder().getI64Type()).broadcast(z.shape(), {0});
  z = prim::select(prim::equal(node.iota(z.shape(), 1), index), z.full(0.0), z);
  return {reduced(node, prim::sum(z, {1}) / static_cast<double>(classes))};
}

/// The sum, over the targets up to the first -1 and the classes that are none of them, of
/// max(0, 1 - x[target] + x), over the number of classes. Beside it which classes are targets.
Entities multiLabelMargin(Node &node) {
  Tensor x = scores(node), self = node.in("self");
  Tensor target = rowOf(node.indexIn("target").convert(node.builder().getI64Type()));
  if (target.shape() != x.shape())
    fail("targets of shape " + show(target.shape()) + " for scores of shape " + show(x.shape()));
  int64_t samples = x.dim(0), classes = x.dim(1);
  // Targets behind the first -1 are padding.
  Tensor isEnd = target < 0.0, at = node.iota(x.shape(), 1);
  Tensor end = prim::reduce(prim::ReduceKind::min,
                            prim::select(isEnd, at, at.full(static_cast<double>(classes))), {1});
  Tensor counts = at < end.broadcast(x.shape(), {0});
  Tensor own = flat(x).gather(
      alongAxis(node, prim::select(counts, target, target.full(0.0)), x.shape(), 1), 0);
  // [sample, target, class]
  SmallVector<int64_t> cube = {samples, classes, classes};
  Tensor names = prim::select(counts, target, target.full(-1.0)).broadcast(cube, {0, 1});
  Tensor hits = prim::equal(node.iota(cube, 2), names).convert(x.elementType());
  Tensor isTarget = prim::sum(hits, {1}) > 0.0;
  Tensor z = 1.0 - own.broadcast(cube, {0, 1}) + x.broadcast(cube, {0, 2});
  z = node.make<nn::ReluOp>({z});
  Tensor isPair = prim::bitAnd(counts.broadcast(cube, {0, 1}),
                               prim::logicalNot(isTarget).broadcast(cube, {0, 2}));
  z = prim::select(isPair, z, z.full(0.0));
  Tensor losses = prim::sum(z, {1, 2}) / static_cast<double>(classes);
  return {reduced(node, losses), isTarget.convert(x.elementType()).reshape(self.shape())};
}
Entities multiLabelMarginLoss(Node &node) { return {multiLabelMargin(node).front()}; }

} // namespace

ArrayRef<OpRow> accc::aten::marginOps() {
  static const OpRow rows[] = {
      {"multi_margin_loss(self, target, p=1, margin=1, weight=None, reduction=1)", multiMargin},
      {"multi_margin_loss_backward(grad_output, self, target, p, margin, weight=None, reduction=1)",
       backward<multiMargin>},
      {"multilabel_margin_loss(self, target, reduction=1)", multiLabelMarginLoss},
      {"multilabel_margin_loss_forward(self, target, reduction)", multiLabelMargin},
      {"multilabel_margin_loss_backward(grad_output, self, target, reduction, is_target)",
       backward<multiLabelMargin>},
  };
  return rows;
}
