// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/merge/Merge.h"

#include "ir/prim/FunctionContract.h"
#include "schedule/emit/Kernels.h"
#include "support/Fault.h"

#include <map>

using namespace mlir;
using namespace accc;

namespace {

/// Copies into one module what the programs hold.
class Merger {
public:
  explicit Merger(ArrayRef<SizedProgram> programs)
      : programs(programs), merged(ModuleOp::create((*programs.front().program)->getLoc())),
        kernels(*merged), b(OpBuilder::atBlockEnd(merged->getBody())) {}

  LogicalResult shareVariables();
  LogicalResult addEntries();
  OwningOpRef<ModuleOp> take() { return std::move(merged); }

private:
  void addEntry(exec::EntryOp entry, const std::string &sizes);
  LogicalResult checkChoice(MutableArrayRef<exec::EntryOp> entries);
  LogicalResult checkExchanges(MutableArrayRef<exec::EntryOp> entries);
  Attribute shared(Operation *program, FlatSymbolRefAttr symbol);

  ArrayRef<SizedProgram> programs;
  OwningOpRef<ModuleOp> merged;
  KernelTable kernels;
  OpBuilder b;
};

} // namespace

LogicalResult Merger::shareVariables() {
  const SizedProgram &first = programs.front();
  llvm::StringMap<exec::VariableOp> known;
  for (auto variable : (*first.program).getOps<exec::VariableOp>()) {
    known[variable.getName()] = variable;
    b.clone(*variable);
  }
  for (const SizedProgram &other : programs.drop_front()) {
    size_t count = 0;
    for (auto variable : (*other.program).getOps<exec::VariableOp>()) {
      exec::VariableOp twin = known.lookup(variable.getName());
      if (twin && twin->getAttrDictionary() == variable->getAttrDictionary()) {
        ++count;
        continue;
      }
      auto describe = [](exec::VariableOp op) {
        std::string text;
        llvm::raw_string_ostream(text) << (op.getTrainable() ? "trained " : "") << op.getType();
        return text;
      };
      return emitError(variable.getLoc())
             << "the " << stringifyRole(variable.getRole()) << " '" << variable.getName() << "' is "
             << (twin ? describe(twin) : "not there") << " with -D " << first.sizes << ", but "
             << describe(variable) << " with -D " << other.sizes
             << ": sizes in one library share all variables; compile a library for each";
    }
    if (count != known.size())
      return emitError((*other.program)->getLoc())
             << "with -D " << first.sizes << " the model has " << known.size()
             << " variables, with -D " << other.sizes << " it has " << count
             << ": sizes in one library share all variables; compile a library for each";
  }
  return success();
}

Attribute Merger::shared(Operation *program, FlatSymbolRefAttr symbol) {
  Operation *op = SymbolTable::lookupSymbolIn(program, symbol);
  if (auto kernel = dyn_cast<exec::KernelOp>(op))
    return FlatSymbolRefAttr::get(kernels.get(kernel).getSymNameAttr());
  auto constant = cast<exec::ConstantOp>(op);
  return FlatSymbolRefAttr::get(
      kernels.getConstant(constant.getValue(), constant.getLoc()).getSymNameAttr());
}

void Merger::addEntry(exec::EntryOp entry, const std::string &sizes) {
  exec::EntryOp copy = entry.clone();
  Operation *program = entry->getParentOp();
  llvm::DenseMap<Attribute, Attribute> known;
  for (Operation &op : copy.getBody().front())
    for (NamedAttribute attribute : llvm::to_vector(op.getAttrs()))
      if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attribute.getValue())) {
        Attribute &replacement = known[symbol];
        if (!replacement)
          replacement = shared(program, symbol);
        op.setAttr(attribute.getName(), replacement);
      }
  if (!sizes.empty()) {
    copy.setSymName((entry.getSymName() + "[" + sizes + "]").str());
    copy.setSizes(sizes);
  }
  merged->getBody()->push_back(copy);
}

/// The names and types of what an entry takes, by which a runtime chooses.
static SmallVector<std::pair<Attribute, Attribute>> chosenBy(exec::EntryOp entry) {
  return llvm::map_to_vector(
      entry.getInputs().getAsRange<DictionaryAttr>(),
      [](DictionaryAttr input) { return std::pair(input.get("name"), input.get("type")); });
}

/// Entries of one name must differ in what they take.
LogicalResult Merger::checkChoice(MutableArrayRef<exec::EntryOp> entries) {
  for (size_t i = 0; i < entries.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (chosenBy(entries[i]) == chosenBy(entries[j]))
        return entries[i].emitError("with -D ")
               << programs[j].sizes << " and with -D " << programs[i].sizes << " "
               << entries[i].getSymName()
               << " takes inputs of the same shapes, by which a library chooses: leave one out";
  return success();
}

/// What an entry exchanges with other processes: the tensors of each kind of collective, in order.
static std::map<std::string, SmallVector<Type>> exchangedBy(exec::EntryOp entry) {
  std::map<std::string, SmallVector<Type>> tensors;
  for (auto collective : entry.getBody().getOps<exec::CollectiveOp>())
    for (Value input : collective.getInputs()) {
      RankedTensorType type = cast<exec::BufferType>(input.getType()).getTensor();
      std::string kind;
      llvm::raw_string_ostream(kind)
          << collective.getCallee() << collective.getConfig() << type.getElementType();
      tensors[kind].push_back(type);
    }
  return tensors;
}

/// Processes with batches of different sizes exchange the same, and a runtime sees bytes alone.
LogicalResult Merger::checkExchanges(MutableArrayRef<exec::EntryOp> entries) {
  auto first = exchangedBy(entries.front());
  for (auto [sized, entry] : llvm::zip_equal(programs, entries))
    if (exchangedBy(entry) != first)
      return emitBug(entry.getLoc()) << entry.getSymName() << " exchanges other tensors with -D "
                                     << sized.sizes << " than with -D " << programs.front().sizes;
  return success();
}

LogicalResult Merger::addEntries() {
  for (auto first : (*programs.front().program).getOps<exec::EntryOp>()) {
    if (updatesAlone(first.getSymName())) {
      addEntry(first, "");
      continue;
    }
    SmallVector<exec::EntryOp> entries;
    for (const SizedProgram &sized : programs) {
      entries.push_back((*sized.program).lookupSymbol<exec::EntryOp>(first.getSymName()));
      if (!entries.back())
        return emitBug(first.getLoc())
               << "only some sizes have the entry '" << first.getSymName() << "'";
    }
    if (failed(checkChoice(entries)) || failed(checkExchanges(entries)))
      return failure();
    for (auto [sized, entry] : llvm::zip_equal(programs, entries))
      addEntry(entry, sized.sizes);
  }
  return success();
}

FailureOr<OwningOpRef<ModuleOp>> accc::mergePrograms(ArrayRef<SizedProgram> programs) {
  Merger merger(programs);
  if (failed(merger.shareVariables()) || failed(merger.addEntries()))
    return failure();
  return merger.take();
}
