// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalisations.
#include "frontend/aten/Backward.h"
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Promotion.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Indexing.h"
#include "ir/nn/Nn.h"

#include <array>
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

/// x minus its mean, along dimensions that mean and rstd = 1 / sqrt(var + eps) lack: what PyTorch's
/// backward passes start from.
struct Statistics {
  SmallVector<int64_t> dimensions;
  Tensor mean, centered, rstd;

  Statistics(Tensor x, ArrayRef<int64_t> along, Tensor mean, Tensor rstd)
      : dimensions(along), mean(mean), centered(x - mean.broadcastAlong(x.shape(), along)),
        rstd(rstd) {}
  static Statistics of(Tensor x, ArrayRef<int64_t> along, double epsilon) {
    Statistics s(x, along, prim::mean(x, along), x);
    s.rstd = prim::rsqrt(prim::mean(s.centered * s.centered, along) + epsilon);
    return s;
  }

  Tensor spread(Tensor x) const { return x.broadcastAlong(centered.shape(), dimensions); }
  Tensor normal() const { return centered * spread(rstd); }
  /// With g the gradient of the normal values: rstd (g - mean(g) - normal mean(g normal)).
  Tensor gradient(Tensor g) const {
    Tensor xhat = normal();
    return spread(rstd) * (g - spread(prim::mean(g, dimensions)) -
                           xhat * spread(prim::mean(g * xhat, dimensions)));
  }
};

/// What a norm gives of its statistics, which PyTorch computes in f32: those of an input of 16 bits
/// are rounded to its type, unless weight or bias have f32.
Tensor result(Node &node, Tensor statistic) {
  Type type = node.in("input").elementType();
  for (StringRef name : {"weight", "bias"})
    if (node.has(name))
      type = promoteTypes(type, node.in(name).elementType());
  return statistic.convert(type);
}

/// An argument of a backward pass, of which some may have 16 bits and others not.
Tensor wideIn(Node &node, StringRef name) { return prim::widen(node.floatIn(name)); }

/// What is kept of the statistics, in a shape of their size. No gradient flows through these
/// results of a norm, but the derivative of its backward pass is that of a function of the input
/// alone.
Tensor kept(Node &node, StringRef name, ArrayRef<int64_t> shape) {
  return attached(node.reshape(wideIn(node, name), shape));
}

/// The dimensions of x but for the channels.
SmallVector<int64_t> allButChannels(Tensor x) {
  SmallVector<int64_t> dims;
  for (int64_t d = 0; d < x.rank(); ++d)
    if (d != 1)
      dims.push_back(d);
  return dims;
}

/// The gradients of input, weight and bias that are asked for, each of the type of what it is the
/// gradient for: under autocast an input in 16 bits has a weight in f32.
Entities masked(Node &node, Tensor dx, Tensor dweight, Tensor dbias) {
  SmallVector<bool> mask = node.booleans("output_mask");
  mask.resize(3, false);
  Type input = node.in("input").elementType();
  Type weight = node.has("weight") ? node.in("weight").elementType() : input;
  return {mask[0] ? dx.convert(input) : Entity(), mask[1] ? dweight.convert(weight) : Entity(),
          mask[2] ? dbias.convert(weight) : Entity()};
}

