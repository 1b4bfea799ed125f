// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Losses.
#include "frontend/aten/Backward.h"
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Promotion.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Formulas.h"
#include "frontend/common/Gradient.h"
#include "frontend/common/Indexing.h"
#include "ir/nn/Nn.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

/// PyTorch's numbers: 0 none, 1 mean, 2 sum.
nn::Reduction reductionOf(Node &node) {
  switch (node.integer("reduction")) {
  case 0:
    return nn::Reduction::none;
  case 1:
    return nn::Reduction::mean;
  case 2:
    return nn::Reduction::sum;
  default:
    fail("the reduction " + Twine(node.integer("reduction")) + " is not known");
  }
}

NamedAttribute reduction(Node &node) {
  return node.attr("reduction", nn::ReductionAttr::get(&node.context(), reductionOf(node)));
}

Tensor reduced(Node &node, Tensor x) {
  SmallVector<int64_t> all(x.rank());
  for (auto [i, d] : llvm::enumerate(all))
    d = static_cast<int64_t>(i);
  nn::Reduction kind = reductionOf(node);
  if (kind == nn::Reduction::sum && isa<IntegerType>(x.elementType())) // as every sum of integers
    x = x.convert(node.builder().getI64Type());
  return kind == nn::Reduction::none  ? x
         : kind == nn::Reduction::sum ? prim::sum(x, all)
                                      : prim::mean(x, all);
}

// ---- classes ----

/// Scores without a batch are a batch of one.
struct ClassScores {
  Tensor x, target;
  bool isSingle;

  explicit ClassScores(Node &node)
      : x(node.floatIn("self")), target(node.in("target")), isSingle(x.rank() == 1) {
    bool isIndex = !isa<FloatType>(target.elementType());
    if (isIndex)
      target = node.indexIn("target");
    if (isSingle) {
      x = x.reshape({1, x.dim(0)});
      target = isIndex ? target.reshape({1}) : target.reshape({1, target.size()});
    }
  }
  Entity finish(Node &node, Tensor loss) const {
    return isSingle && reductionOf(node) == nn::Reduction::none ? loss.reshape({}) : loss;
  }
};

Entities crossEntropy(Node &node) {
  ClassScores scores(node);
  SmallVector<NamedAttribute> attributes = {
      reduction(node), node.f64("label_smoothing", node.real("label_smoothing"))};
  if (!isa<FloatType>(scores.target.elementType()))
    attributes.push_back(node.i64("ignore_index", node.integer("ignore_index")));
  Tensor loss =
      node.make<nn::CrossEntropyOp>({scores.x, scores.target, node.optional("weight")}, attributes);
  if (isa<FloatType>(scores.target.elementType())) // of a wider type, say
    loss = loss.convert(promoteTypes(scores.x.elementType(), scores.target.elementType()));
  return {scores.finish(node, loss)};
}

/// A linear layer and the loss of its scores, which PyTorch computes for some rows at a time. The
/// gradients that it gives beside a reduced loss are for its own backward pass.
Entities lossOfLinear(Node &node, int64_t reduction) {
  Tensor x = node.floatIn("input");
  auto ofItsType = [&](StringRef name) { return node.floatIn(name).convert(x.elementType()); };
  Value bias = node.has("linear_bias") ? ofItsType("linear_bias").get() : Value();
  Tensor scores = node.make<nn::LinearOp>({x, ofItsType("linear_weight"), bias},
                                          {node.flag("transpose_w", true)});
  node.set("self", scores.get());
  node.set("reduction", reduction);
  return crossEntropy(node);
}
Entities reducedLossOfLinear(Node &node) {
  Entities results = lossOfLinear(node, node.string("reduction") == "sum" ? 2 : 1);
  results.resize(4, Entity::none());
  return results;
}
Entities lossesOfLinear(Node &node) {
  node.set("label_smoothing", 0.0);
  return lossOfLinear(node, 0);
}

Entities nll(Node &node) {
  ClassScores scores(node);
  return {scores.finish(
      node, node.make<nn::NllLossOp>(
                {scores.x, scores.target, node.optional("weight")},
                {reduction(node), node.i64("ignore_index", node.integer("ignore_index"))}))};
}

