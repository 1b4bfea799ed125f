// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of operators that the user registered in PyTorch.
#include "frontend/common/CustomCall.h"
#include "frontend/aten/Call.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;

/// An argument that is no tensor, as a custom call takes it; null where it says nothing.
static Attribute customAttribute(OpBuilder &b, const NamedLocal &argument) {
  return std::visit(
      [&](const auto &value) -> Attribute {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, bool>)
          return b.getI64IntegerAttr(value);
        else if constexpr (std::is_same_v<T, double>)
          return b.getF64FloatAttr(value);
        else if constexpr (std::is_same_v<T, std::string>)
          return b.getStringAttr(value);
        else if constexpr (std::is_same_v<T, Integers>)
          return b.getDenseI64ArrayAttr(value);
        else if constexpr (std::is_same_v<T, Booleans>)
          return b.getDenseI64ArrayAttr(SmallVector<int64_t>(value.begin(), value.end()));
        else if constexpr (std::is_same_v<T, Reals>)
          return b.getDenseF64ArrayAttr(value);
        else if constexpr (std::is_same_v<T, NoValue> || std::is_same_v<T, MemoryFormat> ||
                           std::is_same_v<T, Irrelevant>)
          return {};
        else
          fail("the argument '" + argument.name +
               "' is none that a custom operator can have: tensors, numbers and strings, and "
               "lists of numbers");
      },
      argument.value);
}

std::vector<Local> Caller::callCustom(Location loc, const prim::CustomOperator &op,
                                      const std::vector<NamedLocal> &arguments, StringRef name) {
  SmallVector<Value> inputs;
  SmallVector<NamedAttribute> config;
  NodeBuilder node(function, loc);
  for (const NamedLocal &argument : arguments)
    if (auto *tensor = std::get_if<MutableTensor>(&argument.value))
      inputs.push_back(read(loc, *tensor));
    else if (Attribute attribute = customAttribute(function.builder(), argument))
      config.push_back(node.attr(argument.name, attribute));
  std::vector<Local> results;
  for (const Entity &result : function.build([&] { return customCall(node, op, inputs, config); }))
    results.push_back(MutableTensor(
        recorded(loc, result.tensor), name,
        Layout::unknown(cast<RankedTensorType>(result.tensor.getType()).getShape(), name.str())));
  return results;
}