/// A gradient of the shape of what it is the gradient for.
Tensor outputGradient(Node &node, StringRef name, Tensor x) {
  return node.reshape(node.floatIn(name).convert(x.elementType()), x.shape());
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

  /// By the batch's own statistics, in evaluation, too.
  Tensor byBatch(Node &node) const {
    return node.make<nn::BatchNormUntrackedOp>({x, weight, bias}, {epsilon});
  }
  Tensor inference(Node &node) const {
    return node.make<nn::BatchNormInferenceOp>({x, weight, bias, mean, var}, {epsilon});
  }
  Operation *training(Node &node) const {
    // With momentum=None it depends on the number of batches: here the statistics of this one.
    double momentum = node.isTensor("momentum") ? 1 : node.real("momentum");
    return node.create<nn::BatchNormTrainingOp>(
        {x, weight, bias, mean, var},
        {epsilon, node.f64("momentum", momentum), node.flag("unbiased", true)});
  }
  /// The running statistics after a step of training. As in PyTorch, no gradient flows through
  /// them.
  Tensor newMean(Node &node, Operation *training) const {
    return moved(node, mean, training->getResult(1));
  }
  Tensor newVar(Node &node, Operation *training) const {
    return moved(node, var, training->getResult(2));
  }
  /// Mean and rstd of the batch, after y. As in PyTorch, no gradient flows through them.
  void addStatistics(Node &node, Entities &results) const {
    Statistics s = Statistics::of(prim::widen(x), allButChannels(x), node.real("eps"));
    results.append({detach(result(node, s.mean)), detach(result(node, s.rstd))});
  }

private:
  static Tensor moved(Node &node, Tensor before, Value now) {
    Tensor after = node.wrap(now);
    if (node.isTensor("momentum")) {
      Tensor share = node.in("momentum").convert(before.elementType()).reshape({});
      share = share.broadcast(before.shape(), {});
      after = before * (1.0 - share) + after * share;
    }
    return detach(after);
  }
};

/// Without running statistics those of the batch are taken in evaluation, too.
Entities batchNorm(Node &node) {
  BatchNorm norm(node);
  if (!node.boolean("training"))
    return {norm.inference(node)};
  if (!node.has("running_mean"))
    return {norm.byBatch(node)};
  Operation *op = norm.training(node);
  if (norm.x.size() > 0) { // PyTorch learns nothing of an empty batch
    node.write("running_mean", norm.newMean(node, op));
    node.write("running_var", norm.newVar(node, op));
  }
  return {op->getResult(0)};
}

/// Without elements: the statistics of a batch that were not computed.
Entities noStatistics(Node &node, Tensor y) {
  Tensor none = node.full({0}, y.elementType(), 0);
  return {y, none, none};
}

/// Beside it what PyTorch keeps for its backward pass.
Entities legitBatchNorm(Node &node) {
  Entities results = batchNorm(node);
  if (!node.boolean("training"))
    return noStatistics(node, node.wrap(results.front().tensor));
  BatchNorm(node).addStatistics(node, results);
  return results;
}

/// What cuDNN keeps, of which a CPU has nothing.
Entity reserve(Node &node) {
  return node.full({0}, node.builder().getIntegerType(8, /*isSigned=*/false), 0);
}
Entities updatingBatchNorm(Node &node) {
  node.set("training", true);
  Entities results = legitBatchNorm(node);
  results.push_back(reserve(node));
  return results;
}
Entities constantBatchNorm(Node &node) {
  Entities results = noStatistics(node, BatchNorm(node).inference(node));
  results.push_back(reserve(node));
  return results;
}

/// The updated statistics are results.
Entities functionalBatchNorm(Node &node) {
  BatchNorm norm(node);
  if (!node.boolean("training"))
    return {norm.inference(node), Entity(), Entity(), Entity(norm.mean), Entity(norm.var)};
  Operation *op = norm.training(node);
  Entities results = {op->getResult(0)};
  norm.addStatistics(node, results);
  if (norm.x.size() > 0)
    results.append({norm.newMean(node, op), norm.newVar(node, op)});
  else
    results.append({Entity(norm.mean), Entity(norm.var)});
  return results;
}
Entities updatingFunctionalBatchNorm(Node &node) {
  node.set("training", true);
  Entities results = functionalBatchNorm(node);
  results.insert(results.begin() + 3, reserve(node));
  return results;
}
Entities inferenceBatchNorm(Node &node) {
  return noStatistics(node, BatchNorm(node).inference(node));
}

/// The gradients of input, weight and bias.
using NormGradients = std::array<Tensor, 3>;

NormGradients gradientsByBatch(Node &node, Tensor x, Tensor g, Tensor weight) {
  SmallVector<int64_t> dims = allButChannels(x), channels = {x.dim(1)};
  Statistics s(x, dims, kept(node, "save_mean", channels), kept(node, "save_invstd", channels));
  return {s.gradient(g * s.spread(weight)), prim::sum(g * s.normal(), dims), prim::sum(g, dims)};
}

