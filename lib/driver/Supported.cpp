// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Supported.h"

#include "ir/prim/FunctionContract.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace accc;

/// "f16" or "bf16"; empty for all other element types.
static std::string sixteenBitFloat(Type type) {
  Type element = cast<RankedTensorType>(type).getElementType();
  if (!isa<Float16Type, BFloat16Type>(element))
    return "";
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return text;
}

/// ", as have 2 more parameters and 7 results", of what comes after the first; empty if none does.
static std::string others(const llvm::MapVector<StringRef, size_t> &counts, StringRef first) {
  std::string text;
  for (const auto &[kind, count] : counts)
    if (size_t more = count - (kind == first))
      text += (text.empty() ? ", as have " : " and ") + std::to_string(more) +
              (kind == first ? " more " : " ") + kind.str() + (more == 1 ? "" : "s");
  return text;
}

static std::optional<Problem> findSixteenBitFloats(func::FuncOp forward) {
  std::string node, what, type;
  llvm::MapVector<StringRef, size_t> counts; // inputs, parameters, buffers, results
  auto add = [&](StringRef kind, const std::string &found, llvm::function_ref<void()> describe) {
    if (found.empty())
      return;
    if (counts.empty()) {
      type = found;
      describe();
    }
    ++counts[kind];
  };
  for (unsigned i = 0, e = forward.getNumArguments(); i < e; ++i) {
    StringRef role = stringifyRole(*argumentRole(forward, i));
    add(role, sixteenBitFloat(forward.getArgumentTypes()[i]),
        [&] { what = role.str() + " '" + argumentText(forward, i, kNameAttr).str() + "'"; });
  }
  for (Operation &op : forward.front().without_terminator())
    for (Type result : op.getResultTypes())
      add("result", sixteenBitFloat(result), [&] {
        node = nodeName(op.getLoc());
        what = "the result of " + op.getName().getStringRef().str();
      });
  if (counts.empty())
    return std::nullopt;
  return Problem{.node = node,
                 .message = what + " has the type " + type + others(counts, counts.front().first) +
                            ", and 16-bit floats are not supported for training yet: export the "
                            "model in float32 (in PyTorch, model.float() before the export), "
                            "without casts to " +
                            type + "; accc compile --precision bf16 trains it in mixed precision"};
}

LogicalResult accc::checkSupported(Compilation &c) {
  std::optional<Problem> problem =
      findSixteenBitFloats(c.module->lookupSymbol<func::FuncOp>("forward"));
  if (problem)
    c.problems.add(*problem);
  return failure(problem.has_value());
}
