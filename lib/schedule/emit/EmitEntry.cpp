// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/emit/EmitEntry.h"

#include "ir/nn/IndexBounds.h"
#include "ir/prim/FunctionContract.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace accc;

namespace {
class EntryEmitter {
public:
  EntryEmitter(func::FuncOp function, const Order &order, const Placement &placement,
               KernelTable &kernels, ModuleOp program)
      : function(function), order(order), placement(placement), kernels(kernels),
        b(OpBuilder::atBlockEnd(program.getBody())) {
    for (BlockArgument argument : function.getArguments())
      number(argument);
    for (Operation &op : function.getBody().front().without_terminator())
      for (Value result : op.getResults())
        number(result);
  }

  void emit();

private:
  void number(Value value) {
    if (storageOf(value) == value)
      numbers.try_emplace(value, static_cast<int64_t>(numbers.size()));
  }
  int64_t numberOf(Value value) const { return numbers.lookup(storageOf(value)); }

  exec::EntryOp createEntry();
  Value slice(Place place, Value value, RankedTensorType type);
  Value buffer(Value value);
  SmallVector<Value> buffers(ValueRange values);
  void emitStep(Operation *step);
  void emitLaunch(prim::FusionOp fusion);
  void emitLaunchEach(prim::FusionEachOp fusion);
  void emitCustomCall(CustomCallLike call);
  std::pair<Value, Value> placesOf(const Copy &copy);
  void emitCopy(const Copy &copy);
  void emitUpdates(ArrayRef<Copy> copies);

  func::FuncOp function;
  const Order &order;
  const Placement &placement;
  KernelTable &kernels;
  OpBuilder b;
  DenseMap<Value, int64_t> numbers;
};
} // namespace

exec::EntryOp EntryEmitter::createEntry() {
  SmallVector<Attribute> inputs, outputs, contents;
  SmallVector<int64_t> inputValues, outputValues;
  auto named = [&](StringRef name, Attribute value) { return b.getNamedAttr(name, value); };
  auto describe = [&](StringRef name, std::optional<Role> role, Type type) {
    return b.getDictionaryAttr({named("name", b.getStringAttr(name)),
                                named("role", prim::RoleAttr::get(b.getContext(), *role)),
                                named("type", TypeAttr::get(type))});
  };
  llvm::StringMap<int64_t> newValues;
  for (OpOperand &use : function.getBody().front().getTerminator()->getOpOperands()) {
    unsigned i = use.getOperandNumber();
    if (isUpdate(function, use)) {
      newValues[resultText(function, i, kUpdatesAttr)] = numberOf(use.get());
      continue;
    }
    outputs.push_back(
        describe(resultText(function, i, kNameAttr), resultRole(function, i), use.get().getType()));
    outputValues.push_back(numberOf(use.get()));
  }
  auto contain = [&](StringRef name, int64_t before, int64_t after) {
    contents.push_back(b.getDictionaryAttr({named("after", b.getI64IntegerAttr(after)),
                                            named("before", b.getI64IntegerAttr(before)),
                                            named("name", b.getStringAttr(name))}));
  };
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    int64_t value = numberOf(argument);
    if (placement.find(argument)->space == exec::Space::input) {
      DictionaryAttr input = describe(argumentText(function, i, kNameAttr),
                                      argumentRole(function, i), argument.getType());
      if (Attribute indices = function.getArgAttr(i, kIndicesAttr)) {
        NamedAttrList more(input);
        more.set("indices", indices);
        input = more.getDictionary(b.getContext());
      }
      inputs.push_back(input);
      inputValues.push_back(value);
      continue;
    }
    StringRef name = argumentText(function, i, kNameAttr);
    auto updated = newValues.find(name);
    contain(name, value, updated == newValues.end() ? value : updated->second);
    if (updated != newValues.end())
      newValues.erase(updated);
  }
  // What is written without having been read; in a fixed order.
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto it = newValues.find(resultText(function, i, kUpdatesAttr)); it != newValues.end())
      contain(it->first(), -1, it->second);
  return b.create<exec::EntryOp>(function.getLoc(), function.getSymName(), b.getArrayAttr(inputs),
                                 b.getArrayAttr(outputs), inputValues, outputValues,
                                 b.getArrayAttr(contents),
                                 static_cast<uint64_t>(placement.arenaSize),
                                 /*sizes=*/StringAttr());
}

/// The buffer of a tensor of this type that holds `value`, whose storage lies at `place`.
Value EntryEmitter::slice(Place place, Value value, RankedTensorType type) {
  auto [storage, begin] = storageAndBegin(value);
  FlatSymbolRefAttr symbol;
  if (place.space == exec::Space::constant) {
    auto constant = storage.getDefiningOp<prim::ConstantOp>();
    symbol = FlatSymbolRefAttr::get(
        kernels.getConstant(constant.getValue(), constant.getLoc()).getSymNameAttr());
  }
  return b.create<exec::SliceOp>(value.getLoc(), exec::BufferType::get(b.getContext(), type),
                                 place.space, place.offset + begin, symbol, numberOf(value),
                                 begin ? b.getI64IntegerAttr(begin) : IntegerAttr());
}

Value EntryEmitter::buffer(Value value) {
  return slice(placement.find(value).value_or(Place{exec::Space::constant}), value,
               cast<RankedTensorType>(value.getType()));
}

