// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Minimize.h"

#include "ir/interfaces/ReferenceArray.h"
#include "ir/prim/FunctionContract.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

#include <regex>
#include <set>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

class Minimizer {
public:
  Minimizer(OwningOpRef<ModuleOp> &module, const std::function<bool(ModuleOp)> &fails)
      : module(module), fails(fails) {}

  void run() {
    for (bool changed = true; changed;) {
      changed = dropResults();
      changed |= dropOps();
      changed |= dropArguments();
      changed |= dropOptions();
      changed |= shrinkExtents();
    }
  }

private:
  using Edit = std::function<bool(ModuleOp)>;

  static func::FuncOp forwardOf(ModuleOp module) {
    return module.lookupSymbol<func::FuncOp>("forward");
  }
  /// Keeps the edited module if it still fails.
  bool attempt(const Edit &edit) {
    OwningOpRef<ModuleOp> candidate = module->clone();
    if (!edit(*candidate))
      return false;
    return keep(std::move(candidate));
  }
  bool keep(OwningOpRef<ModuleOp> candidate) {
    ScopedDiagnosticHandler quiet(candidate->getContext(), [](Diagnostic &) { return success(); });
    eraseUnused(forwardOf(*candidate));
    if (failed(verify(*candidate)) || !fails(*candidate))
      return false;
    module = std::move(candidate);
    return true;
  }
  static void eraseUnused(func::FuncOp forward) {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(forward.front())))
      if (isOpTriviallyDead(&op))
        op.erase();
  }

  bool dropResults();
  bool dropOps();
  bool dropArguments();
  bool dropOptions();
  bool shrinkExtents();
  bool replaceExtent(int64_t from, int64_t to, bool attributes);

  OwningOpRef<ModuleOp> &module;
  const std::function<bool(ModuleOp)> &fails;
  int newInputs = 0;
};

bool Minimizer::dropResults() {
  bool changed = false;
  for (unsigned i = forwardOf(*module).getNumResults(); i-- > 0;)
    changed |= attempt([&](ModuleOp candidate) {
      func::FuncOp forward = forwardOf(candidate);
      llvm::BitVector erased(forward.getNumResults());
      erased.set(i);
      forward.front().getTerminator()->eraseOperand(i);
      forward.eraseResults(erased);
      return true;
    });
  return changed;
}

/// The op at a place, counted from the end.
Operation *opAt(func::FuncOp forward, size_t fromEnd) {
  for (Operation &op : llvm::reverse(forward.front().without_terminator()))
    if (fromEnd-- == 0)
      return &op;
  return nullptr;
}

bool Minimizer::dropOps() {
  bool changed = false;
  for (size_t i = 0; opAt(forwardOf(*module), i);) {
    Operation *op = opAt(forwardOf(*module), i);
    bool dropped = false;
    for (unsigned k = 0; !dropped && k < op->getNumOperands(); ++k)
      if (op->getNumResults() == 1 && op->getOperand(k).getType() == op->getResult(0).getType())
        dropped = attempt([&](ModuleOp candidate) {
          Operation *target = opAt(forwardOf(candidate), i);
          target->getResult(0).replaceAllUsesWith(target->getOperand(k));
          return true;
        });
    // As an input it is as good as computed.
    if (!dropped && !op->hasTrait<OpTrait::ConstantLike>())
      dropped = attempt([&](ModuleOp candidate) {
        func::FuncOp forward = forwardOf(candidate);
        Operation *target = opAt(forward, i);
        Builder b(candidate.getContext());
        for (Value result : target->getResults()) {
          if (result.use_empty())
            continue;
          bool isFloat = isa<FloatType>(cast<RankedTensorType>(result.getType()).getElementType());
          auto attributes = b.getDictionaryAttr(
              {b.getNamedAttr(kNameAttr, b.getStringAttr("m" + std::to_string(newInputs++))),
               b.getNamedAttr(kRoleAttr, prim::RoleAttr::get(b.getContext(), Role::Input)),
               b.getNamedAttr(kRangeAttr,
                              rangeAttr(b.getContext(), isFloat ? Range{} : Range{0, 2}))});
          unsigned last = forward.getNumArguments();
          forward.insertArgument(last, result.getType(), attributes, result.getLoc());
          result.replaceAllUsesWith(forward.getArgument(last));
        }
        return true;
      });
    changed |= dropped;
    if (!dropped)
      ++i;
  }
  return changed;
}

