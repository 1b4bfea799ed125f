// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalisations.
#include "frontend/common/Indexing.h"
#include "frontend/onnx/GraphImporter.h"
#include "frontend/onnx/OpTable.h"
#include "ir/nn/Nn.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

// ---- batch normalisation ----

/// Whether the node updates its statistics: said by an attribute since operator set 14, and before
/// that by how many outputs it has.
bool isTraining(Node &node) {
  if (node.opset() >= 14)
    return node.integer("training_mode", 0) != 0;
  if (node.opset() < 7)
    return node.integer("is_test", 0) == 0 && node.outputs() > 1;
  return node.outputs() > 1;
}

Entities batchNormalization(Node &node) {
  GraphImporter &importer = node.importer();
  Tensor x = node.floatIn(0), mean = node.wrap(importer.outsideBranch(node.floatIn(3))),
         var = node.wrap(importer.outsideBranch(node.floatIn(4)));
  if (node.integer("spatial", 1) != 1)
    fail("spatial=0 is not supported");
  // PyTorch's dynamo exporter leaves out what a module with affine=False does not have.
  auto perChannel = [&](size_t input, double neutral) {
    return node.has(input) ? node.floatIn(input)
                           : node.full(mean.shape(), x.elementType(), neutral);
  };
  SmallVector<Value> operands = {x, perChannel(1, 1), perChannel(2, 0), mean, var};
  NamedAttribute epsilon = node.f64("epsilon", node.real("epsilon", 1e-5));
  importer.markBuffer(mean);
  importer.markBuffer(var);
  bool trains =
      isTraining(node) || (importer.options().training && importer.assumesBatchNormTraining());
  if (!trains) {
    bool doubtful = importer.options().training && !importer.writtenForTraining();
    // By its statistics: without affine=True it has no scale that bears a name.
    if (doubtful && importer.writtenByPyTorch() && importer.initialValues().has(mean))
      importer.addDamage(Loss::FrozenBatchNorm, ownerOf(node.proto().input(3)));
    else if (doubtful)
      importer.warn("BatchNormalization was exported in inference mode (PyTorch's dynamo exporter "
                    "writes it so whatever the module's mode): it keeps its statistics and does "
                    "not use those of the batch; give --assume-batchnorm-training to train it");
    return {node.make<nn::BatchNormInferenceOp>(operands, {epsilon})};
  }
  // A module that is called twice updates its statistics twice. Some exporters write that the
  // second call reads what the first one gave, others that both read the variables.
  Value meanVariable = importer.updatedVariable(mean), varVariable = importer.updatedVariable(var);
  operands[3] = importer.latest(meanVariable);
  operands[4] = importer.latest(varVariable);
  // ONNX keeps `momentum` of the old value, PyTorch and nn take it of the new one; and PyTorch
  // updates the variance with the unbiased one, where ONNX says the biased one.
  std::optional<bool> given = importer.unbiasedRunningVar();
  bool unbiased = given.value_or(importer.writtenByPyTorch());
  if (unbiased && !given)
    importer.remark(
        {.message = "running variances are updated with the unbiased variance, as PyTorch, which "
                    "wrote this file, does (ONNX: the biased one, --running-variance biased)",
         .severity = Problem::Severity::Note});
  Operation *op = node.create<nn::BatchNormTrainingOp>(
      operands, {epsilon, node.f64("momentum", 1.0 - node.real("momentum", 0.9)),
                 node.flag("unbiased", unbiased)});
  // What a module reads of statistics that it has moved has no gradient, as in PyTorch.
  Tensor newMean = detach(node.wrap(op->getResult(1))),
         newVar = detach(node.wrap(op->getResult(2)));
  // The exporter leaves the updated statistics dangling; they belong to inputs 3 and 4, by
  // position. Those are no variables where an instance normalisation is written as a batch
  // normalisation.
  bool meanBound = importer.bindUpdate(meanVariable, newMean);
  bool varBound = importer.bindUpdate(varVariable, newVar);
  if (meanBound != varBound)
    node.warn(
        "only one of its running statistics is a variable of its own; the other is not updated");
  return {op->getResult(0), newMean, newVar};
}

// ---- over the trailing dimensions ----

/// Scale and bias may broadcast in ONNX; nn takes them in the normalised shape.
Value inShape(Node &node, size_t input, ArrayRef<int64_t> shape) {
  if (!node.has(input))
    return Value();
  Tensor tensor = node.floatIn(input);
  SmallVector<int64_t> trimmed(tensor.shape());
  while (trimmed.size() > shape.size() && trimmed.front() == 1)
    trimmed.erase(trimmed.begin());
  return node.broadcastTo(tensor.reshape(trimmed), shape);
}

