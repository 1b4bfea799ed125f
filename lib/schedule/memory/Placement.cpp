// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/memory/Placement.h"

#include "accc/abi.h"
#include "ir/prim/FunctionContract.h"
#include "ir/prim/Prim.h"
#include "schedule/memory/MemoryPlan.h"
#include "schedule/memory/WriteOver.h"
#include "support/Fault.h"
#include "support/TensorBytes.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace accc;

namespace accc {
/// Places arguments, then results, then what lies in the arena.
class PlacementBuilder {
public:
  PlacementBuilder(func::FuncOp function, const Order &order, const VariableTable &variables)
      : function(function), order(order), variables(variables) {}

  LogicalResult build(int64_t enough) {
    placeArguments();
    if (failed(placeResults()))
      return failure();
    planArena(enough);
    finishCopies();
    return success();
  }

  Placement placement;

private:
  struct PendingCopy {
    Value value;
    Place to;
    int64_t saved = -1; // a lifetime: where the value waits until its variable has changed
  };

  void placeArguments();
  LogicalResult placeResults();
  void planArena(int64_t enough);
  void finishCopies();
  Place placeOf(Value value) const;
  Place arenaPlace(int64_t lifetime) const {
    return {exec::Space::arena, lifetimes[lifetime].offset};
  }

  func::FuncOp function;
  const Order &order;
  const VariableTable &variables;
  llvm::StringMap<BlockArgument> variableArguments;
  llvm::StringSet<> updated;
  SmallVector<PendingCopy> results, updates; // copies for the caller, and to variables
  DenseMap<Value, int64_t> lifetimeOf;       // of what lies in the arena
  std::vector<Lifetime> lifetimes;
};
} // namespace accc

void PlacementBuilder::placeArguments() {
  int64_t input = 0;
  for (BlockArgument argument : function.getArguments()) {
    std::optional<Role> role = argumentRole(function, argument.getArgNumber());
    auto variable = variables.find(argumentText(function, argument.getArgNumber(), kNameAttr));
    if (variable != variables.end() && isVariable(role)) {
      placement.places[argument] = {exec::Space::state, variable->second};
      variableArguments[variable->first()] = argument;
    } else {
      placement.places[argument] = {exec::Space::input, input++};
    }
  }
}

LogicalResult PlacementBuilder::placeResults() {
  int64_t output = 0;
  for (OpOperand &use : function.getBody().front().getTerminator()->getOpOperands()) {
    unsigned i = use.getOperandNumber();
    Value source = storageOf(use.get());
    if (tensorBytes(use.get()) != tensorBytes(source))
      return emitBug(function.getLoc()) << "result " << i << " is a part of another value";
    // Of a value that is returned more than once the first place is written, the others copied.
    bool direct = source.getDefiningOp() && order.indexOf(source.getDefiningOp()) >= 0 &&
                  !placement.places.count(source);
    if (!isUpdate(function, use)) {
      Place place{exec::Space::output, output++};
      if (direct)
        placement.places[source] = place;
      else
        results.push_back({use.get(), place});
      continue;
    }
    StringRef name = resultText(function, i, kUpdatesAttr);
    auto variable = variables.find(name);
    if (variable == variables.end())
      return emitBug(function.getLoc())
             << "result " << i << " updates the unknown variable '" << name << "'";
    if (!updated.insert(name).second)
      return emitBug(function.getLoc()) << "two results update the variable '" << name << "'";
    Value old = variableArguments.lookup(name);
    direct = direct && order.indexOf(source.getDefiningOp()) >= order.firstUpdate &&
             (!old || mayWriteOver(source, old, order));
    Place place{exec::Space::state, variable->second};
    if (direct)
      placement.places[source] = place;
    else if (source != old) // a variable that keeps its value
      updates.push_back({use.get(), place});
  }
  return success();
}

void PlacementBuilder::planArena(int64_t enough) {
  DenseMap<Value, int64_t> lastRead;
  for (auto [i, step] : llvm::enumerate(order.steps))
    for (Value operand : step->getOperands())
      lastRead[storageOf(operand)] = static_cast<int64_t>(i);
  for (ArrayRef<PendingCopy> list : {ArrayRef(results), ArrayRef(updates)})
    for (const PendingCopy &copy : list)
      lastRead[storageOf(copy.value)] = order.size();

  auto addLifetime = [&](int64_t size, int64_t step) {
    lifetimes.push_back({size, step, step});
    return static_cast<int64_t>(lifetimes.size()) - 1;
  };
  auto isInArena = [&](Value value) {
    return value.getDefiningOp() && order.indexOf(value.getDefiningOp()) >= 0 &&
           !placement.places.count(value);
  };
  DenseMap<Value, Value> writtenOver = findWrittenOver(order, isInArena);
  for (int64_t i = 0; i < order.size(); ++i)
    for (Value result : order.steps[i]->getResults()) {
      if (!isInArena(result))
        continue;
      auto old = writtenOver.find(result);
      int64_t lifetime = old == writtenOver.end() ? addLifetime(tensorBytes(result), i)
                                                  : lifetimeOf.lookup(old->second);
      if (auto it = lastRead.find(result); it != lastRead.end())
        lifetimes[lifetime].last = it->second;
      lifetimeOf[result] = lifetime;
    }
  // Variables that swap their values: what one held is saved before it changes.
  for (PendingCopy &copy : updates)
    if (auto old = dyn_cast<BlockArgument>(storageOf(copy.value));
        old && updated.contains(argumentText(function, old.getArgNumber(), kNameAttr)))
      copy.saved = addLifetime(tensorBytes(copy.value), order.size());
  placement.arenaSize = planMemory(lifetimes, ACCC_ALIGNMENT, ACCC_ALIGNMENT, enough);
  for (auto [value, lifetime] : lifetimeOf)
    placement.places[value] = arenaPlace(lifetime);
}

Place PlacementBuilder::placeOf(Value value) const {
  auto place = placement.find(value);
  return place ? *place : Place{exec::Space::constant, 0};
}

void PlacementBuilder::finishCopies() {
  for (const PendingCopy &copy : results)
    placement.copies.push_back({copy.value, placeOf(copy.value), copy.to});
  for (const PendingCopy &copy : updates)
    if (copy.saved >= 0)
      placement.copies.push_back({copy.value, placeOf(copy.value), arenaPlace(copy.saved)});
  placement.firstUpdateCopy = placement.copies.size();
  for (const PendingCopy &copy : updates)
    placement.copies.push_back(
        {copy.value, copy.saved >= 0 ? arenaPlace(copy.saved) : placeOf(copy.value), copy.to});
}

std::optional<Place> Placement::find(Value value) const {
  auto it = places.find(storageOf(value));
  if (it == places.end())
    return std::nullopt;
  return it->second;
}

FailureOr<Placement> Placement::compute(func::FuncOp function, const Order &order,
                                        const VariableTable &variables, int64_t enough) {
  PlacementBuilder builder(function, order, variables);
  if (failed(builder.build(enough)))
    return failure();
  return std::move(builder.placement);
}
