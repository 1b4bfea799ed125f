// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "budget/PartOfKernel.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace accc;

prim::FusionOp accc::makePartOf(prim::FusionOp whole, OpBuilder &builder,
                                const llvm::MapVector<Value, Value> &read,
                                ArrayRef<Operation *> ops, ArrayRef<Value> results) {
  SmallVector<Value> inputs;
  for (auto [inside, outside] : read)
    inputs.push_back(outside);
  auto made = builder.create<prim::FusionOp>(whole.getLoc(), ValueRange(results).getTypes(), inputs,
                                             prim::kernelKind(ops), whole.getName(),
                                             prim::KernelSpecAttr());
  Block &body = made.getBody().emplaceBlock();
  IRMapping mapping;
  for (auto [inside, outside] : read)
    mapping.map(inside, body.addArgument(inside.getType(), inside.getLoc()));
  OpBuilder b = OpBuilder::atBlockEnd(&body);
  for (Operation *op : ops)
    b.clone(*op, mapping);
  SmallVector<Value> yielded;
  for (Value result : results)
    yielded.push_back(mapping.lookup(result));
  b.create<prim::YieldOp>(whole.getLoc(), yielded);
  return made;
}
