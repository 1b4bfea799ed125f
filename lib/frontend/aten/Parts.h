// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of complex numbers by those of reals.
#ifndef ACCC_FRONTEND_ATEN_PARTS_H
#define ACCC_FRONTEND_ATEN_PARTS_H

#include "frontend/aten/Node.h"

namespace accc::aten {

/// A rule that is linear over the reals in its complex tensors: once with the real parts, once with
/// the imaginary ones. Reals among the `operands`, tensors or numbers, have the imaginary part 0;
/// what else the node has (indices, masks, sizes, factors) is the same for both.
Entities byParts(Node &node, Rule rule, llvm::ArrayRef<llvm::StringRef> operands = {});
template <Rule rule> Entities byParts(Node &node) { return byParts(node, rule); }

/// Multiplies the operand by the node's `alpha` if that is complex, so that a rule finds none.
void takeComplexAlpha(Node &node, llvm::StringRef operand);

/// A rule that is linear in each of its tensors: a product of matrices.
Entities byProducts(Node &node, Rule rule);
template <Rule rule> Entities byProducts(Node &node) { return byProducts(node, rule); }

/// A rule of which the first result is made of sums, products and inverses of matrices, the last
/// two dimensions of all complex tensors that it has.
Entities byRealMatrices(Node &node, Rule rule);
template <Rule rule> Entities byRealMatrices(Node &node) { return byRealMatrices(node, rule); }

/// A rule that asks how large its complex tensors are: a norm.
Entities byMagnitudes(Node &node, Rule rule);
template <Rule rule> Entities byMagnitudes(Node &node) { return byMagnitudes(node, rule); }

/// How other elements of a view go back into what is viewed, by operators whose views hold parts of
/// complex numbers, or null: `whole` with those of `part`.
using PutParts = mlir::Value (*)(const NodeBuilder &node, mlir::Value whole, mlir::Value part);
PutParts putPartsOf(llvm::StringRef name);

/// The first argument itself, which PyTorch gives where a call changes nothing: also under
/// torch.no_grad() it has its gradient.
Entities itself(Node &node, prim::Tensor x);
Entities itself(Node &node);

/// One rule for reals, a formula for complex numbers.
template <Rule rule, Complex (*formula)(const Complex &)> Entities orComplex(Node &node) {
  if (!node.isComplex("self"))
    return rule(node);
  return {formula(node.complexIn("self")).value(node)};
}
template <Rule rule, prim::Tensor (*formula)(const Complex &)> Entities orComplex(Node &node) {
  if (!node.isComplex("self"))
    return rule(node);
  return {formula(node.complexIn("self"))};
}

} // namespace accc::aten

#endif
