// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/FullPrecision.h"
#include "frontend/common/ImportError.h"
#include "ir/nn/Nn.h"
#include "ir/prim/Prim.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace accc;

/// Whether it decomposes into products of f32.
static bool holdsProducts(Operation *op) {
  return isa<nn::NnDialect>(op->getDialect()) && op->hasTrait<RoundsItself>() &&
         isa<Decomposable>(op) && !isa<nn::ConvolutionOp, nn::ConvTransposeOp>(op) &&
         getElementTypeOrSelf(op->getResult(0)).isF32();
}

llvm::DenseMap<Value, Value> accc::frontend::keepFullPrecision(ArrayRef<Operation *> ops) {
  llvm::DenseMap<Value, Value> replaced;
  SmallVector<Operation *> open(ops);
  for (size_t i = 0; i < open.size(); ++i) {
    Operation *op = open[i];
    if (auto product = dyn_cast<prim::DotGeneralOp>(op);
        product && getElementTypeOrSelf(product.getLhs()).isF32())
      product.setFullPrecision(true);
    if (!holdsProducts(op))
      continue;
    // Behind it, as everything that a rule builds is behind what it has built.
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    Operation *behind = op->getNextNode();
    SmallVector<Value> values;
    if (failed(cast<Decomposable>(op).decompose(builder, values)))
      fail("cannot be computed in full precision");
    for (Operation *part = op->getNextNode(); part != behind; part = part->getNextNode())
      open.push_back(part);
    for (auto [result, value] : llvm::zip_equal(op->getResults(), values)) {
      result.replaceAllUsesWith(value);
      for (auto &[old, now] : replaced)
        if (now == result)
          now = value;
      replaced[result] = value;
    }
  }
  return replaced;
}
