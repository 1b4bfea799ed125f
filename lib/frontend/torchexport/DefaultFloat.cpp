// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// torch.set_default_dtype() decides the type of `integers / 3` or `torch.rand(5)`, and no file
// names it: the types that the file has for such results do.
#include "frontend/torchexport/Program.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::torchexport;

/// Numbers of types without fractions: bytes to int64, bool, and integers without a sign.
static bool isWhole(int64_t type) {
  return (type >= 1 && type <= 5) || type == 12 || (type >= 27 && type <= 29);
}

/// The number of a tensor's type, or nothing where the file does not say it.
static std::optional<int64_t> typeNumber(const Json &graph, const std::string &tensor) {
  std::optional<Json> values = graph.find("tensor_values");
  std::optional<Json> meta = values ? values->find(tensor.c_str()) : std::nullopt;
  if (!meta)
    return std::nullopt;
  return meta->at("dtype").integer();
}

/// Whether the node makes floats of tensors without fractions, if of any, and no argument says of
/// which type: then the default dtype is theirs.
static bool takesDefault(const Json &node, const Json &graph) {
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
      if (std::optional<int64_t> type = typeNumber(graph, tensor);
          !tensor.empty() && (!type || !isWhole(*type)))
        return false;
  }
  return true;
}

Type torchexport::defaultFloatOf(const Json &graph, MLIRContext &context) {
  constexpr int64_t kFloats[] = {6, 7, 8, 13};
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
    std::optional<int64_t> type = typeNumber(graph, results.front());
    if (type && llvm::is_contained(kFloats, *type) && takesDefault(node, graph))
      return elementType(context, *type);
  }
  return nullptr;
}
