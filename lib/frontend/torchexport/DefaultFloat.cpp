// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// torch.set_default_dtype() decides the type of `integers / 3` or `torch.rand(5)`, and no file
// names it: the types that the file has for such results do.
#include "frontend/torchexport/Program.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace accc;
using namespace accc::torchexport;

/// The type of a tensor's elements; null where the file does not say it, or one that accc has not.
static Type typeOf(const Json &graph, const std::string &tensor, MLIRContext &context) {
  std::optional<Json> values = graph.find("tensor_values");
  std::optional<Json> meta = values ? values->find(tensor.c_str()) : std::nullopt;
  return meta ? elementTypeOrNull(context, meta->at("dtype").integer()) : nullptr;
}

/// Whether the node makes floats of tensors without fractions, if of any, and no argument says of
/// which type: then the default dtype is theirs.
static bool takesDefault(const Json &node, const Json &graph, MLIRContext &context) {
  std::string target = node.at("target").string();
  llvm::StringRef name = target;
  if (!name.consume_front("torch.ops.aten.") || name.starts_with("float_power")) // always float64
    return false;
  Json inputs = node.at("inputs");
  for (size_t i = 0; i < inputs.size(); ++i) {
    Json argument = inputs.at(i).at("arg");
    if (argument.tag() == "as_scalar_type")
      return false;
    for (const std::string &tensor : tensorNames(argument))
      if (!tensor.empty() && !isa_and_nonnull<IntegerType>(typeOf(graph, tensor, context)))
        return false;
  }
  return true;
}

Type torchexport::defaultFloatOf(const Json &graph, MLIRContext &context) {
  Json nodes = graph.at("nodes");
  for (size_t i = 0; i < nodes.size(); ++i) {
    Json node = nodes.at(i), inputs = node.at("inputs");
    for (size_t k = 0; k < inputs.size(); ++k)
      if (Json argument = inputs.at(k).at("arg"); argument.tag() == "as_graph")
        if (Type inner = defaultFloatOf(argument.content().at("graph"), context))
          return inner;
    std::vector<std::string> results = tensorNamesOf(node.at("outputs"));
    if (results.empty())
      continue;
    Type type = typeOf(graph, results.front(), context);
    if (isa_and_nonnull<FloatType>(type) && takesDefault(node, graph, context))
      return type;
  }
  return nullptr;
}
