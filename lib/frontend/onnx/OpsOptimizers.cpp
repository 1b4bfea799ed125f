// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The updates of optimizers.
#include "frontend/onnx/OpTable.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

/// The inputs of a node: R and T, then the tensors of each kind, X, G, ..., one for each parameter.
struct Update {
  Tensor rate;                               // R
  Tensor count;                              // T, the updates done
  SmallVector<SmallVector<Tensor>> operands; // of each parameter, one of each kind
};

Tensor scalarIn(Node &node, size_t i) {
  Tensor value = node.numberIn(i);
  if (value.size() != 1)
    fail("input " + Twine(i) + " must be a scalar, but has the shape " + show(value.shape()));
  return value.reshape({});
}

/// What computes a value changes nothing about the update: kernels know by the barrier what belongs
/// to an optimizer, and put the updates of all parameters together.
Tensor apart(Node &node, Tensor value) { return node.make<prim::OptimizationBarrierOp>({value}); }

Update readUpdate(Node &node, ArrayRef<StringRef> kinds) {
  size_t count = node.inputs() < 2 ? 0 : (node.inputs() - 2) / kinds.size();
  if (count == 0 || node.inputs() != 2 + count * kinds.size())
    fail("has " + Twine(node.inputs()) + " inputs, and takes R, T and " + Twine(kinds.size()) +
         " tensors for each parameter");
  Update update = {apart(node, scalarIn(node, 0)), apart(node, scalarIn(node, 1)), {}};
  for (size_t i = 0; i < count; ++i) {
    SmallVector<Tensor> &tensors = update.operands.emplace_back();
    for (auto [k, kind] : llvm::enumerate(kinds)) {
      tensors.push_back(apart(node, node.floatIn(2 + k * count + i)));
      if (tensors.back().type() != tensors.front().type())
        fail(kind + "_" + Twine(i + 1) + " has the shape " + show(tensors.back().shape()) +
             " or another element type than X_" + Twine(i + 1) + " of shape " +
             show(tensors.front().shape()));
    }
  }
  return update;
}

/// The new tensors of one parameter, a kind each.
using Rewrite = llvm::function_ref<SmallVector<Tensor>(ArrayRef<Tensor> operands)>;

/// All results of a kind before those of the next.
Entities rewriteAll(const Update &update, Rewrite rewrite) {
  SmallVector<SmallVector<Tensor>> results;
  for (const SmallVector<Tensor> &operands : update.operands)
    results.push_back(rewrite(operands));
  Entities ordered;
  for (size_t kind = 0; kind < results.front().size(); ++kind)
    for (const SmallVector<Tensor> &each : results)
      ordered.push_back(each[kind]);
  return ordered;
}

/// norm_coefficient X + G: the gradient with that of the L2 regularisation.
Tensor regularized(Tensor x, Tensor g, double coefficient) {
  return coefficient == 0.0 ? g : g + x * coefficient;
}

/// R / (1 + T decay_factor), H' = H + G^2, X' = X - R G / (sqrt(H') + epsilon)
/// Source: Duchi et al., 2011; the formulas are those of ONNX.
Entities adagrad(Node &node) {
  Update update = readUpdate(node, {"X", "G", "H"});
  double decay = node.real("decay_factor", 0.0), epsilon = node.real("epsilon", 1e-6);
  double coefficient = node.real("norm_coefficient", 0.0);
  Tensor rate = update.rate;
  if (decay != 0.0)
    rate = rate / (1.0 + update.count.convert(rate.elementType()) * decay);
  return rewriteAll(update, [&](ArrayRef<Tensor> operands) -> SmallVector<Tensor> {
    Tensor x = operands[0], g = regularized(x, operands[1], coefficient);
    Tensor h = operands[2] + g * g;
    return {x - g * rate.convert(x.elementType()) / (sqrt(h) + epsilon), h};
  });
}

/// A decay, beta in 1 - beta^T.
double decayOf(Node &node, StringRef name, double otherwise) {
  double value = node.real(name, otherwise);
  if (!(value >= 0.0 && value < 1.0))
    fail("the attribute '" + name + "' must lie in [0, 1)");
  return value;
}

/// V' = alpha V + (1 - alpha) G, H' = beta H + (1 - beta) G^2,
/// X' = (1 - norm_coefficient_post) (X - R' V' / (sqrt(H') + epsilon))
/// where R' = R sqrt(1 - beta^T) / (1 - alpha^T), and R if T = 0
/// Source: Kingma and Ba, 2015; the formulas are those of ONNX.
Entities adam(Node &node) {
  Update update = readUpdate(node, {"X", "G", "V", "H"});
  double alpha = decayOf(node, "alpha", 0.9), beta = decayOf(node, "beta", 0.999);
  double epsilon = node.real("epsilon", 1e-6), coefficient = node.real("norm_coefficient", 0.0);
  double keeps = 1.0 - node.real("norm_coefficient_post", 0.0);
  Tensor count = update.count.convert(update.rate.elementType());
  // 1 - beta^T as -expm1(T log beta): in f32, 1 - 0.999^1 would be off by 1e-5 of itself.
  auto correction = [&](double decay) {
    return decay == 0.0 ? count.full(1.0) : -expm1(count * std::log(decay));
  };
  Tensor isLate = update.count > 0.0;
  Tensor adjusted = update.rate * sqrt(correction(beta)) / select(isLate, correction(alpha), 1.0);
  Tensor rate = select(isLate, adjusted, update.rate);
  return rewriteAll(update, [&](ArrayRef<Tensor> operands) -> SmallVector<Tensor> {
    Tensor x = operands[0], g = regularized(x, operands[1], coefficient);
    Tensor v = operands[2] * alpha + g * (1.0 - alpha);
    Tensor h = operands[3] * beta + g * g * (1.0 - beta);
    Tensor moved = x - v * rate.convert(x.elementType()) / (sqrt(h) + epsilon);
    return {keeps == 1.0 ? moved : moved * keeps, v, h};
  });
}

/// V' = alpha V + beta G, where beta is 1 if T = 0
/// X' = X - R V', or with Nesterov's momentum X - R (G + alpha V')
/// Source: Sutskever et al., 2013; the formulas are those of ONNX.
Entities momentum(Node &node) {
  Update update = readUpdate(node, {"X", "G", "V"});
  double alpha = node.real("alpha"), beta = node.real("beta");
  double coefficient = node.real("norm_coefficient");
  std::string mode = node.string("mode");
  if (mode != "standard" && mode != "nesterov")
    fail("unknown mode '" + mode + "': it is \"standard\" or \"nesterov\"");
  Tensor isLate = update.count > 0.0;
  return rewriteAll(update, [&](ArrayRef<Tensor> operands) -> SmallVector<Tensor> {
    Tensor x = operands[0], g = regularized(x, operands[1], coefficient);
    Tensor scale = select(isLate, node.scalar(beta, g.elementType()), 1.0);
    Tensor v = operands[2] * alpha + (beta == 1.0 ? g : g * scale);
    Tensor rate = update.rate.convert(x.elementType());
    return {x - (mode == "nesterov" ? g + v * alpha : v) * rate, v};
  });
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::optimizerOps() {
  static const OpRow rows[] = {
      {"Adagrad", adagrad, "ai.onnx.preview.training"},
      {"Adam", adam, "ai.onnx.preview.training"},
      {"Momentum", momentum, "ai.onnx.preview.training"},
  };
  return rows;
}
