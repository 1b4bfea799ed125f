// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/EntryBuilder.h"

#include "accc/abi.h"
#include "schedule/NarrowInputs.h"
#include "support/Attributes.h"
#include "support/TensorBytes.h"

using namespace mlir;
using namespace accc;

namespace {
int64_t bytesOf(Value value) { return tensorBytes(cast<RankedTensorType>(value.getType())); }

StringRef attribute(func::FuncOp function, bool result, unsigned i, StringRef name) {
  auto attr = result ? function.getResultAttrOfType<StringAttr>(i, name)
                     : function.getArgAttrOfType<StringAttr>(i, name);
  return attr ? attr.getValue() : StringRef();
}

/// The prim attributes of a contraction, without MLIR's own.
DictionaryAttr configOf(Operation *op) { return op->getAttrDictionary(); }
} // namespace

Value EntryBuilder::storage(Value value) {
  while (auto reshape = value.getDefiningOp<prim::ReshapeOp>())
    value = reshape.getOperand();
  return value;
}

// Program order, except that steps whose results are nothing but new values of variables go to the
// end, and with them the few numbers that only they read (the step count, bias corrections).
LogicalResult EntryBuilder::orderSteps() {
  auto *yield = function.getBody().front().getTerminator();
  SmallVector<Operation *> updates;
  DenseSet<Operation *> late;
  constexpr int64_t kFewNumbers = 64;
  for (Operation &op : llvm::reverse(function.getBody().front())) {
    bool isLate = isa<prim::FusionOp>(op), isSmall = true;
    for (Value result : op.getResults()) {
      bool isRead = false;
      for (OpOperand &use : result.getUses()) {
        bool isUpdate = use.getOwner() == yield && attribute(function, true, use.getOperandNumber(),
                                                             kRoleAttr) == role::kUpdate;
        isLate &= isUpdate || late.contains(use.getOwner());
        isRead |= !isUpdate;
      }
      isSmall &=
          !isRead || cast<RankedTensorType>(result.getType()).getNumElements() <= kFewNumbers;
    }
    if (isLate && isSmall)
      late.insert(&op);
  }
  for (Operation &op : function.getBody().front().without_terminator()) {
    if (isa<prim::ReshapeOp, prim::ConstantOp>(op))
      continue;
    if (!isa<prim::FusionOp>(op) && !prim::isContraction(&op))
      return op.emitError("bug in accc: this op reached the schedule outside a fusion");
    (late.contains(&op) ? updates : steps).push_back(&op);
  }
  numUpdates = updates.size();
  steps.append(updates.begin(), updates.end());
  for (auto [i, op] : llvm::enumerate(steps))
    stepOf[op] = static_cast<int64_t>(i);
  return success();
}

LogicalResult EntryBuilder::placeArguments() {
  int64_t input = 0;
  for (BlockArgument argument : function.getArguments()) {
    StringRef roleName = attribute(function, false, argument.getArgNumber(), kRoleAttr);
    StringRef name = attribute(function, false, argument.getArgNumber(), kNameAttr);
    if (auto it = variables.find(name);
        it != variables.end() && (roleName == role::kParameter || roleName == role::kBuffer ||
                                  roleName == role::kOptimizerState))
      places[argument] = {exec::Space::state, it->second, {}, -1};
    else
      places[argument] = {exec::Space::input, input++, {}, -1};
  }
  return success();
}

bool EntryBuilder::readsInPlace(Operation *step, Value old) {
  auto fusion = dyn_cast<prim::FusionOp>(step);
  if (!fusion || fusion.getKind() != "loop")
    return false;
  // Every way from the argument to an output is pointwise; a reshape keeps the order of the
  // elements.
  SmallVector<Value> pending;
  for (auto [i, operand] : llvm::enumerate(fusion.getInputs()))
    if (storage(operand) == old)
      pending.push_back(fusion.getBody().getArgument(static_cast<unsigned>(i)));
  DenseSet<Operation *> seen;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    for (Operation *user : value.getUsers()) {
      if (isa<prim::YieldOp>(user) || !seen.insert(user).second)
        continue;
      auto fusible = dyn_cast<Fusible>(user);
      if (!fusible ||
          (fusible.getFusionClass() != FusionClass::Pointwise && !isa<prim::ReshapeOp>(user)))
        return false;
      pending.append(user->result_begin(), user->result_end());
    }
  }
  return true;
}

