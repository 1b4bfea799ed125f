// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program says of its values, and does not compute with. What it says of sizes must be true
// of those that the options give; what it says of data is left out.
#include "frontend/torchexport/Program.h"

using namespace mlir;
using namespace accc;
using namespace accc::torchexport;

static bool isAssertion(llvm::StringRef target) {
  for (llvm::StringRef name :
       {"torch.ops.aten._assert_scalar.default", "torch.ops.aten._assert_async.msg",
        "torch.ops.aten._assert_async.default", "torch.ops.aten._assert_tensor_metadata.default",
        "torch.ops.aten.sym_constrain_range.default",
        "torch.ops.aten.sym_constrain_range_for_size.default", "torch._check"})
    if (target == name)
      return true;
  return false;
}

/// Whether a node asks about element types or shapes (promote_types, can_cast, is_same_size). What
/// PyTorch answered is in what it exported after it, and the node has no result.
static bool isAnswered(const Json &node) {
  Json outputs = node.at("outputs");
  return llvm::StringRef(node.at("target").string()).starts_with("torch.ops.aten.") &&
         outputs.size() == 1 && outputs.at(size_t(0)).tag() == "as_none";
}

/// The names of a node's results where these are numbers: sizes, elements of tensors, or a number
/// as a tensor, of which PyTorch 2.4 makes its assertions.
static std::vector<std::string> numbersOf(const Json &node) {
  Json outputs = node.at("outputs");
  if (node.at("target").string() == "torch.ops.aten.scalar_tensor.default" && outputs.size() == 1)
    return {outputs.at(size_t(0)).at("as_tensor").at("name").string()};
  std::vector<std::string> names;
  for (size_t i = 0; i < outputs.size(); ++i) {
    Json output = outputs.at(i);
    if (!llvm::StringRef(output.tag()).starts_with("as_sym_") ||
        output.content().tag() != "as_name")
      return {};
    names.push_back(output.content().content().string());
  }
  return names;
}

std::set<size_t> accc::torchexport::assertionsOf(const Json &graph) {
  std::set<size_t> left;
  Json nodes = graph.at("nodes");
  std::set<std::string> read = graph.at("outputs").texts();
  for (size_t i = nodes.size(); i-- > 0;) { // readers first
    Json node = nodes.at(i);
    std::vector<std::string> numbers = numbersOf(node);
    bool isUnread = !numbers.empty() && llvm::none_of(numbers, [&](const std::string &name) {
      return read.contains(name);
    });
    if (isUnread || isAnswered(node) || isAssertion(node.at("target").string()))
      left.insert(i);
    else
      read.merge(node.at("inputs").texts());
  }
  return left;
}

static bool isFalse(const aten::Local &value) {
  auto *flag = std::get_if<bool>(&value);
  auto *number = std::get_if<int64_t>(&value);
  return (flag && !*flag) || (number && *number == 0);
}

void ProgramImporter::checkAssertion(const Json &node, Scope &scope) {
  std::string target = node.at("target").string();
  Json inputs = node.at("inputs"), outputs = node.at("outputs");
  bool isAsserted = target == "torch.ops.aten._assert_scalar.default";
  if (!isAsserted && !isOfSizes(target))
    return;
  try {
    if (!isAsserted && outputs.size() == 1)
      bind(outputs.at(size_t(0)), runNode(node, target, scope).front(), scope);
    else if (isAsserted && isFalse(argument(inputs.at(size_t(0)).at("arg"), scope)))
      problems.push_back({.message = "with the sizes that are given, an assertion of the program "
                                     "does not hold: " +
                                     inputs.at(1).at("arg").content().string()});
  } catch (const ImportError &) {
    // It depends on data.
  }
}

// ---- guards ----

