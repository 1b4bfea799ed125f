// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalisations.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Promotion.h"
#include "ir/nn/Nn.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

/// The argument, or a constant for each of the channels.
Tensor perChannel(Node &node, StringRef name, Tensor x, double otherwise) {
  if (node.has(name))
    return node.floatIn(name);
  return node.full({x.dim(1)}, x.elementType(), otherwise);
}

void checkChannels(Tensor x) {
  if (x.rank() < 2)
    fail("needs batch and channels, but the input has the shape " + show(x.shape()));
}

// ---- batch normalisation ----

struct BatchNorm {
  Tensor x, weight, bias, mean, var;
  NamedAttribute epsilon;

  explicit BatchNorm(Node &node)
      : x((checkChannels(node.in("input")), node.floatIn("input"))),
        weight(perChannel(node, "weight", x, 1)), bias(perChannel(node, "bias", x, 0)),
        mean(perChannel(node, "running_mean", x, 0)), var(perChannel(node, "running_var", x, 1)),
        epsilon(node.f64("epsilon", node.real("eps"))) {}

  Tensor inference(Node &node) const {
    return node.make<nn::BatchNormInferenceOp>({x, weight, bias, mean, var}, {epsilon});
  }
  Operation *training(Node &node) const {
    return node.create<nn::BatchNormTrainingOp>(
        {x, weight, bias, mean, var},
        {epsilon, node.f64("momentum", node.real("momentum")), node.flag("unbiased", true)});
  }
};

/// Without running statistics those of the batch are taken in evaluation, too.
Entities batchNorm(Node &node) {
  BatchNorm norm(node);
  if (!node.boolean("training"))
    return {norm.inference(node)};
  Operation *op = norm.training(node);
  if (node.has("running_mean")) {
    node.write("running_mean", op->getResult(1));
    node.write("running_var", op->getResult(2));
  }
  return {op->getResult(0)};
}

/// What PyTorch keeps for its own backward pass is not there: nothing but that reads it.
Entities legitBatchNorm(Node &node) {
  Entities results = batchNorm(node);
  results.push_back(Entity());
  results.push_back(Entity());
  return results;
}

/// The updated statistics are results.
Entities functionalBatchNorm(Node &node) {
  BatchNorm norm(node);
  if (!node.boolean("training"))
    return {norm.inference(node), Entity(), Entity(), Entity(norm.mean), Entity(norm.var)};
  Operation *op = norm.training(node);
  return {op->getResult(0), Entity(), Entity(), op->getResult(1), op->getResult(2)};
}
Entities inferenceBatchNorm(Node &node) {
  return {BatchNorm(node).inference(node), Entity(), Entity()};
}

// ---- over the trailing dimensions ----

int64_t normalizedAxis(Node &node, Tensor x) {
  SmallVector<int64_t> shape = node.integers("normalized_shape");
  int64_t axis = x.rank() - static_cast<int64_t>(shape.size());
  if (shape.empty() || axis < 0 || x.shape().drop_front(axis) != ArrayRef(shape))
    fail("the normalised shape " + show(shape) + " does not fit an input of shape " +
         show(x.shape()));
  return axis;
}

Entities layerNorm(Node &node) {
  Tensor x = node.floatIn("input");
  return {node.make<nn::LayerNormOp>(
              {x, node.optional("weight"), node.optional("bias")},
              {node.i64("axis", normalizedAxis(node, x)), node.f64("epsilon", node.real("eps"))}),
          Entity(), Entity()};
}

/// eps is by default that of the element type.
Entities rmsNorm(Node &node) {
  Tensor x = node.floatIn("input");
  const llvm::fltSemantics &semantics = cast<FloatType>(x.elementType()).getFloatSemantics();
  double epsilon =
      node.has("eps")
          ? node.real("eps")
          : std::ldexp(1.0, 1 - static_cast<int>(APFloat::semanticsPrecision(semantics)));
  return {node.make<nn::RmsNormOp>(
      {x, node.optional("weight")},
      {node.i64("axis", normalizedAxis(node, x)), node.f64("epsilon", epsilon)})};
}

// ---- over groups of channels ----

Tensor groups(Node &node, Tensor x, int64_t count) {
  checkChannels(x);
  if (count < 1 || x.dim(1) % count != 0)
    fail(Twine(count) + " groups do not divide " + Twine(x.dim(1)) + " channels");
  return node.make<nn::GroupNormOp>(
      {x, perChannel(node, "weight", x, 1), perChannel(node, "bias", x, 0)},
      {node.i64("groups", count), node.f64("epsilon", node.real("eps"))});
}
Entities groupNorm(Node &node) {
  return {groups(node, node.floatIn("input"), node.integer("num_groups"))};
}
Entities nativeGroupNorm(Node &node) {
  return {groups(node, node.floatIn("input"), node.integer("group")), Entity(), Entity()};
}

Entities instanceNorm(Node &node) {
  Tensor x = node.floatIn("input");
  checkChannels(x);
  if (!node.boolean("use_input_stats"))
    return {BatchNorm(node).inference(node)};
  if (node.has("running_mean"))
    fail("running statistics of an instance normalisation are not supported");
  return {node.make<nn::InstanceNormOp>(
      {x, perChannel(node, "weight", x, 1), perChannel(node, "bias", x, 0)},
      {node.f64("epsilon", node.real("eps"))})};
}

/// x / (k + alpha / size * sum of squares over `size` neighbouring channels)^beta is built of pools
/// by PyTorch itself; what arrives here is the norm of weights.
Entities weightNorm(Node &node) {
  Tensor v = node.floatIn("v"), g = node.floatIn("g");
  int64_t dim = node.axis(node.integer("dim"), v.rank());
  SmallVector<int64_t> others;
  for (int64_t d = 0; d < v.rank(); ++d)
    if (d != dim)
      others.push_back(d);
  Tensor norm = prim::sqrt(prim::sum(v * v, others)).broadcastAlong(v.shape(), others);
  return {v * (node.broadcastTo(g, v.shape()) / norm)};
}

} // namespace

ArrayRef<OpRow> accc::aten::normalizationOps() {
  static const OpRow rows[] = {
      {"batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, "
       "cudnn_enabled=True)",
       batchNorm},
      {"native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)",
       legitBatchNorm},
      {"_native_batch_norm_legit(input, weight, bias, running_mean, running_var, training, "
       "momentum, "
       "eps)",
       legitBatchNorm},
      {"_native_batch_norm_legit.no_stats(input, weight, bias, training, momentum, eps, "
       "running_mean=None, running_var=None)",
       legitBatchNorm},
      {"_native_batch_norm_legit_functional(input, weight, bias, running_mean, running_var, "
       "training, momentum, eps)",
       functionalBatchNorm},
      {"_native_batch_norm_legit_no_training(input, weight, bias, running_mean, running_var, "
       "momentum, eps)",
       inferenceBatchNorm},
      {"layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True)",
       layerNorm},
      {"native_layer_norm(input, normalized_shape, weight, bias, eps)", layerNorm},
      {"rms_norm(input, normalized_shape, weight=None, eps=None)", rmsNorm},
      {"_fused_rms_norm(input, normalized_shape, weight, eps)", rmsNorm},
      {"group_norm(input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True)",
       groupNorm},
      {"native_group_norm(input, weight, bias, N, C, HxW, group, eps)", nativeGroupNorm},
      {"instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, "
       "eps, cudnn_enabled)",
       instanceNorm},
      {"_weight_norm(v, g, dim=0)", weightNorm},
  };
  return rows;
}