bool EntryBuilder::mayOverwrite(Operation *writer, Value old) {
  int64_t at = stepOf[writer];
  SmallVector<Value> pending{old};
  while (!pending.empty()) {
    for (Operation *user : pending.pop_back_val().getUsers()) {
      if (isa<prim::ReshapeOp>(user)) {
        pending.push_back(user->getResult(0));
        continue;
      }
      auto it = stepOf.find(user);
      if (it == stepOf.end())
        return false; // returned as it is
      if (it->second > at || (it->second == at && !readsInPlace(user, old)))
        return false;
    }
  }
  return true;
}

// A returned value is written where the caller, or the variable, wants it, if it can be; else
// copied.
LogicalResult EntryBuilder::placeResults() {
  auto *yield = function.getBody().front().getTerminator();
  int64_t output = 0;
  int64_t firstUpdate = static_cast<int64_t>(steps.size() - numUpdates);
  for (OpOperand &use : yield->getOpOperands()) {
    unsigned i = use.getOperandNumber();
    StringRef roleName = attribute(function, true, i, kRoleAttr);
    Value source = storage(use.get());
    Operation *producer = source.getDefiningOp();
    bool isStep = producer && stepOf.count(producer);
    Place place;
    bool direct = isStep && !places.count(source);
    if (roleName == role::kUpdate) {
      StringRef name = attribute(function, true, i, kUpdatesAttr);
      auto it = variables.find(name);
      if (it == variables.end())
        return function.emitError("bug in accc: result ")
               << i << " updates the unknown variable '" << name << "'";
      place = {exec::Space::state, it->second, {}, -1};
      direct &= isStep && stepOf[producer] >= firstUpdate;
      for (BlockArgument argument : function.getArguments())
        if (direct && attribute(function, false, argument.getArgNumber(), kNameAttr) == name &&
            places[argument].space == exec::Space::state)
          direct = mayOverwrite(producer, argument);
    } else {
      place = {exec::Space::output, output++, {}, -1};
    }
    if (direct)
      places[source] = place;
    else
      copies.push_back({use.get(), place, roleName == role::kUpdate});
  }
  return success();
}

// A kernel that reads an input for the last time, element by element, writes over it. Not so the
// updates, which change places among each other.
int64_t EntryBuilder::dyingInput(Operation *step, Value result) {
  if (stepOf[step] >= static_cast<int64_t>(steps.size() - numUpdates))
    return -1;
  for (Value operand : step->getOperands()) {
    Value old = storage(operand);
    auto it = places.find(old);
    if (it == places.end() || it->second.lifetime < 0)
      continue;
    const Lifetime &lifetime = lifetimes[it->second.lifetime];
    bool taken = llvm::any_of(step->getResults(), [&](Value other) {
      auto place = places.find(other);
      return place != places.end() && place->second.lifetime == it->second.lifetime;
    });
    if (!taken && lifetime.last == stepOf[step] && lifetime.size == bytesOf(result) &&
        readsInPlace(step, old))
      return it->second.lifetime;
  }
  return -1;
}

void EntryBuilder::plan() {
  DenseMap<Value, int64_t> lastRead;
  for (Operation *step : steps)
    for (Value operand : step->getOperands())
      lastRead[storage(operand)] = stepOf[step];
  for (const Copy &copy : copies)
    lastRead[storage(copy.from)] = static_cast<int64_t>(steps.size());
  for (Operation *step : steps)
    for (Value result : step->getResults()) {
      if (places.count(result))
        continue;
      int64_t first = stepOf[step], lifetime = dyingInput(step, result);
      if (lifetime < 0) {
        lifetime = static_cast<int64_t>(lifetimes.size());
        lifetimes.push_back({bytesOf(result), first, first});
      }
      if (auto it = lastRead.find(result); it != lastRead.end())
        lifetimes[lifetime].last = it->second;
      places[result] = {exec::Space::arena, 0, {}, lifetime};
    }
  // The first bytes hold the status word.
  arenaSize = planMemory(lifetimes, ACCC_ALIGNMENT, ACCC_ALIGNMENT);
}

