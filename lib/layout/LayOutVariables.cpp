// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/prim/FunctionContract.h"
#include "ir/prim/Tensor.h"
#include "layout/OrderChoice.h"
#include "layout/Passes.h"
#include "target/TargetedPass.h"

namespace accc {
#define GEN_PASS_DEF_LAYOUTVARIABLESPASS
#include "layout/Passes.h.inc"
} // namespace accc

using namespace mlir;
using namespace accc;
using namespace accc::layout;
using accc::prim::Tensor;

namespace {

/// The orders of variables, by name.
using VariableOrders = llvm::MapVector<StringRef, DimensionOrder>;

/// Which variables lie as convolutions want their filters.
class Chooser {
public:
  Chooser(ModuleOp module, const ConvolutionOrders &convolutions) : convolutions(convolutions) {
    for (auto function : module.getOps<func::FuncOp>())
      functions.push_back({function, {}});
  }

  VariableOrders choose() {
    while (collect())
      ;
    for (const Function &f : functions)
      checkVariables(f);
    while (!pending.empty())
      dropWhatFollows(pending.pop_back_val());
    wanted.remove_if([&](const auto &variable) { return dropped.contains(variable.first); });
    return std::move(wanted);
  }

private:
  struct Function {
    mutable func::FuncOp function; // whose accessors are not const
    Followers followers;
  };

  bool collect();
  void addFilters(func::FuncOp function, SmallVectorImpl<OrderedValue> &starts) const;
  void addVariables(func::FuncOp function, llvm::function_ref<bool(StringRef)> isMeant,
                    SmallVectorImpl<OrderedValue> &starts) const;

  void checkVariables(const Function &f);
  bool isReadIn(const Function &f, Value value, ArrayRef<int64_t> order) const;
  bool isWrittenIn(const Function &f, Value value, ArrayRef<int64_t> order) const;
  const OpOrder *ordersOf(const Function &f, Operation *op, OpOrder &storage) const;

  void drop(StringRef variable) {
    if (dropped.insert(variable).second)
      pending.push_back(variable);
  }
  void dropWhatFollows(StringRef variable);

  const ConvolutionOrders &convolutions;
  SmallVector<Function> functions;
  VariableOrders wanted;
  llvm::DenseSet<StringRef> dropped;
  SmallVector<StringRef> pending;
};

/// The variable that an argument is; empty for any other value, and for one that has an order.
StringRef variableOf(func::FuncOp function, Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !isVariable(argumentRole(function, argument.getArgNumber())) ||
      !argumentOrder(function, argument.getArgNumber()).empty())
    return {};
  return argumentText(function, argument.getArgNumber(), kNameAttr);
}

/// Calls body(operand of the terminator, variable) for every new value of a variable.
void forUpdates(func::FuncOp function,
                llvm::function_ref<void(OpOperand &use, StringRef variable)> body) {
  for (OpOperand &use : function.front().getTerminator()->getOpOperands())
    if (isUpdate(function, use))
      body(use, resultText(function, use.getOperandNumber(), kUpdatesAttr));
}

} // namespace

/// The filters of convolutions, in the order that these want.
void Chooser::addFilters(func::FuncOp function, SmallVectorImpl<OrderedValue> &starts) const {
  for (Operation &op : function.front())
    if (std::optional<OpOrder> order = convolutions.of(&op)) {
      if (std::optional<unsigned> filter = cast<ConvolutionLike>(op).getFilterOperand())
        starts.push_back({op.getOperand(*filter), order->operands[*filter]});
      else
        starts.push_back({op.getResult(0), order->result});
    }
}

/// Variables that may lie in an order, with their new values.
void Chooser::addVariables(func::FuncOp function, llvm::function_ref<bool(StringRef)> isMeant,
                           SmallVectorImpl<OrderedValue> &starts) const {
  auto add = [&](Value value, StringRef variable) {
    if (const auto *found = wanted.find(variable); found != wanted.end() && isMeant(variable))
      starts.push_back({value, found->second});
  };
  for (BlockArgument argument : function.getArguments())
    add(argument, variableOf(function, argument));
  forUpdates(function, [&](OpOperand &use, StringRef variable) { add(use.get(), variable); });
}

/// Follows what is known in all functions; whether another variable was found. One that is met in
/// two orders is none.
bool Chooser::collect() {
  size_t known = wanted.size();
  for (Function &f : functions) {
    SmallVector<OrderedValue> starts;
    addFilters(f.function, starts);
    addVariables(f.function, [](StringRef) { return true; }, starts);
    f.followers = followValues(starts);
    for (const auto &[value, order] : f.followers.values) {
      StringRef variable = variableOf(f.function, value);
      if (variable.empty())
        continue;
      const auto *first = wanted.insert({variable, order}).first;
      if (!sameMemory(shapeOf(value), first->second, order))
        drop(variable);
    }
  }
  return wanted.size() > known;
}