NormGradients gradientsByRunning(Node &node, Tensor x, Tensor g, Tensor weight) {
  SmallVector<int64_t> dims = allButChannels(x), channels = {x.dim(1)};
  Tensor var = node.reshape(wideIn(node, "running_var"), channels);
  Statistics s(x, dims, node.reshape(wideIn(node, "running_mean"), channels),
               prim::rsqrt(var + node.real("eps")));
  return {g * s.spread(weight) * s.spread(s.rstd), prim::sum(g * s.normal(), dims),
          prim::sum(g, dims)};
}

/// Forward may take derivatives: those of a batch norm in evaluation are by its running statistics.
Entities batchNormBackward(Node &node) {
  checkChannels(node.in("input"));
  Tensor x = wideIn(node, "input"), weight = prim::widen(perChannel(node, "weight", x, 1));
  Tensor g = outputGradient(node, "grad_out", x), scale = node.reshape(weight, {x.dim(1)});
  bool trains = node.boolean("train");
  NormGradients found =
      trains ? gradientsByBatch(node, x, g, scale) : gradientsByRunning(node, x, g, scale);
  if (trains && node.has("running_mean"))
    for (auto [gradient, evaluated] : llvm::zip(found, gradientsByRunning(node, x, g, scale)))
      gradient = node.make<nn::ByModeOp>({gradient, evaluated});
  return masked(node, found[0], found[1], found[2]);
}

/// The same, with other names.
Entities anyBatchNormBackward(Node &node) {
  node.set("train", node.boolean("update"));
  node.set("save_invstd", node.has("save_var") ? Argument(node.in("save_var").get()) : NoValue());
  return batchNormBackward(node);
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
      {node.i64("axis", normalizedAxis(node, x)), node.f64("epsilon", node.real("eps"))})};
}

/// The shape of x with the normalised dimensions as ones, which PyTorch keeps.
SmallVector<int64_t> shapeOfRows(Tensor x, int64_t axis) {
  SmallVector<int64_t> shape(x.shape());
  std::fill(shape.begin() + axis, shape.end(), 1);
  return shape;
}
SmallVector<int64_t> dimensionsFrom(Tensor x, int64_t axis) {
  SmallVector<int64_t> dims(x.rank() - axis);
  std::iota(dims.begin(), dims.end(), axis);
  return dims;
}

/// Beside it mean and rstd of each row, through which no gradient flows.
Entities nativeLayerNorm(Node &node) {
  Tensor x = node.floatIn("input");
  int64_t axis = normalizedAxis(node, x);
  Statistics s = Statistics::of(prim::widen(x), dimensionsFrom(x, axis), node.real("eps"));
  SmallVector<int64_t> rows = shapeOfRows(x, axis);
  Entities results = layerNorm(node);
  for (Tensor statistic : {s.mean, s.rstd})
    results.push_back(detach(result(node, statistic)).reshape(rows));
  return results;
}

Entities layerNormBackward(Node &node) {
  Tensor x = wideIn(node, "input"), g = outputGradient(node, "grad_out", x);
  int64_t axis = normalizedAxis(node, x);
  SmallVector<int64_t> rows(x.shape().take_front(axis)), leading(axis);
  std::iota(leading.begin(), leading.end(), 0);
  Statistics s(x, dimensionsFrom(x, axis), kept(node, "mean", rows), kept(node, "rstd", rows));
  Tensor scaled = node.has("weight") ? g * node.broadcastTo(wideIn(node, "weight"), x.shape()) : g;
  return masked(node, s.gradient(scaled), prim::sum(g * s.normal(), leading),
                prim::sum(g, leading));
}

