// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Dropout and random tensors. All draw from the key of the step, each from a stream of its own.
#include "frontend/onnx/GraphImporter.h"
#include "frontend/onnx/OpTable.h"
#include "ir/nn/Nn.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

/// Whether the node says that it drops. Exporters of attention leave the flag out, which by the
/// standard means that it does not.
bool isTraining(Node &node, double ratio) {
  const ImportOptions &options = node.importer().options();
  if (node.opset() < 7)
    return node.integer("is_test", 0) == 0;
  if (node.opset() >= 12 && node.has(2))
    return node.knownInteger(2, "training mode") != 0;
  if (ratio == 0 || !options.training)
    return false;
  bool assumed = node.importer().assumesDropoutTraining();
  if (!assumed)
    node.importer().warn(
        "dropout without the flag training_mode does nothing, as ONNX says, though its ratio is "
        "not 0 (PyTorch exports the dropout of attention like that): give "
        "--assume-dropout-training to let it drop");
  return assumed;
}

Entities dropout(Node &node) {
  Tensor x = node.floatIn(0);
  double ratio = node.opset() < 12 ? node.real("ratio", 0.5)
                 : node.has(1)     ? node.knownReal(1, "ratio")
                                   : 0.5;
  if (!(ratio >= 0 && ratio <= 1))
    fail("the ratio must lie between 0 and 1");
  Type boolean = node.builder().getI1Type();
  if (!isTraining(node, ratio) || ratio == 0)
    return {x, node.wants(1) ? Entity(node.full(x.shape(), boolean, 1)) : Entity()};
  GraphImporter &importer = node.importer();
  int64_t stream = importer.nextStream();
  auto drop = [&](Tensor value) {
    return node.make<nn::DropoutOp>({value, importer.randomKey()},
                                    {node.f64("ratio", ratio), node.i64("stream", stream)},
                                    {value.type()});
  };
  Entities results = {drop(x)};
  if (node.wants(1)) // the same stream gives the same mask
    results.push_back(prim::notEqual(drop(x.full(1.0)), 0.0));
  return results;
}

// ---- random tensors ----

/// The type of the result: the shape given or that of the input, with the element type `dtype`.
RankedTensorType resultType(Node &node, bool like) {
  SmallVector<int64_t> shape =
      like ? SmallVector<int64_t>(node.in(0).shape()) : node.integers("shape");
  Type element = node.hasAttribute("dtype")
                     ? elementType(node.context(), static_cast<int32_t>(node.integer("dtype")))
                 : like && isa<FloatType>(node.in(0).elementType()) ? node.in(0).elementType()
                                                                    : node.builder().getF32Type();
  return tensorType(shape, element);
}

/// What a random node draws its numbers with.
struct Source {
  Value key;
  int64_t stream;
};

/// In each step, the seed of training. What is drawn before training has the node's seed: two nodes
/// of one seed draw the same.
Source sourceOf(Node &node) {
  GraphImporter &importer = node.importer();
  bool hasSeed = node.hasAttribute("seed");
  if (hasSeed && importer.isInitialization()) {
    auto bits = llvm::bit_cast<uint32_t>(static_cast<float>(node.real("seed")));
    return {node.integers({static_cast<int64_t>(bits), 0}, {2}), 0};
  }
  if (hasSeed)
    importer.warn("the seeds of random nodes are ignored: numbers come from the seed of training");
  return {importer.randomKey(), importer.nextStream()};
}

template <bool like> Entities randomUniform(Node &node) {
  Source source = sourceOf(node);
  return {node.make<nn::RandomUniformOp>({source.key},
                                         {node.f64("low", node.real("low", 0.0)),
                                          node.f64("high", node.real("high", 1.0)),
                                          node.i64("stream", source.stream)},
                                         {resultType(node, like)})};
}

template <bool like> Entities randomNormal(Node &node) {
  Source source = sourceOf(node);
  return {node.make<nn::RandomNormalOp>({source.key},
                                        {node.f64("mean", node.real("mean", 0.0)),
                                         node.f64("scale", node.real("scale", 1.0)),
                                         node.i64("stream", source.stream)},
                                        {resultType(node, like)})};
}

Entities bernoulli(Node &node) {
  Source source = sourceOf(node);
  Tensor p = node.floatIn(0);
  Type element = node.hasAttribute("dtype")
                     ? elementType(node.context(), static_cast<int32_t>(node.integer("dtype")))
                     : p.elementType();
  return {node.make<nn::BernoulliOp>({p, source.key}, {node.i64("stream", source.stream)},
                                     {p.type().clone(element)})};
}

/// Samples of the classes of unnormalised log probabilities: the greatest of log p + Gumbel noise.
/// Source: Gumbel, "Statistical theory of extreme values", 1954.
Entities multinomial(Node &node) {
  Source source = sourceOf(node);
  Tensor x = node.floatIn(0);
  int64_t samples = node.integer("sample_size", 1);
  if (x.rank() != 2 || x.dim(1) == 0)
    fail("needs log probabilities of shape [batch, classes]");
  Type element = elementType(node.context(), static_cast<int32_t>(node.integer("dtype", 6)));
  RankedTensorType type = tensorType({x.dim(0), samples, x.dim(1)}, x.elementType());
  Tensor uniform = node.make<nn::RandomUniformOp>(
      {source.key},
      {node.f64("low", 1e-7), node.f64("high", 1.0), node.i64("stream", source.stream)}, {type});
  Tensor noisy = x.broadcast(type.getShape(), {0, 2}) - prim::log(-prim::log(uniform));
  return {node.make<prim::ArgReduceOp>(
                  {noisy}, {node.attr("kind", prim::ReduceKindAttr::get(&node.context(),
                                                                        prim::ReduceKind::max)),
                            node.i64("dimension", 2)})
              .convert(element)};
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::randomOps() {
  static const OpRow rows[] = {
      {"Dropout", dropout},
      {"RandomUniform", randomUniform<false>},
      {"RandomUniformLike", randomUniform<true>},
      {"RandomNormal", randomNormal<false>},
      {"RandomNormalLike", randomNormal<true>},
      {"Bernoulli", bernoulli},
      {"Multinomial", multinomial},
  };
  return rows;
}