Entities layerNormalization(Node &node) {
  Tensor x = node.floatIn(0);
  int64_t axis = node.axis(node.integer("axis", -1), x.rank());
  double epsilon = node.real("epsilon", 1e-5);
  ArrayRef<int64_t> shape = x.shape().drop_front(axis);
  Entities results;
  results.push_back(
      node.make<nn::LayerNormOp>({x, inShape(node, 1, shape), inShape(node, 2, shape)},
                                 {node.i64("axis", axis), node.f64("epsilon", epsilon)}));
  if (node.wants(1) || node.wants(2)) {
    SmallVector<int64_t> dimensions(x.rank() - axis), kept(x.shape());
    std::iota(dimensions.begin(), dimensions.end(), axis);
    std::fill(kept.begin() + axis, kept.end(), 1);
    Tensor wide = x.elementType().isF64() ? x : x.convert(node.builder().getF32Type());
    Tensor mean = prim::mean(wide, dimensions);
    Tensor centred = wide - mean.broadcastAlong(x.shape(), dimensions);
    Tensor var = prim::mean(centred * centred, dimensions);
    results.push_back(mean.reshape(kept));
    results.push_back(prim::rsqrt(var + epsilon).reshape(kept));
  }
  return results;
}

Entities rmsNormalization(Node &node) {
  Tensor x = node.floatIn(0);
  int64_t axis = node.axis(node.integer("axis", -1), x.rank());
  return {node.make<nn::RmsNormOp>(
      {x, inShape(node, 1, x.shape().drop_front(axis))},
      {node.i64("axis", axis), node.f64("epsilon", node.real("epsilon", 1e-5))})};
}

// ---- over groups of channels ----

Entities groupNormalization(Node &node) {
  Tensor x = node.floatIn(0), scale = node.floatIn(1), bias = node.floatIn(2);
  int64_t groups = node.integer("num_groups");
  if (x.rank() < 2 || groups < 1 || x.dim(1) % groups != 0)
    fail("the groups do not divide the channels");
  // Operator set 18 had one scale and bias a group.
  auto perChannel = [&](Tensor t) {
    if (t.rank() != 1 || t.dim(0) == x.dim(1) || t.dim(0) != groups)
      return t;
    return t.broadcast({groups, x.dim(1) / groups}, {0}).reshape({x.dim(1)});
  };
  return {node.make<nn::GroupNormOp>(
      {x, perChannel(scale), perChannel(bias)},
      {node.i64("groups", groups), node.f64("epsilon", node.real("epsilon", 1e-5))})};
}

Entities instanceNormalization(Node &node) {
  return {node.make<nn::InstanceNormOp>({node.floatIn(0), node.floatIn(1), node.floatIn(2)},
                                        {node.f64("epsilon", node.real("epsilon", 1e-5))})};
}

// ---- others ----

/// x / (bias + alpha / size * sum of squares over `size` neighbouring channels)^beta
Entities lrn(Node &node) {
  Tensor x = node.floatIn(0);
  int64_t size = node.integer("size");
  if (x.rank() < 2 || size < 1 || size > (1 << 20))
    fail("needs channels and a positive size");
  SmallVector<int64_t> window(x.rank(), 1), ones(x.rank(), 1), low(x.rank(), 0), high(x.rank(), 0);
  window[1] = size;
  low[1] = (size - 1) / 2;
  high[1] = size - 1 - low[1];
  Tensor squares = node.make<prim::ReduceWindowOp>(
      {x * x},
      {node.attr("kind", prim::ReduceKindAttr::get(&node.context(), prim::ReduceKind::sum)),
       node.list("window", window), node.list("strides", ones), node.list("dilations", ones),
       node.list("pad_low", low), node.list("pad_high", high)});
  double alpha = node.real("alpha", 1e-4), beta = node.real("beta", 0.75),
         bias = node.real("bias", 1.0);
  return {x * prim::pow(squares * (alpha / static_cast<double>(size)) + bias, -beta)};
}

Entities meanVarianceNormalization(Node &node) {
  Tensor x = node.floatIn(0);
  SmallVector<int64_t> given =
      node.hasAttribute("axes") ? node.integers("axes") : SmallVector<int64_t>{0, 2, 3};
  SmallVector<int64_t> axes = node.axes(given, x.rank());
  Tensor centred = x - prim::mean(x, axes).broadcastAlong(x.shape(), axes);
  Tensor deviation = prim::sqrt(prim::mean(centred * centred, axes)) + 1e-9;
  return {centred / deviation.broadcastAlong(x.shape(), axes)};
}

Entities lpNormalization(Node &node) {
  Tensor x = node.floatIn(0);
  int64_t axis = node.axis(node.integer("axis", -1), x.rank()), p = node.integer("p", 2);
  if (p != 1 && p != 2)
    fail("p must be 1 or 2");
  Tensor norm = p == 1 ? prim::sum(prim::abs(x), {axis}) : prim::sqrt(prim::sum(x * x, {axis}));
  // 0 / 0 gives 0, by select rather than by a NaN times 0.
  Tensor divisor = norm.broadcastAlong(x.shape(), {axis});
  Tensor zero = prim::equal(divisor, 0.0);
  return {prim::select(zero, x.full(0.0), x / prim::select(zero, divisor.full(1.0), divisor))};
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::normalizationOps() {
  static const OpRow rows[] = {
      {"BatchNormalization", batchNormalization},
      {"LayerNormalization", layerNormalization},
      {"RMSNormalization", rmsNormalization},
      {"GroupNormalization", groupNormalization},
      {"InstanceNormalization", instanceNormalization},
      {"LRN", lrn},
      {"MeanVarianceNormalization", meanVarianceNormalization},
      {"LpNormalization", lpNormalization},
  };
  return rows;
}