/// The orders of an op that can follow; `storage` keeps those of convolutions.
const OpOrder *Chooser::ordersOf(const Function &f, Operation *op, OpOrder &storage) const {
  if (const auto *found = f.followers.ops.find(op); found != f.followers.ops.end())
    return &found->second;
  std::optional<OpOrder> order = convolutions.of(op);
  if (!order)
    return nullptr;
  storage = std::move(*order);
  return &storage;
}

bool Chooser::isReadIn(const Function &f, Value value, ArrayRef<int64_t> order) const {
  return llvm::all_of(value.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isUpdate(f.function, use))
      return true; // seen as what the other variable gets
    if (isView(user)) {
      std::optional<DimensionOrder> result = resultOfView(user, order);
      return result &&
             (isOwnOrder(user->getResult(0), *result) || isReadIn(f, user->getResult(0), *result));
    }
    OpOrder storage;
    const OpOrder *orders = ordersOf(f, user, storage);
    return orders && sameMemory(shapeOf(value), orders->operands[use.getOperandNumber()], order);
  });
}

bool Chooser::isWrittenIn(const Function &f, Value value, ArrayRef<int64_t> order) const {
  if (isFree(value) || isOwnOrder(value, order))
    return true;
  if (isa<BlockArgument>(value)) {
    const auto *found = wanted.find(variableOf(f.function, value));
    return found != wanted.end() && sameMemory(shapeOf(value), found->second, order);
  }
  Operation *op = value.getDefiningOp();
  if (isView(op)) {
    std::optional<OrderedValue> operand = operandOfView(op, order);
    return operand && isWrittenIn(f, operand->value, operand->order);
  }
  OpOrder storage;
  const OpOrder *orders = ordersOf(f, op, storage);
  return orders && sameMemory(shapeOf(value), orders->result, order);
}

/// Drops the variables that somebody in the function needs as users see them.
void Chooser::checkVariables(const Function &f) {
  for (BlockArgument argument : f.function.getArguments()) {
    const auto *found = wanted.find(variableOf(f.function, argument));
    if (found != wanted.end() && !isReadIn(f, argument, found->second))
      drop(found->first);
  }
  forUpdates(f.function, [&](OpOperand &use, StringRef variable) {
    const auto *found = wanted.find(variable);
    if (found != wanted.end() && !isWrittenIn(f, use.get(), found->second))
      drop(variable);
  });
}

/// A parameter and its optimizer state lie alike.
void Chooser::dropWhatFollows(StringRef variable) {
  for (const Function &f : functions) {
    SmallVector<OrderedValue> starts;
    addVariables(f.function, [&](StringRef other) { return other == variable; }, starts);
    for (const auto &[value, order] : followValues(starts).values)
      if (StringRef other = variableOf(f.function, value); wanted.contains(other))
        drop(other);
  }
}

/// Makes arguments and updates the tensors that lie in memory.
static void setOrders(func::FuncOp function, const VariableOrders &orders) {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  for (BlockArgument argument : function.getArguments()) {
    const auto *found = orders.find(variableOf(function, argument));
    if (found == orders.end())
      continue;
    const DimensionOrder &order = found->second;
    auto type = cast<RankedTensorType>(argument.getType());
    argument.setType(type.clone(inOrder(type.getShape(), order)));
    function.setArgAttr(argument.getArgNumber(), kOrderAttr, builder.getDenseI64ArrayAttr(order));
    if (argument.use_empty())
      continue;
    SmallVector<int64_t> permutation;
    for (int64_t d : ownOrder(order.size()))
      permutation.push_back(placeOf(d, order));
    auto forUsers = builder.create<prim::TransposeOp>(argument.getLoc(), type, argument,
                                                      builder.getDenseI64ArrayAttr(permutation));
    argument.replaceAllUsesExcept(forUsers, forUsers);
  }
  Operation *terminator = function.front().getTerminator();
  builder.setInsertionPoint(terminator);
  forUpdates(function, [&](OpOperand &use, StringRef variable) {
    if (const auto *found = orders.find(variable); found != orders.end())
      use.set(Tensor(builder, use.get().getLoc(), use.get()).transpose(found->second));
  });
  function.setFunctionType(
      builder.getFunctionType(function.front().getArgumentTypes(), terminator->getOperandTypes()));
}

namespace {

struct LayOutVariablesPass
    : TargetedPass<accc::impl::LayOutVariablesPassBase<LayOutVariablesPass>> {
  using TargetedPass::TargetedPass;

  void runOnOperation() override {
    ConvolutionOrders convolutions{getTarget(), tf32};
    VariableOrders orders = Chooser(getOperation(), convolutions).choose();
    if (!orders.empty())
      for (auto function : getOperation().getOps<func::FuncOp>())
        setOrders(function, orders);
  }
};

} // namespace
