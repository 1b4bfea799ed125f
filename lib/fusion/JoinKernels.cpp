// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/JoinKernels.h"

#include "fusion/DescribeKernels.h"
#include "fusion/Groups.h"
#include "fusion/Outline.h"
#include "support/DeadCode.h"
#include "support/SortBlock.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

using namespace mlir;
using namespace accc;

namespace {
/// What the value is but for its shape.
Value withoutReshapes(Value value) {
  while (auto reshape = value.getDefiningOp<prim::ReshapeOp>())
    value = reshape.getOperand();
  return value;
}

/// Whether something that runs between the two reads `first` and is read by `second`.
bool isNeededBetween(prim::FusionOp first, prim::FusionOp second) {
  DenseSet<Operation *> dependent{first};
  auto depends = [&](Value operand) { return dependent.contains(operand.getDefiningOp()); };
  for (Operation *op = first->getNextNode(); op != second; op = op->getNextNode())
    if (llvm::any_of(op->getOperands(), depends))
      dependent.insert(op);
  return llvm::any_of(second.getInputs(), [&](Value input) {
    return depends(input) && withoutReshapes(input).getDefiningOp() != first;
  });
}

/// Whether anything but `reader` reads the value, whatever its shape.
bool isReadBesides(Value value, Operation *reader) {
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    return isa<prim::ReshapeOp>(user) ? isReadBesides(user->getResult(0), reader) : user != reader;
  });
}

/// A function that does what two kernels do, of which one may read the other.
struct Both {
  OwningOpRef<func::FuncOp> function;
  SmallVector<Value> inputs;  // what its arguments stand for
  SmallVector<Value> outputs; // what it returns

  Block &block() { return function->front(); }
};

Both inlined(prim::FusionOp first, prim::FusionOp second) {
  OpBuilder b(first.getContext());
  Both both;
  both.function =
      func::FuncOp::create(FusedLoc::get(b.getContext(), {first.getLoc(), second.getLoc()}), "both",
                           b.getFunctionType({}, {}));
  Block &block = *both.function->addEntryBlock();
  b.setInsertionPointToEnd(&block);
  IRMapping mapping;
  for (prim::FusionOp fusion : {first, second}) {
    Block &body = fusion.getBody().front();
    for (auto [argument, input] : llvm::zip_equal(body.getArguments(), fusion.getInputs())) {
      Value root = withoutReshapes(input);
      if (!mapping.contains(root)) {
        mapping.map(root, block.addArgument(root.getType(), root.getLoc()));
        both.inputs.push_back(root);
      }
      Value inside = mapping.lookup(root);
      if (inside.getType() != argument.getType())
        inside = b.create<prim::ReshapeOp>(input.getLoc(), argument.getType(), inside);
      mapping.map(argument, inside);
    }
    for (Operation &op : body.without_terminator())
      b.clone(op, mapping);
    for (auto [output, yielded] :
         llvm::zip_equal(fusion.getOutputs(), body.getTerminator()->getOperands()))
      mapping.map(output, mapping.lookup(yielded));
  }
  SmallVector<Value> returned;
  for (prim::FusionOp fusion : {first, second})
    for (Value output : fusion.getOutputs())
      if (isReadBesides(output, second)) {
        both.outputs.push_back(output);
        returned.push_back(mapping.lookup(output));
      }
  b.create<func::ReturnOp>(both.function->getLoc(), returned);
  both.function->setType(
      b.getFunctionType(block.getArgumentTypes(), ValueRange(returned).getTypes()));
  IRRewriter rewriter(b.getContext());
  DominanceInfo dominance(*both.function);
  eliminateCommonSubExpressions(rewriter, dominance, *both.function);
  eraseDeadCode(block);
  return both;
}
} // namespace

prim::FusionOp accc::joinKernels(prim::FusionOp kernel, prim::FusionOp into, const Target &target) {
  bool isFirst = kernel->isBeforeInBlock(into);
  prim::FusionOp first = isFirst ? kernel : into, second = isFirst ? into : kernel;
  if (isNeededBetween(first, second))
    return {};
  Both both = inlined(first, second);
  Groups groups(both.block(), target);
  if (!groups.mergeAll())
    return {};
  outlineGroups(both.block(), groups);

  Block &block = *into->getBlock();
  DenseMap<Operation *, int64_t> rank;
  for (auto [i, op] : llvm::enumerate(block.without_terminator()))
    rank[&op] = static_cast<int64_t>(i);
  IRMapping mapping;
  for (auto [argument, input] : llvm::zip_equal(both.block().getArguments(), both.inputs))
    mapping.map(argument, input);
  OpBuilder b(second);
  prim::FusionOp joined;
  for (Operation &op : both.block().without_terminator()) {
    Operation *copy = b.clone(op, mapping);
    rank[copy] = rank.lookup(into);
    if (auto fusion = dyn_cast<prim::FusionOp>(copy))
      joined = fusion;
  }
  for (auto [output, returned] :
       llvm::zip_equal(both.outputs, both.block().getTerminator()->getOperands()))
    output.replaceAllUsesWith(mapping.lookup(returned));
  second.erase();
  eraseDeadCode(block); // `first`, and reshapes of what it gave
  sortBlock(block, rank);
  describeKernel(joined);
  return joined;
}
