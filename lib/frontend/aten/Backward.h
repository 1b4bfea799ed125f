// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators of a backward pass, by the derivatives of those of the forward pass.
#ifndef ACCC_FRONTEND_ATEN_BACKWARD_H
#define ACCC_FRONTEND_ATEN_BACKWARD_H

#include "frontend/aten/Node.h"

namespace accc::aten {

/// An argument of a rule, and its value.
struct Primal {
  llvm::StringRef name;
  mlir::Value value;
};

/// The vector-Jacobian product of a rule: the gradients with respect to `primals`, where that of
/// the rule's first result is `cotangent`. The rule asks `node` for its other arguments. What it
/// computes is built only as far as the gradients need it.
llvm::SmallVector<prim::Tensor> pullBack(const Node &node, Rule rule,
                                         llvm::ArrayRef<Primal> primals, prim::Tensor cotangent);

/// The gradients that the argument `output_mask` asks for, one for each of the primals; no tensor
/// for others, and for primals without a value.
Entities pullBackMasked(Node &node, Rule rule, llvm::ArrayRef<Primal> primals,
                        prim::Tensor cotangent);

/// The row of an operator with the arguments of the forward one, and `grad_output`: the gradient
/// with respect to the argument of this name.
template <Rule rule> Entities backward(Node &node, llvm::StringRef name) {
  return {pullBack(node, rule, {{name, node.floatIn(name)}}, node.floatIn("grad_output")).front()};
}
template <Rule rule> Entities backward(Node &node) { return backward<rule>(node, "self"); }

/// The same for a rule that is linear in its argument `self`, of which the call has the shape
/// alone, as the argument of this name.
Entities backwardOfLinear(Node &node, Rule rule, llvm::StringRef sizes);
template <Rule rule> Entities backwardOfView(Node &node) {
  return backwardOfLinear(node, rule, "input_sizes");
}

} // namespace accc::aten

#endif