Value EntryBuilder::slice(OpBuilder &b, const Place &place, RankedTensorType type, Location loc,
                          int64_t begin) {
  int64_t offset = place.lifetime >= 0 ? lifetimes[place.lifetime].offset : place.offset;
  return b.create<exec::SliceOp>(loc, exec::BufferType::get(b.getContext(), type), place.space,
                                 offset + begin, place.symbol);
}

Value EntryBuilder::buffer(OpBuilder &b, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Value source = storage(value);
  auto it = places.find(source);
  if (it == places.end()) {
    auto constant = source.getDefiningOp<prim::ConstantOp>();
    Place place{exec::Space::constant, 0,
                FlatSymbolRefAttr::get(
                    kernels.getConstant(constant.getValue(), constant.getLoc()).getSymNameAttr()),
                -1};
    it = places.try_emplace(source, place).first;
  }
  return slice(b, it->second, type, value.getLoc());
}

void EntryBuilder::emitCopy(OpBuilder &b, Value from, const Place &to) {
  auto type = cast<RankedTensorType>(from.getType());
  auto flat = RankedTensorType::get({type.getNumElements()}, type.getElementType());
  exec::KernelOp kernel = kernels.getCopy(type, from.getLoc());
  Place source = places.lookup(storage(from));
  if (!places.count(storage(from))) {
    buffer(b, from); // a constant: gives it a place
    source = places.lookup(storage(from));
  }
  Value input = slice(b, source, flat, from.getLoc()), output = slice(b, to, flat, from.getLoc());
  b.create<exec::LaunchOp>(from.getLoc(), kernel.getSymName(), ValueRange{input},
                           ValueRange{output});
}

void EntryBuilder::emitLaunch(OpBuilder &b, prim::FusionOp fusion) {
  // What the caller gives and what the library holds has no offsets.
  NarrowFusion narrow = narrowInputs(fusion, [&](Value input) {
    auto it = places.find(storage(input));
    return it != places.end() &&
           (it->second.space == exec::Space::arena || it->second.space == exec::Space::state);
  });
  SmallVector<Value> in, out;
  for (auto [i, input] : llvm::enumerate(fusion.getInputs()))
    in.push_back(narrow.inputType(i) == input.getType()
                     ? buffer(b, input)
                     : slice(b, places[storage(input)], narrow.inputType(i), input.getLoc(),
                             narrow.begins[i]));
  for (Value output : fusion.getOutputs())
    out.push_back(buffer(b, output));
  b.create<exec::LaunchOp>(fusion.getLoc(), kernels.get(*narrow.fusion).getSymName(), in, out);
}

void EntryBuilder::emitStep(OpBuilder &b, Operation *step) {
  if (auto fusion = dyn_cast<prim::FusionOp>(step))
    return emitLaunch(b, fusion);
  SmallVector<Value> in, out;
  for (Value operand : step->getOperands())
    in.push_back(buffer(b, operand));
  for (Value result : step->getResults())
    out.push_back(buffer(b, result));
  b.create<exec::LibraryCallOp>(step->getLoc(), step->getName().stripDialect(), configOf(step), in,
                                out);
}

