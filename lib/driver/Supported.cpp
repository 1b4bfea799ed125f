// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Supported.h"

#include "ir/prim/FunctionContract.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

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

static Problem refusal(const std::string &node, const std::string &what, const std::string &type) {
  return {.node = node,
          .message = what + " has the type " + type +
                     ", and 16-bit floats are not supported for training yet: export the model in "
                     "float32 (in PyTorch, model.float() before the export), without casts to " +
                     type};
}

static std::optional<Problem> findSixteenBitFloat(func::FuncOp forward) {
  for (unsigned i = 0, e = forward.getNumArguments(); i < e; ++i)
    if (std::string type = sixteenBitFloat(forward.getArgumentTypes()[i]); !type.empty()) {
      std::string role = stringifyRole(*argumentRole(forward, i)).str();
      return refusal("", role + " '" + argumentText(forward, i, kNameAttr).str() + "'", type);
    }
  for (Operation &op : forward.front().without_terminator())
    for (Type result : op.getResultTypes())
      if (std::string type = sixteenBitFloat(result); !type.empty())
        return refusal(nodeName(op.getLoc()), "the result of " + op.getName().getStringRef().str(),
                       type);
  return std::nullopt;
}

LogicalResult accc::checkSupported(Compilation &c) {
  std::optional<Problem> problem =
      findSixteenBitFloat(c.module->lookupSymbol<func::FuncOp>("forward"));
  if (problem)
    c.problems.add(*problem);
  return failure(problem.has_value());
}
