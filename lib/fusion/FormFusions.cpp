// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fusion/DescribeKernels.h"
#include "fusion/Groups.h"
#include "fusion/NarrowInputs.h"
#include "fusion/Outline.h"
#include "fusion/Passes.h"
#include "fusion/RecomputeInputs.h"
#include "ir/prim/Tensor.h"
#include "support/DeadCode.h"
#include "support/TensorBytes.h"
#include "target/TargetedPass.h"

#include "mlir/IR/Threading.h"

namespace accc {
#define GEN_PASS_DEF_FORMFUSIONSPASS
#include "fusion/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;

namespace {
std::string describe(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << op->getName().stripDialect();
  if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
    os << " of " << name.getName().getValue();
  return text;
}

class Former {
public:
  Former(func::FuncOp function, const Target &target, std::vector<FusionNote> *notes)
      : function(function), block(withoutDeadCode(function.front())), target(target),
        groups(block, target), notes(notes) {}

  void run() {
    // Consumers first, so that a producer meets the whole of what reads it.
    for (int64_t producer = groups.size(); producer-- > 0;)
      intoReaders(producer);
    for (Operation &op : block.without_terminator())
      for (Value result : op.getResults())
        siblings(result);
    for (BlockArgument argument : block.getArguments())
      siblings(argument);
    smallReductions();
    recomputeInputs(block, groups, target, [&](Operation *producer, Operation *reader) {
      if (notes)
        notes->push_back({function.getSymName().str(),
                          describe(producer),
                          describe(reader),
                          {true, "computed again rather than kept in memory"}});
    });
    outlineGroups(block, groups);
    narrowInputs(function);
    describeKernels(function);
  }

private:
  /// A group gives what others read: ops that nobody reads must not become one.
  static Block &withoutDeadCode(Block &block) {
    eraseDeadCode(block);
    return block;
  }

  bool tryMerge(int64_t a, int64_t b) {
    Operation *producer = groups.members(a).back(), *consumer = groups.members(b).front();
    FusionDecision decision = groups.merge(a, b);
    if (notes)
      notes->push_back(
          {function.getSymName().str(), describe(producer), describe(consumer), decision});
    return decision.allowed;
  }

  // merge(a, b) leaves the result in b, which may find further readers.
  void intoReaders(int64_t producer) {
    bool merged = true;
    while (merged && !groups.members(producer).empty()) {
      merged = false;
      for (int64_t reader : groups.readers(producer))
        if (tryMerge(producer, reader)) {
          producer = reader;
          merged = true;
          break;
        }
    }
  }

  // Groups that read the same large value share the reading of it. What each computes again is not
  // read.
  void siblings(Value value) {
    Operation *source = value.getDefiningOp();
    bool isRead = !source || groups.partOf(source) != Part::Free ||
                  (isa<prim::ConstantOp>(source) && !prim::splatNumber(value));
    if (!isRead ||
        cast<RankedTensorType>(value.getType()).getNumElements() < target.getCachedElements())
      return;
    constexpr size_t kMostReaders = 16; // each is tried with each
    llvm::SmallSetVector<int64_t, kMostReaders> found;
    SmallVector<Value> same{value};
    while (!same.empty())
      for (Operation *user : same.pop_back_val().getUsers()) {
        if (groups.partOf(user) == Part::Alias)
          same.push_back(user->getResult(0));
        if (int64_t reader = groups.groupOf(user); reader >= 0)
          found.insert(reader);
        if (found.size() > kMostReaders)
          return;
      }
    SmallVector<int64_t> readers(found.begin(), found.end());
    llvm::sort(readers);
    for (size_t i = 0; i + 1 < readers.size(); ++i)
      for (size_t j = i + 1; j < readers.size(); ++j)
        if (tryMerge(readers[i], readers[j]))
          break; // what was i is now part of j
  }

  /// What the group reduces, if it is small, and nothing but that is read by others: the type of
  /// the operands and the dimensions. Null otherwise.
  std::pair<Type, Attribute> smallReduction(int64_t group) const {
    prim::ReduceOp first;
    for (Operation *op : groups.members(group)) {
      auto reduction = dyn_cast<prim::ReduceOp>(op);
      if (reduction && !first)
        first = reduction;
      if (reduction && (reduction.getOperand().getType() != first.getOperand().getType() ||
                        reduction.getDimensions() != first.getDimensions()))
        return {};
    }
    if (!first || tensorBytes(first.getOperand().getType()) >= target.getSmallReductionBytes())
      return {};
    for (Value output : groups.outputs(groups.members(group)))
      if (cast<RankedTensorType>(output.getType()).getShape() != first.getType().getShape())
        return {};
    return {first.getOperand().getType(), first.getDimensionsAttr()};
  }

  /// Small reductions of one shape share a launch, whatever they read: the second steps of sums
  /// over all rows, of which a transformer has several for each layer. What they read is kept until
  /// the last is known, what they give is smaller.
  void smallReductions() {
    DenseMap<std::pair<Type, Attribute>, int64_t> last;
    for (int64_t group = 0; group < groups.size(); ++group) {
      std::pair<Type, Attribute> shape = smallReduction(group);
      if (!shape.first)
        continue;
      auto [known, isNew] = last.try_emplace(shape, group);
      if (!isNew)
        (void)tryMerge(known->second, group); // the result is `group`
      known->second = group;
    }
  }

  func::FuncOp function;
  Block &block;
  const Target &target;
  Groups groups;
  std::vector<FusionNote> *notes;
};

struct FormFusionsPass : TargetedPass<accc::impl::FormFusionsPassBase<FormFusionsPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override { Former(getOperation(), getTarget(), nullptr).run(); }
};
} // namespace

LogicalResult accc::formFusions(ModuleOp module, const Target &target,
                                std::vector<FusionNote> *notes) {
  SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
  std::vector<std::vector<FusionNote>> found(functions.size());
  parallelFor(module.getContext(), 0, functions.size(),
              [&](size_t i) { Former(functions[i], target, notes ? &found[i] : nullptr).run(); });
  if (notes)
    for (std::vector<FusionNote> &each : found)
      std::move(each.begin(), each.end(), std::back_inserter(*notes));
  return success();
}