void EntryBuilder::emitUpdates(OpBuilder &b, size_t first) {
  struct Segments {
    exec::KernelOp kernel;
    SmallVector<Operation *> steps;
    DenseSet<std::pair<int64_t, int64_t>> reads, writes; // space and offset
  };
  SmallVector<Segments> buckets;
  auto touched = [&](ValueRange values, DenseSet<std::pair<int64_t, int64_t>> &into) {
    for (Value value : values) {
      const Place &place = places[storage(value)];
      if (place.space == exec::Space::state)
        into.insert({static_cast<int64_t>(place.space), place.offset});
    }
  };
  auto meet = [](const auto &a, const auto &c) {
    return llvm::any_of(a, [&](auto x) { return c.contains(x); });
  };
  for (Operation *step : ArrayRef(steps).drop_front(first)) {
    auto fusion = dyn_cast<prim::FusionOp>(step);
    exec::KernelOp kernel = fusion ? kernels.getEach(fusion) : exec::KernelOp();
    Segments alone{kernel, {step}, {}, {}};
    touched(step->getOperands(), alone.reads);
    touched(step->getResults(), alone.writes);
    if (!kernel) { // in order, before the launches over segments, which may read what it computes
      emitStep(b, step);
      continue;
    }
    // A step's own in-place update is fine; another's is not.
    auto *bucket = llvm::find_if(buckets, [&](const Segments &other) {
      return other.kernel == kernel && !meet(other.reads, alone.writes) &&
             !meet(other.writes, alone.reads);
    });
    if (bucket == buckets.end()) {
      buckets.push_back(std::move(alone));
      continue;
    }
    bucket->steps.push_back(step);
    bucket->reads.insert(alone.reads.begin(), alone.reads.end());
    bucket->writes.insert(alone.writes.begin(), alone.writes.end());
  }
  for (Segments &bucket : buckets) {
    if (bucket.steps.size() == 1) {
      emitStep(b, bucket.steps.front());
      continue;
    }
    SmallVector<Value> in, out;
    SmallVector<int64_t> sizes;
    for (Operation *step : bucket.steps) {
      for (Value operand : step->getOperands())
        in.push_back(buffer(b, operand));
      for (Value result : step->getResults())
        out.push_back(buffer(b, result));
      sizes.push_back(cast<RankedTensorType>(step->getResult(0).getType()).getNumElements());
    }
    b.create<exec::LaunchEachOp>(bucket.steps.front()->getLoc(), bucket.kernel.getSymName(), sizes,
                                 in, out);
  }
}

LogicalResult EntryBuilder::emit() {
  OpBuilder b = OpBuilder::atBlockEnd(program.getBody());
  SmallVector<Attribute> inputs, outputs;
  auto describe = [&](StringRef name, StringRef roleName, Type type) {
    return b.getDictionaryAttr({b.getNamedAttr("name", b.getStringAttr(name)),
                                b.getNamedAttr("role", b.getStringAttr(roleName)),
                                b.getNamedAttr("type", TypeAttr::get(type))});
  };
  for (BlockArgument argument : function.getArguments())
    if (places[argument].space == exec::Space::input)
      inputs.push_back(describe(attribute(function, false, argument.getArgNumber(), kNameAttr),
                                attribute(function, false, argument.getArgNumber(), kRoleAttr),
                                argument.getType()));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (attribute(function, true, i, kRoleAttr) != role::kUpdate)
      outputs.push_back(describe(attribute(function, true, i, kNameAttr),
                                 attribute(function, true, i, kRoleAttr),
                                 function.getResultTypes()[i]));
  auto entry =
      b.create<exec::EntryOp>(function.getLoc(), function.getSymName(), b.getArrayAttr(inputs),
                              b.getArrayAttr(outputs), static_cast<uint64_t>(arenaSize),
                              /*sizes=*/StringAttr());
  b.setInsertionPointToEnd(&entry.getBody().emplaceBlock());

  bool checked = false;
  auto check = [&] {
    if (!checked)
      b.create<exec::CheckOp>(function.getLoc());
    checked = true;
  };
  size_t firstUpdate = steps.size() - numUpdates;
  for (Operation *step : ArrayRef(steps).take_front(firstUpdate))
    emitStep(b, step);
  if (numUpdates > 0) {
    check();
    emitUpdates(b, firstUpdate);
  }
  // Outputs first: they may show the value that a variable had before its update.
  for (const Copy &copy : copies)
    if (!copy.update)
      emitCopy(b, copy.from, copy.to);
  for (const Copy &copy : copies)
    if (copy.update) {
      check();
      emitCopy(b, copy.from, copy.to);
    }
  return success();
}

LogicalResult EntryBuilder::build() {
  if (failed(orderSteps()) || failed(placeArguments()) || failed(placeResults()))
    return failure();
  plan();
  return emit();
}
