// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an exported program returns, and what it leaves in its buffers.
#include "frontend/torchexport/Program.h"

using namespace mlir;
using namespace accc;
using namespace accc::torchexport;

/// How many values a specification of nested containers describes.
static size_t leaves(const Json &spec) {
  std::optional<Json> type = spec.find("type");
  if (!type)
    return 1;
  size_t count = 0;
  Json children = spec.at("children_spec");
  for (size_t i = 0; i < children.size(); ++i)
    count += leaves(children.at(i));
  return count;
}

/// The keys of a returned dict, or of what is like one: a JSON list in the container's context.
static std::vector<std::string> keysOf(const Json &spec, size_t count) {
  std::optional<Json> context = spec.find("context");
  if (!context)
    return {};
  nlohmann::json parsed = nlohmann::json::parse(context->string(), nullptr, false);
  // Registered containers keep their keys beside something else: [[...], type].
  if (parsed.is_array() && !parsed.empty() && parsed[0].is_array())
    parsed = nlohmann::json(parsed[0]);
  std::vector<std::string> keys;
  if (parsed.is_array() && parsed.size() == count)
    for (const nlohmann::json &key : parsed)
      if (key.is_string())
        keys.push_back(key.get<std::string>());
  return keys.size() == count ? keys : std::vector<std::string>();
}

std::vector<std::string> ProgramImporter::outputNames(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i)
    names.push_back("output_" + std::to_string(i));
  Json modules = program.at("graph_module").at("module_call_graph");
  for (size_t i = 0; i < modules.size(); ++i) {
    Json module = modules.at(i);
    std::optional<Json> call = module.find("signature");
    if (!module.at("fqn").string().empty() || !call)
      continue;
    nlohmann::json document =
        Json::parse(call->at("out_spec").string(), "out_spec"); // [version, specification]
    Json root = Json(document, "out_spec").at(1);
    if (!root.find("type") || leaves(root) != count)
      return names;
    Json children = root.at("children_spec");
    std::vector<std::string> keys = keysOf(root, children.size());
    size_t at = 0;
    for (size_t k = 0; k < keys.size(); ++k) {
      size_t width = leaves(children.at(k));
      for (size_t j = 0; j < width; ++j)
        names[at++] = width == 1 ? keys[k] : keys[k] + "_" + std::to_string(j);
    }
    return names;
  }
  return names;
}

std::vector<ForwardOutput> ProgramImporter::importOutputs(Scope &scope, ImportResult &result) {
  Json specs = signature.at("output_specs");
  size_t count = 0;
  for (size_t i = 0; i < specs.size(); ++i)
    count += specs.at(i).has("user_output");
  std::vector<std::string> names = outputNames(count);
  std::vector<ForwardOutput> outputs;
  size_t number = 0;
  for (size_t i = 0; i < specs.size(); ++i) {
    std::string kind = specs.at(i).tag();
    Json content = specs.at(i).content();
    try {
      if (kind == "user_output") {
        const std::string &name = names[number++];
        if (content.at("arg").tag() != "as_tensor")
          continue; // None, or a number
        result.outputs.push_back(name);
        auto tensor = std::get<aten::MutableTensor>(argument(content.at("arg"), scope));
        outputs.push_back({caller.read(opBuilder.getUnknownLoc(), tensor), name});
      } else if (kind == "buffer_mutation") {
        auto target = byName.find(content.at("buffer_name").string());
        if (target == byName.end())
          fail("the buffer '" + content.at("buffer_name").string() + "' is none of the inputs");
        auto tensor =
            std::get<aten::MutableTensor>(lookup(content.at("arg").at("name").string(), scope));
        state[target->second].first.write(*this, opBuilder.getUnknownLoc(),
                                          caller.read(opBuilder.getUnknownLoc(), tensor));
      } else if (kind != "token") {
        fail("outputs of the kind '" + kind + "' are not supported");
      }
    } catch (const FileError &) {
      // its problem is known
    } catch (const ImportError &error) {
      problems.push_back({.message = error.message});
    }
  }
  if (problems.empty())
    bindBuffers();
  return outputs;
}

void ProgramImporter::bindBuffers() {
  for (auto &[tensor, initial] : state) {
    Value now = caller.read(opBuilder.getUnknownLoc(), tensor);
    if (now == initial)
      continue;
    Variable *variable = findVariable(initial);
    if (!variable)
      problems.push_back({.message = "the program writes into a constant"});
    else if (!variable->isBuffer)
      problems.push_back({.message = "the program writes into its parameter '" + variable->name +
                                     "'; the optimizer alone may"});
    else
      bindUpdate(initial, now);
  }
}