/// eps is by default that of the type that PyTorch computes in.
Entities rmsNorm(Node &node) {
  Tensor x = node.floatIn("input");
  Type computed = prim::widen(x).elementType();
  const llvm::fltSemantics &semantics = cast<FloatType>(computed).getFloatSemantics();
  double epsilon =
      node.has("eps")
          ? node.real("eps")
          : std::ldexp(1.0, 1 - static_cast<int>(APFloat::semanticsPrecision(semantics)));
  return {node.make<nn::RmsNormOp>(
      {x, node.optional("weight")},
      {node.i64("axis", normalizedAxis(node, x)), node.f64("epsilon", epsilon)})};
}

// ---- over groups of channels ----

void checkGroups(Tensor x, int64_t count) {
  checkChannels(x);
  if (count < 1 || x.dim(1) % count != 0)
    fail(Twine(count) + " groups do not divide " + Twine(x.dim(1)) + " channels");
}

Tensor groups(Node &node, Tensor x, int64_t count) {
  checkGroups(x, count);
  return node.make<nn::GroupNormOp>(
      {x, perChannel(node, "weight", x, 1), perChannel(node, "bias", x, 0)},
      {node.i64("groups", count), node.f64("epsilon", node.real("eps"))});
}
Entities groupNorm(Node &node) {
  return {groups(node, node.floatIn("input"), node.integer("num_groups"))};
}

/// [N, groups, elements of a group]
Tensor asGroups(Tensor x, int64_t count) {
  return x.reshape({x.dim(0), count, x.size() / std::max<int64_t>(x.dim(0) * count, 1)});
}

/// Beside it mean and rstd of each group.
Entities nativeGroupNorm(Node &node) {
  Tensor x = node.floatIn("input");
  int64_t count = node.integer("group");
  Statistics s = Statistics::of(prim::widen(asGroups(x, count)), {2}, node.real("eps"));
  return {groups(node, x, count), result(node, s.mean), result(node, s.rstd)};
}

Entities groupNormBackward(Node &node) {
  Tensor x = wideIn(node, "input"), g = outputGradient(node, "grad_out", x);
  int64_t count = node.integer("group");
  checkGroups(x, count);
  SmallVector<int64_t> each = {x.dim(0), count}, dims = allButChannels(x);
  Statistics s(asGroups(x, count), {2}, kept(node, "mean", each), kept(node, "rstd", each));
  Tensor scaled = g * prim::widen(perChannel(node, "weight", x, 1)).broadcast(x.shape(), {1});
  return masked(node, s.gradient(asGroups(scaled, count)).reshape(x.shape()),
                prim::sum(g * s.normal().reshape(x.shape()), dims), prim::sum(g, dims));
}

/// Moves the running statistics towards the means, over the batch, of those of the instances.
void updateByInstances(Node &node, Tensor x) {
  SmallVector<int64_t> spatial;
  int64_t count = 1;
  for (int64_t d = 2; d < x.rank(); ++d) {
    spatial.push_back(d);
    count *= x.dim(d);
  }
  Statistics s = Statistics::of(prim::widen(x), spatial, 0);
  Tensor variance = prim::sum(s.centered * s.centered, spatial) /
                    static_cast<double>(std::max<int64_t>(count - 1, 1));
  double momentum = node.real("momentum");
  auto update = [&](StringRef name, Tensor now) {
    Tensor before = node.floatIn(name);
    Tensor mean = detach(prim::mean(now, {0})).convert(before.elementType());
    node.write(name, before * (1 - momentum) + mean * momentum);
  };
  update("running_mean", s.mean);
  update("running_var", variance);
}

Entities instanceNorm(Node &node) {
  Tensor x = node.floatIn("input");
  checkChannels(x);
  if (!node.boolean("use_input_stats"))
    return {BatchNorm(node).inference(node)};
  Tensor y = node.make<nn::InstanceNormOp>(
      {x, perChannel(node, "weight", x, 1), perChannel(node, "bias", x, 0)},
      {node.f64("epsilon", node.real("eps"))});
  if (!node.has("running_mean"))
    return {y};
  Tensor evaluated = BatchNorm(node).inference(node);
  updateByInstances(node, x);
  return {node.make<nn::ByModeOp>({y, evaluated})};
}

