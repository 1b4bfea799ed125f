// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/aten/Backward.h"
#include "frontend/common/PullBack.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

SmallVector<Tensor> accc::aten::pullBack(const Node &node, Rule rule, ArrayRef<Primal> primals,
                                         Tensor cotangent) {
  auto values = llvm::map_to_vector(primals, [](const Primal &primal) { return primal.value; });
  return frontend::pullBack(
      node, values,
      [&](ArrayRef<Value> leaves) {
        Node forward = node;
        for (auto [primal, leaf] : llvm::zip_equal(primals, leaves))
          forward.set(primal.name, leaf);
        return rule(forward).front().tensor;
      },
      [&](Tensor result) -> Value {
        return node.broadcastTo(cotangent.convert(result.elementType()), result.shape());
      });
}

Entities accc::aten::pullBackMasked(Node &node, Rule rule, ArrayRef<Primal> primals,
                                    Tensor cotangent) {
  SmallVector<bool> mask = node.booleans("output_mask");
  if (mask.size() != primals.size())
    fail("'output_mask' has " + Twine(mask.size()) + " entries");
  SmallVector<Primal> wanted;
  for (auto [isWanted, primal] : llvm::zip_equal(mask, primals))
    if (isWanted && primal.value)
      wanted.push_back(primal);
  if (wanted.empty())
    return Entities(primals.size());
  SmallVector<Tensor> gradients = pullBack(node, rule, wanted, cotangent);
  Entities results;
  for (size_t i = 0, next = 0; i < primals.size(); ++i)
    results.push_back(mask[i] && primals[i].value ? Entity(gradients[next++]) : Entity());
  return results;
}

Entities accc::aten::backwardOfLinear(Node &node, Rule rule, StringRef sizes) {
  Tensor gradient = node.floatIn("grad_output");
  Tensor anything = node.full(node.integers(sizes), gradient.elementType(), 0);
  return {pullBack(node, rule, {{"self", anything}}, gradient).front()};
}