/// Beside it the sum of the weights: the sum of what each loss would be for scores of -1.
Entities nllForward(Node &node) {
  Entities results = nll(node);
  ClassScores scores(node);
  auto sum = nn::ReductionAttr::get(&node.context(), nn::Reduction::sum);
  results.push_back(node.make<nn::NllLossOp>(
      {scores.x.full(-1.0), scores.target, node.optional("weight")},
      {node.attr("reduction", sum), node.i64("ignore_index", node.integer("ignore_index"))}));
  return results;
}

// ---- elements ----

template <typename Op> Entities elementLoss(Node &node, ArrayRef<NamedAttribute> more = {}) {
  auto [x, target] = floatOperands(node, "self", "target");
  SmallVector<NamedAttribute> attributes(more);
  attributes.push_back(reduction(node));
  return {node.make<Op>({x, target}, attributes)};
}
Entities mse(Node &node) { return elementLoss<nn::MseLossOp>(node); }
Entities l1(Node &node) { return elementLoss<nn::L1LossOp>(node); }
Entities smoothL1(Node &node) {
  if (double beta = node.real("beta"); beta > 0)
    return elementLoss<nn::SmoothL1LossOp>(node, {node.f64("beta", beta)});
  return l1(node);
}
Entities huber(Node &node) {
  return elementLoss<nn::HuberLossOp>(node, {node.f64("delta", node.real("delta"))});
}

Value broadcastWeight(Node &node, StringRef name, Tensor x) {
  return node.has(name) ? node.broadcastTo(node.floatIn(name), x.shape()).get() : Value();
}

Entities bce(Node &node) {
  Tensor x = node.floatIn("self");
  return {node.make<nn::BceOp>({x, node.floatIn("target"), broadcastWeight(node, "weight", x)},
                               {reduction(node)})};
}
/// Of tensors of several types: logits in 16 bits, say, a target in f32, and weights that are whole
/// numbers. The loss has the target's type.
Entities bceWithLogits(Node &node) {
  auto [x, target] = floatOperands(node, "self", "target");
  Type type = x.elementType();
  for (StringRef name : {"weight", "pos_weight"})
    if (node.has(name))
      type = promoteTypes(type, node.in(name).elementType());
  auto weight = [&, shape = x.shape()](StringRef name) {
    return node.has(name) ? node.broadcastTo(node.in(name).convert(type), shape).get() : Value();
  };
  Tensor loss = node.make<nn::BceWithLogitsOp>(
      {x.convert(type), target.convert(type), weight("weight"), weight("pos_weight")},
      {reduction(node)});
  Type given = node.in("target").elementType();
  return {isa<FloatType>(given) ? loss.convert(given) : loss};
}

/// target (log target - x), or of a target that is a logarithm e^target (target - x)
Entities klDiv(Node &node) {
  auto [x, target] = operands(node, "self", "target");
  if (node.boolean("log_target"))
    return {reduced(node, prim::exp(target) * (target - x))};
  Tensor zero = prim::equal(target, 0.0); // a negative one is no probability: NaN
  Tensor entropy = prim::select(zero, target.full(0.0),
                                target * prim::log(prim::select(zero, target.full(1.0), target)));
  return {reduced(node, entropy - target * x)};
}

/// log(1 + e^(-target x)) in the type of x
Entities softMargin(Node &node) {
  Tensor x = node.floatIn("self"), target = node.in("target");
  // Its negative wraps in PyTorch's loss, and not in the gradient.
  if (target.elementType().isUnsignedInteger())
    fail("a 'target' of unsigned integers has another gradient in PyTorch than its loss");
  auto [opposite, y] = node.broadcast(-target.convert(x.elementType()), x);
  return {reduced(node, node.make<nn::SoftplusOp>({opposite * y}))};
}

/// max(0, x), whose gradient at 0 is 0.
Tensor atLeastZero(Tensor x) { return frontend::clamp(x, 0.0, std::nullopt); }

/// Where a label is this number. One of integers is compared in its own type, which wraps the
/// number (255 is -1 in 8 bits without a sign), and a boolean is 0 or 1, as in PyTorch.
Tensor isLabel(Tensor label, double number) {
  bool isBoolean = label.elementType().isInteger(1);
  return prim::equal(isBoolean ? label.convert(label.getBuilder().getI64Type()) : label, number);
}

/// x where the target is 1, max(0, margin - x) where it is -1, and both for other targets, in the
/// type of x
Entities hingeEmbedding(Node &node) {
  auto [x, label] = node.broadcast(node.floatIn("self"), node.in("target"));
  Tensor zero = x.full(0.0), apart = atLeastZero(node.number("margin") - x);
  return {reduced(node, prim::select(isLabel(label, 1), zero, apart) +
                            prim::select(isLabel(label, -1), zero, x))};
}

