// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/InitialValues.h"

#include "ir/prim/FunctionContract.h"
#include "reference/interpreter/Interpreter.h"

using namespace mlir;
using namespace accc;

LogicalResult accc::computeInitialValues(ModuleOp initialization, WeightTable &weights) {
  auto forward = initialization.lookupSymbol<func::FuncOp>("forward");
  SmallVector<ReferenceArray> arguments, results;
  for (Type type : forward.getArgumentTypes()) // the random key
    arguments.push_back(ReferenceArray(cast<RankedTensorType>(type).getShape(), 0.0));
  if (failed(interpret(forward, arguments, results)))
    return failure();
  for (auto [i, array] : llvm::enumerate(results)) {
    auto type = cast<RankedTensorType>(forward.getResultTypes()[i]);
    auto bytes = std::make_shared<std::vector<char>>(toBytes(array, type));
    ArrayRef<char> view(bytes->data(), bytes->size());
    weights[resultText(forward, i, kNameAttr).str()] = {type, view, std::move(bytes)};
  }
  return success();
}