/// Appends where each value in nested containers is, as Python writes it: "['x']", "['state'][0]".
/// What is in a container that is no list, tuple or dict has the name "".
static void pathsOf(const Json &spec, const std::string &path, std::vector<std::string> &paths) {
  std::optional<Json> type = spec.find("type");
  if (!type) {
    paths.push_back(path);
    return;
  }
  Json children = spec.at("children_spec");
  std::string container = type->string();
  bool isList = container == "builtins.tuple" || container == "builtins.list";
  std::vector<std::string> keys =
      container == "builtins.dict" ? keysOf(spec, children.size()) : std::vector<std::string>();
  for (size_t i = 0; i < children.size(); ++i) {
    std::string place = isList          ? "[" + std::to_string(i) + "]"
                        : !keys.empty() ? "['" + keys[i] + "']"
                                        : "";
    std::vector<std::string> inner;
    pathsOf(children.at(i), path + place, inner);
    for (const std::string &each : inner)
      paths.push_back(path.empty() || place.empty() ? "" : each);
  }
}

std::vector<std::string> accc::torchexport::inputPaths(const Json &program) {
  std::vector<std::string> paths;
  std::optional<Json> call = rootSignature(program);
  std::optional<Json> names = call ? call->find("forward_arg_names") : std::nullopt;
  if (!names)
    return paths;
  nlohmann::json document = Json::parse(call->at("in_spec").string(), "in_spec");
  // [version, (positional arguments, keyword arguments)]
  Json both = Json(document, "in_spec").at(1).at("children_spec");
  Json positional = both.at(size_t(0)).at("children_spec");
  for (size_t i = 0; i < positional.size(); ++i)
    pathsOf(positional.at(i), i < names->size() ? "['" + names->at(i).string() + "']" : "", paths);
  Json named = both.at(1), values = named.at("children_spec");
  std::vector<std::string> keys = keysOf(named, values.size());
  for (size_t i = 0; i < values.size(); ++i)
    pathsOf(values.at(i), i < keys.size() ? "['" + keys[i] + "']" : "", paths);
  return paths;
}

std::vector<std::string> accc::torchexport::inputArguments(const Json &specs) {
  std::vector<std::string> arguments;
  for (size_t i = 0; i < specs.size(); ++i)
    if (specs.at(i).has("user_input") || specs.at(i).has("constant_input"))
      arguments.push_back(argumentName(specs.at(i)).value_or(""));
  return arguments;
}

Names ProgramImporter::guardedNames(const Json &specs, const Scope &scope) const {
  std::vector<std::string> arguments = inputArguments(specs), paths = inputPaths(program);
  Names names;
  if (paths.size() != arguments.size())
    return names;
  for (auto [path, argument] : llvm::zip(paths, arguments)) {
    auto value = scope.find(argument);
    if (path.empty() || value == scope.end())
      continue;
    auto *tensor = std::get_if<aten::MutableTensor>(&value->second);
    if (!tensor) {
      names[path] = value->second;
      continue;
    }
    ArrayRef<int64_t> shape = tensor->shape();
    for (auto [i, size] : llvm::enumerate(shape))
      names[path + ".size()[" + std::to_string(i) + "]"] = size;
  }
  return names;
}

void ProgramImporter::checkGuards(const Json &specs, const Scope &scope) {
  std::optional<Json> guards = program.find("guards_code");
  // Sizes that nobody gave are no reason to refuse a program.
  if (!guards || !problems.empty() || !wrongSizes().missing.empty())
    return;
  Names names = guardedNames(specs, scope);
  auto isBroken = [&](const std::string &guard) {
    try {
      return isFalse(evaluate(guard, names));
    } catch (const ImportError &) {
      return false; // of strides, or of what is no number
    }
  };
  for (size_t i = 0; i < guards->size(); ++i)
    if (std::string guard = guards->at(i).string(); isBroken(guard)) {
      // One says enough: many follow from each other.
      problems.push_back(
          {.message = "the program was exported for inputs with " + guard +
                      ", which does not hold for the sizes that are given: the module may compute "
                      "something else there; give other sizes, or export it with inputs of these"});
      return;
    }
}