/// max(0, |a - p| - |a - n| + margin); with swap the nearer of |a - n| and |p - n|
Entities tripletMargin(Node &node) {
  Type type = resultType(node, {"anchor", "positive", "negative"});
  auto in = [&](StringRef name) { return asTensor(node, name, type); };
  Tensor anchor = in("anchor"), positive = in("positive"), negative = in("negative");
  auto distance = [&](Tensor x, Tensor y) {
    auto [a, b] = node.broadcast(x, y);
    if (a.rank() == 0)
      fail("needs vectors along the last dimension");
    return norm(asFloat(node, a - b) + node.real("eps"), node.number("p"), {a.rank() - 1});
  };
  Tensor apart = distance(anchor, negative);
  if (node.boolean("swap")) {
    auto [own, swapped] = node.broadcast(apart, distance(positive, negative));
    apart = prim::min(own, swapped);
  }
  auto [near, far] = node.broadcast(distance(anchor, positive), apart);
  return {reduced(node, atLeastZero(near - far + node.number("margin")))};
}

/// e^x - target x, or x - target log x; in full with Stirling's approximation of log target!
Entities poissonNll(Node &node) {
  auto [x, target] = operands(node, "input", "target");
  Tensor loss = node.boolean("log_input") ? prim::exp(x) - target * x
                                          : x - target * prim::log(x + node.real("eps"));
  if (node.boolean("full")) {
    Tensor isSmall = target <= 1.0, t = prim::select(isSmall, target.full(1.0), target);
    Tensor logFactorial = t * prim::log(t) - t + 0.5 * prim::log(t * (2 * M_PI));
    loss = loss + prim::select(isSmall, t.full(0.0), logFactorial);
  }
  return {reduced(node, loss)};
}

/// max(0, -target (input1 - input2) + margin), where a target of integers without a sign wraps
Entities marginRanking(Node &node) {
  Type type = resultType(node, {"input1", "input2", "target"});
  auto [a, b] = operands(node, "input1", "input2");
  auto [difference, opposite] =
      node.broadcast((a - b).convert(type), (-node.in("target")).convert(type));
  Tensor apart = asFloat(node, opposite * difference); // the margin is a float
  return {reduced(node, atLeastZero(apart + node.number("margin")))};
}

/// The cosine of the angle along a dimension. Each norm is at least eps, which PyTorch writes into
/// it where autograd does not look: the gradient is that of the norm as it was, below eps, too.
Tensor cosine(Tensor a, Tensor b, int64_t dim, double epsilon) {
  auto bounded = [&](Tensor x) {
    Tensor size = norm(x, 2, {dim});
    return straightThrough(prim::max(detach(size), epsilon), size);
  };
  return prim::sum(a * b, {dim}) / (bounded(a) * bounded(b));
}

Entities cosineSimilarity(Node &node) {
  auto [a, b] = operands(node, "x1", "x2");
  int64_t dim = node.dim("dim", a);
  if (a.rank() == 0)
    return {cosine(flat(a), flat(b), 0, node.real("eps"))};
  return {cosine(a, b, dim, node.real("eps"))};
}

/// 1 - cosine for pairs that belong together (target 1), else what the cosine exceeds the margin
/// by.
Entities cosineEmbedding(Node &node) {
  auto [a, b] = floatOperands(node, "input1", "input2");
  Tensor target = node.in("target");
  // The loss bounds the squared norms, by 1e-12 more than they are.
  int64_t dim = a.rank() - 1;
  auto squared = [&](Tensor x) { return prim::sum(x * x, {dim}) + 1e-12; };
  Tensor similarity = prim::sum(a * b, {dim}) / prim::sqrt(squared(a) * squared(b));
  Tensor apart = atLeastZero(similarity - node.number("margin"));
  Tensor zero = similarity.full(0.0);
  Tensor label = node.broadcastTo(target, similarity.shape());
  return {reduced(node, prim::select(isLabel(label, 1), 1.0 - similarity, zero) +
                            prim::select(isLabel(label, -1), apart, zero))};
}