SmallVector<Value> EntryEmitter::buffers(ValueRange values) {
  return llvm::map_to_vector(values, [&](Value value) { return buffer(value); });
}

/// What a copy reads and writes, as tensors of one dimension.
std::pair<Value, Value> EntryEmitter::placesOf(const Copy &copy) {
  auto type = cast<RankedTensorType>(copy.value.getType());
  auto flat = RankedTensorType::get({type.getNumElements()}, type.getElementType());
  Value from = slice(copy.from, copy.value, flat);
  return {from, slice(copy.to, copy.value, flat)};
}

void EntryEmitter::emitCopy(const Copy &copy) {
  auto [from, to] = placesOf(copy);
  exec::KernelOp kernel =
      kernels.getCopy(cast<RankedTensorType>(copy.value.getType()), copy.value.getLoc());
  b.create<exec::LaunchOp>(copy.value.getLoc(), kernel.getSymName(), from, to);
}

/// The copies to variables, one launch for all of a type: none reads what another writes.
void EntryEmitter::emitUpdates(ArrayRef<Copy> copies) {
  llvm::MapVector<Type, SmallVector<const Copy *>> byType;
  for (const Copy &copy : copies)
    byType[getElementTypeOrSelf(copy.value.getType())].push_back(&copy);
  for (auto &[elementType, alike] : byType) {
    if (alike.size() == 1) {
      emitCopy(*alike.front());
      continue;
    }
    SmallVector<int64_t> sizes;
    SmallVector<Value> inputs, outputs;
    SmallVector<Location> locations;
    for (const Copy *copy : alike) {
      auto [from, to] = placesOf(*copy);
      inputs.push_back(from);
      outputs.push_back(to);
      sizes.push_back(cast<RankedTensorType>(copy->value.getType()).getNumElements());
      locations.push_back(copy->value.getLoc());
    }
    Location loc = b.getFusedLoc(locations);
    b.create<exec::LaunchEachOp>(loc, kernels.getCopyEach(elementType, loc).getSymName(), sizes,
                                 inputs, outputs);
  }
}

void EntryEmitter::emitLaunch(prim::FusionOp fusion) {
  b.create<exec::LaunchOp>(fusion.getLoc(), kernels.get(fusion).getSymName(),
                           buffers(fusion.getInputs()), buffers(fusion.getOutputs()));
}

void EntryEmitter::emitLaunchEach(prim::FusionEachOp fusion) {
  SmallVector<int64_t> sizes;
  for (unsigned i = 0; i < fusion.segments(); ++i)
    sizes.push_back(fusion.segmentElements(i));
  b.create<exec::LaunchEachOp>(fusion.getLoc(), kernels.get(fusion).getSymName(), sizes,
                               buffers(fusion.getInputs()), buffers(fusion.getOutputs()));
}

void EntryEmitter::emitCustomCall(CustomCallLike call) {
  b.create<exec::CustomCallOp>(call.getLoc(), call.getCallee(), call.getLibrary(), call.getConfig(),
                               call.isBackward(), b.getTypeArrayAttr(call.getOperatorInputs()),
                               b.getTypeArrayAttr(call.getOperatorOutputs()), call.getPlaces(),
                               buffers(call->getOperands()), buffers(call->getResults()));
}

void EntryEmitter::emitStep(Operation *step) {
  if (auto fusion = dyn_cast<prim::FusionOp>(step))
    return emitLaunch(fusion);
  if (auto fusion = dyn_cast<prim::FusionEachOp>(step))
    return emitLaunchEach(fusion);
  if (auto call = dyn_cast<CustomCallLike>(step))
    return emitCustomCall(call);
  if (step->hasTrait<Collective>()) {
    b.create<exec::CollectiveOp>(step->getLoc(), step->getName().stripDialect(),
                                 step->getAttrDictionary(), buffers(step->getOperands()),
                                 buffers(step->getResults()));
    return;
  }
  b.create<exec::LibraryCallOp>(step->getLoc(), step->getName().stripDialect(),
                                step->getAttrDictionary(), buffers(step->getOperands()),
                                buffers(step->getResults()));
}

void EntryEmitter::emit() {
  exec::EntryOp entry = createEntry();
  b.setInsertionPointToEnd(&entry.getBody().emplaceBlock());
  ArrayRef<Operation *> steps(order.steps);
  ArrayRef<Copy> copies(placement.copies);
  bool exchanges =
      llvm::any_of(steps, [](Operation *step) { return step->hasTrait<Collective>(); });
  auto agree = [&] {
    if (exchanges)
      b.create<exec::AgreeOp>(function.getLoc());
  };
  auto check = [&] {
    agree();
    b.create<exec::CheckOp>(function.getLoc());
  };
  for (Operation *step : steps.take_front(order.firstUpdate))
    emitStep(step);
  bool updates = order.firstUpdate < order.size();
  if (updates)
    check();
  for (Operation *step : steps.drop_front(order.firstUpdate))
    emitStep(step);
  for (const Copy &copy : copies.take_front(placement.firstUpdateCopy))
    emitCopy(copy);
  if (!updates && placement.firstUpdateCopy < copies.size())
    check();
  else if (!updates)
    agree();
  emitUpdates(copies.drop_front(placement.firstUpdateCopy));
}

void accc::emitEntry(func::FuncOp function, const Order &order, const Placement &placement,
                     KernelTable &kernels, ModuleOp program) {
  EntryEmitter(function, order, placement, kernels, program).emit();
}