/// v with the norm g in each slice along a dimension, and the norms that v has there, which have
/// f32 where v has 16 bits.
Entities weightNormWithNorms(Node &node) {
  Tensor v = wideIn(node, "v"), g = wideIn(node, "g");
  // -1 is not the last dimension but none: one norm for the whole weight.
  int64_t dim = node.integer("dim");
  if (dim != -1)
    dim = node.axis(dim, v.rank());
  SmallVector<int64_t> others, kept(v.rank(), 1);
  for (int64_t d = 0; d < v.rank(); ++d)
    if (d == dim)
      kept[static_cast<size_t>(d)] = v.dim(d);
    else
      others.push_back(d);
  Tensor norms = prim::sqrt(prim::sum(v * v, others));
  Tensor scale = node.broadcastTo(g, v.shape()) / norms.broadcastAlong(v.shape(), others);
  return {(v * scale).convert(node.in("v").elementType()), detach(norms.reshape(kept))};
}

Entities weightNorm(Node &node) { return {weightNormWithNorms(node).front()}; }

Entities weightNormBackward(Node &node) {
  SmallVector<Tensor> gradients =
      pullBack(node, weightNorm, {{"v", node.floatIn("saved_v")}, {"g", node.floatIn("saved_g")}},
               node.floatIn("grad_w"));
  return {gradients[0], gradients[1]};
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
      {"_batch_norm_with_update(input, weight, bias, running_mean, running_var, momentum, eps, "
       "training=True)",
       updatingBatchNorm},
      {"_batch_norm_with_update_functional(input, weight, bias, running_mean, running_var, "
       "momentum, eps, training=True)",
       updatingFunctionalBatchNorm},
      {"_batch_norm_no_update(input, weight, bias, running_mean, running_var, momentum, eps)",
       constantBatchNorm},
      {"batch_norm_backward(grad_out, input, weight, running_mean, running_var, save_mean, "
       "save_var, update, eps, output_mask, reserve, train=False, save_invstd=None)",
       anyBatchNormBackward},
      {"_native_batch_norm_legit_no_training(input, weight, bias, running_mean, running_var, "
       "momentum, eps)",
       inferenceBatchNorm},
      {"native_batch_norm_backward(grad_out, input, weight, running_mean, running_var, save_mean, "
       "save_invstd, train, eps, output_mask)",
       batchNormBackward},
      {"layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, cudnn_enable=True)",
       layerNorm, Alias::None, selected::normalization},
      {"native_layer_norm(input, normalized_shape, weight, bias, eps)", nativeLayerNorm,
       Alias::None, selected::normalization},
      {"native_layer_norm_backward(grad_out, input, normalized_shape, mean, rstd, weight, bias, "
       "output_mask)",
       layerNormBackward, Alias::None, selected::normalizationBackward},
      {"rms_norm(input, normalized_shape, weight=None, eps=None)", rmsNorm, Alias::None,
       selected::normalization},
      {"_fused_rms_norm(input, normalized_shape, weight, eps)", rmsNorm},
      {"group_norm(input, num_groups, weight=None, bias=None, eps=1e-05, cudnn_enabled=True)",
       groupNorm, Alias::None, selected::sampleNormalization},
      {"native_group_norm(input, weight, bias, N, C, HxW, group, eps)", nativeGroupNorm,
       Alias::None, selected::sampleNormalization},
      {"native_group_norm_backward(grad_out, input, mean, rstd, weight, N, C, HxW, group, "
       "output_mask)",
       groupNormBackward, Alias::None, selected::sampleNormalizationBackward},
      {"instance_norm(input, weight, bias, running_mean, running_var, use_input_stats, momentum, "
       "eps, cudnn_enabled)",
       instanceNorm},
      {"_weight_norm(v, g, dim=0)", weightNorm},
      {"_weight_norm_interface(v, g, dim=0)", weightNormWithNorms},
      {"_weight_norm_interface_backward(grad_w, saved_v, saved_g, saved_norms, dim)",
       weightNormBackward},
  };
  return rows;
}