/// A second derivative asks with a gradient for each element, also of a loss that is reduced.
template <Rule rule> Entities elementBackward(Node &node) {
  Tensor g = node.floatIn("grad_output");
  nn::Reduction kind = reductionOf(node);
  if (kind != nn::Reduction::none && g.rank() > 0) {
    auto [x, target] = node.broadcast(node.floatIn("self"), node.floatIn("target"));
    node.set("reduction", int64_t(0));
    if (kind == nn::Reduction::mean)
      node.set("grad_output", (g / static_cast<double>(x.size())).get());
  }
  return backward<rule>(node);
}

} // namespace

ArrayRef<OpRow> accc::aten::lossOps() {
  using enum Alias;
  static const OpRow rows[] = {
      {"cross_entropy_loss(self, target, weight=None, reduction=1, ignore_index=-100, "
       "label_smoothing=0.0)",
       crossEntropy, None, selected::classLoss},
      {"torch_nn::_linear_cross_entropy_batch_chunked(input, linear_weight, target, linear_bias, "
       "weight, reduction, ignore_index, label_smoothing, batch_chunk_size, acc_policy, acc_dtype, "
       "allow_retain_graph, compute_input_grad, compute_linear_weight_grad, "
       "compute_linear_bias_grad)",
       reducedLossOfLinear},
      {"torch_nn::_linear_cross_entropy_batch_chunked_no_reduction(input, linear_weight, target, "
       "linear_bias, weight, ignore_index, batch_chunk_size, acc_policy, acc_dtype)",
       lossesOfLinear},
      {"nll_loss(self, target, weight=None, reduction=1, ignore_index=-100)", nll, None,
       selected::classLoss},
      {"nll_loss_nd(self, target, weight=None, reduction=1, ignore_index=-100)", nll, None,
       selected::classLoss},
      {"nll_loss2d(self, target, weight=None, reduction=1, ignore_index=-100)", nll},
      {"nll_loss_forward(self, target, weight, reduction, ignore_index)", nllForward, None,
       selected::classLoss},
      {"nll_loss2d_forward(self, target, weight, reduction, ignore_index)", nllForward},
      {"nll_loss_backward(grad_output, self, target, weight, reduction, ignore_index, "
       "total_weight)",
       backward<nll>, None, selected::classLossBackward},
      {"nll_loss2d_backward(grad_output, self, target, weight, reduction, ignore_index, "
       "total_weight)",
       backward<nll>},
      {"mse_loss(self, target, reduction=1)", mse, None, selected::elementLoss},
      {"l1_loss(self, target, reduction=1)", l1, None, selected::elementLoss},
      {"smooth_l1_loss(self, target, reduction=1, beta=1.0)", smoothL1, None,
       selected::elementLoss},
      {"huber_loss(self, target, reduction=1, delta=1.0)", huber, None, selected::elementLoss},
      {"binary_cross_entropy(self, target, weight=None, reduction=1)", bce, None,
       selected::elementLoss},
      {"binary_cross_entropy_with_logits(self, target, weight=None, pos_weight=None, reduction=1)",
       bceWithLogits, None, selected::elementLoss},
      {"kl_div(self, target, reduction=1, *, log_target=False)", klDiv, None,
       selected::elementLoss},
      {"soft_margin_loss(self, target, reduction=1)", softMargin, None, selected::elementLoss},
      {"margin_ranking_loss(input1, input2, target, margin=0.0, reduction=1)", marginRanking},
      {"hinge_embedding_loss(self, target, margin=1.0, reduction=1)", hingeEmbedding},
      {"triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-06, swap=False, "
       "reduction=1)",
       tripletMargin},
      {"poisson_nll_loss(input, target, log_input, full, eps, reduction)", poissonNll},
      {"cosine_similarity(x1, x2, dim=1, eps=1e-08)", cosineSimilarity, None, selected::similarity},
      {"cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=1)", cosineEmbedding},

      {"mse_loss_backward(grad_output, self, target, reduction)", elementBackward<mse>, None,
       selected::elementLossBackward},
      {"smooth_l1_loss_backward(grad_output, self, target, reduction, beta)",
       elementBackward<smoothL1>, None, selected::elementLossBackward},
      {"huber_loss_backward(grad_output, self, target, reduction, delta)", elementBackward<huber>,
       None, selected::elementLossBackward},
      {"binary_cross_entropy_backward(grad_output, self, target, weight=None, reduction=1)",
       elementBackward<bce>, None, selected::elementLossBackward},
      {"soft_margin_loss_backward(grad_output, self, target, reduction)",
       elementBackward<softMargin>, None, selected::elementLossBackward},
  };
  return rows;
}
