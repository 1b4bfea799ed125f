// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/Outline.h"

#include "fusion/Chunk.h"
#include "ir/prim/KernelReductions.h"
#include "support/DeadCode.h"
#include "support/SortBlock.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace accc;

namespace {
/// The mnemonics of what the kernel does, the most telling ones.
std::string nameOf(ArrayRef<Operation *> ops) {
  llvm::StringSet<> seen;
  std::string name;
  int parts = 0;
  for (Operation *op : ops) {
    StringRef mnemonic = op->getName().stripDialect();
    bool telling = ops.size() <= 3 ||
                   !isa<prim::ConvertOp, prim::BroadcastOp, prim::CompareOp, prim::ReshapeOp>(op);
    if (!telling || parts == 5 || !seen.insert(mnemonic).second)
      continue;
    name += (name.empty() ? "" : "_") + mnemonic.str();
    ++parts;
  }
  return name;
}

/// The type of which the kernel of the ops gives the output: one that reduces rows gives what it
/// computes of each element in the shape of its space.
RankedTensorType typeInKernel(Value output, ArrayRef<Operation *> ops) {
  auto type = cast<RankedTensorType>(output.getType());
  SmallVector<prim::ReduceOp> all;
  for (Operation *op : ops)
    if (auto reduction = dyn_cast<prim::ReduceOp>(op))
      all.push_back(reduction);
  if (all.empty())
    return type;
  prim::KernelReductions reductions = *prim::sortReductions(all);
  if (!reductions.isFull(output))
    return type;
  return type.clone(reductions.rows.front().getOperand().getType().getShape());
}

prim::FusionOp outline(ArrayRef<Operation *> ops, const Groups &groups) {
  SmallVector<Value> outputs = groups.outputs(ops);
  SmallVector<Type> types;
  SmallVector<Location> locations;
  for (Value output : outputs)
    types.push_back(typeInKernel(output, ops));
  for (Operation *op : ops)
    locations.push_back(op->getLoc());
  OpBuilder b(ops.back());
  DenseSet<Operation *> inside(ops.begin(), ops.end());

  // Free ops and reshapes are folded into their users; what they read from outside is an input.
  SmallVector<Operation *> needed;
  SmallVector<Value> inputs;
  DenseSet<Operation *> taken;
  auto take = [&](auto &self, Operation *op) -> void {
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (producer && inside.contains(producer))
        continue;
      bool along = false;
      if (producer) {
        Part part = groups.partOf(producer);
        along = part == Part::Free || part == Part::Alias;
      }
      if (!along) {
        if (!llvm::is_contained(inputs, operand))
          inputs.push_back(operand);
      } else if (taken.insert(producer).second) {
        self(self, producer);
        needed.push_back(producer);
      }
    }
  };
  SmallVector<Operation *> body;
  for (Operation *op : ops) {
    needed.clear();
    take(take, op);
    body.append(needed);
    body.push_back(op);
  }
  auto fusion = b.create<prim::FusionOp>(FusedLoc::get(b.getContext(), locations), types, inputs,
                                         prim::kernelKind(ops), nameOf(ops),
                                         /*spec=*/prim::KernelSpecAttr());
  Block &block = fusion.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, block.addArgument(input.getType(), input.getLoc()));
  b.setInsertionPointToEnd(&block);
  for (Operation *op : body)
    b.clone(*op, mapping);
  auto reshaped = [&](Value value, Type type) -> Value {
    return value.getType() == type ? value
                                   : b.create<prim::ReshapeOp>(fusion.getLoc(), type, value);
  };
  SmallVector<Value> yielded;
  for (auto [output, type] : llvm::zip_equal(outputs, types))
    yielded.push_back(reshaped(mapping.lookup(output), type));
  b.create<prim::YieldOp>(fusion.getLoc(), yielded);
  b.setInsertionPointAfter(fusion);
  for (auto [output, result] : llvm::zip_equal(outputs, fusion.getOutputs()))
    output.replaceAllUsesWith(reshaped(result, output.getType()));
  return fusion;
}
} // namespace

void accc::outlineGroups(Block &block, const Groups &groups) {
  DenseMap<Operation *, int64_t> rank;
  for (auto [i, op] : llvm::enumerate(block.without_terminator()))
    rank[&op] = static_cast<int64_t>(i);
  for (int64_t i = 0; i < groups.size(); ++i) {
    ArrayRef<Operation *> ops = groups.members(i);
    if (ops.empty())
      continue;
    prim::FusionOp fusion = outline(ops, groups);
    rank[fusion] = rank.lookup(ops.back());
  }
  // The kernels are what they are: barriers and the numbers of chunks have done their work.
  block.walk([](Operation *op) { op->removeAttr(kChunk); });
  for (auto barrier : llvm::make_early_inc_range(block.getOps<prim::OptimizationBarrierOp>())) {
    barrier.replaceAllUsesWith(barrier.getOperand());
    barrier.erase();
  }
  // First, so that users stand behind what they use: the dead are found from the end.
  sortBlock(block, rank);
  // The groups' ops, and the free ones that every kernel that reads them computes for itself.
  eraseDeadCode(block);
}