bool Minimizer::dropArguments() {
  bool changed = false;
  for (unsigned i = forwardOf(*module).getNumArguments(); i-- > 0;) {
    func::FuncOp forward = forwardOf(*module);
    if (forward.getArgument(i).use_empty())
      changed |= attempt([&](ModuleOp candidate) {
        forwardOf(candidate).eraseArgument(i);
        return true;
      });
    else if (argumentRole(forward, i) == Role::Parameter)
      changed |= attempt([&](ModuleOp candidate) {
        forwardOf(candidate).setArgAttr(i, kRoleAttr,
                                        prim::RoleAttr::get(candidate.getContext(), Role::Input));
        return true;
      });
  }
  return changed;
}

/// "a,b=1,c" without each of its options.
std::vector<std::string> shorter(StringRef text) {
  std::vector<std::string> result;
  SmallVector<StringRef> parts;
  text.split(parts, ',');
  for (size_t i = 1; i < parts.size(); ++i) {
    SmallVector<StringRef> rest(parts);
    rest.erase(rest.begin() + i);
    result.push_back(llvm::join(rest, ","));
  }
  return result;
}

bool Minimizer::dropOptions() {
  bool changed = false;
  auto tryText = [&](StringRef name, const std::string &text) {
    return attempt([&](ModuleOp candidate) {
      candidate->setAttr(name, StringAttr::get(candidate.getContext(), text));
      return true;
    });
  };
  for (StringRef name : {"random.optimizer", "random.loss"})
    for (bool again = true; again;) {
      again = false;
      auto text = (*module)->getAttrOfType<StringAttr>(name);
      for (const std::string &less : shorter(text ? text.getValue() : ""))
        if ((again = tryText(name, less)))
          break;
      changed |= again;
    }
  if (CaseOptions::of(*module).optimizer != "sgd")
    changed |= tryText("random.optimizer", "sgd");
  for (StringRef name : {"random.freeze", "random.threads", "random.memory", "random.loss_scale",
                         "random.ranks", "random.accumulates", "random.average"})
    if ((*module)->hasAttr(name))
      changed |= attempt([&](ModuleOp candidate) {
        candidate->removeAttr(name);
        return true;
      });
  return changed;
}

/// Replaces an extent in every type, and where asked for in lists of numbers, too: most of that
/// does not fit together, and is not kept then.
bool Minimizer::replaceExtent(int64_t from, int64_t to, bool attributes) {
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  std::string number = std::to_string(from), other = std::to_string(to);
  text = std::regex_replace(text, std::regex("([<x])" + number + "(?=x)"), "$01" + other);
  if (attributes)
    text = std::regex_replace(text, std::regex("([:,] )" + number + "(?=[,>])"), "$01" + other);
  OwningOpRef<ModuleOp> candidate;
  {
    ScopedDiagnosticHandler quiet(module->getContext(), [](Diagnostic &) { return success(); });
    candidate = parseSourceString<ModuleOp>(text, ParserConfig(module->getContext()));
  }
  return candidate && keep(std::move(candidate));
}

bool Minimizer::shrinkExtents() {
  std::set<int64_t> extents;
  module->walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        extents.insert(tensor.getShape().begin(), tensor.getShape().end());
  });
  for (Type type : forwardOf(*module).getArgumentTypes())
    for (int64_t extent : cast<RankedTensorType>(type).getShape())
      extents.insert(extent);
  bool changed = false;
  for (int64_t extent : llvm::reverse(extents))
    for (int64_t to : {int64_t(1), int64_t(2), extent / 2, extent - 1})
      if (to >= 1 && to < extent &&
          (replaceExtent(extent, to, false) || replaceExtent(extent, to, true))) {
        changed = true;
        break;
      }
  return changed;
}

} // namespace

void accc::test::minimize(OwningOpRef<ModuleOp> &module,
                          const std::function<bool(ModuleOp)> &fails) {
  Minimizer(module, fails).run();
}
