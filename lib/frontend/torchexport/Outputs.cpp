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

std::vector<std::string> accc::torchexport::keysOf(const Json &spec, size_t count) {
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

std::optional<Json> accc::torchexport::rootSignature(const Json &program) {
  Json modules = program.at("graph_module").at("module_call_graph");
  for (size_t i = 0; i < modules.size(); ++i)
    if (modules.at(i).at("fqn").string().empty())
      if (std::optional<Json> call = modules.at(i).find("signature"))
        return call;
  return std::nullopt;
}

std::vector<std::string> ProgramImporter::outputNames(size_t count) {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i)
    names.push_back("output_" + std::to_string(i));
  std::optional<Json> call = rootSignature(program);
  if (!call)
    return names;
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
      names[at++] = width == 1 ? keys[k] : frontend::partName(keys[k], j, keys);
  }
  return names;
}

bool ProgramImporter::isJoint() const {
  Json specs = signature.at("output_specs");
  for (size_t i = 0; i < specs.size(); ++i)
    if (specs.at(i).has("loss_output"))
      return true;
  return false;
}

/// Whether a specification is of what forward returned.
static bool isReturned(const std::string &kind) {
  return kind == "user_output" || kind == "loss_output";
}

void ProgramImporter::importOutputs(const Scope &scope, ImportResult &result) {
  Json specs = signature.at("output_specs");
  size_t count = 0, number = 0;
  for (size_t i = 0; i < specs.size(); ++i)
    count += isReturned(specs.at(i).tag());
  std::vector<std::string> names = outputNames(count);
  for (size_t i = 0; i < specs.size(); ++i) {
    std::string kind = specs.at(i).tag();
    std::string name = isReturned(kind) ? names[number++] : "";
    bool isBroken = true;
    try {
      importOutput(kind, specs.at(i).content(), name, scope);
      isBroken = false;
    } catch (const FileError &) {
      // its problem is known
    } catch (const ImportError &error) {
      problems.push_back({.message = error.message});
    }
    if (isBroken && isReturned(kind) && !isJoint())
      result.outputs.push_back(name);
  }
  // A joint program's are not for --loss.
  for (const ForwardOutput &output : outputs)
    if (!isJoint())
      result.outputs.push_back(output.name);
  for (auto [i, gradient] : gradients)
    outputs.push_back({gradient, "grad." + state[i].name, prim::Role::Gradient});
  if (problems.empty())
    bindBuffers();
  checkMemory();
}

void ProgramImporter::importOutput(const std::string &kind, const Json &content,
                                   const std::string &name, const Scope &scope) {
  if (kind == "user_output") {
    Json given = content.at("arg");
    if (given.tag() != "as_tensor")
      return; // None, or a number
    auto tensor = lookupTensor(given.content().at("name").string(), scope);
    outputs.push_back({caller.readPairs(opBuilder.getUnknownLoc(), tensor), name});
  } else if (kind == "loss_output") {
    importLoss(content, scope);
  } else if (kind == "gradient_to_parameter") {
    importGradient(content, scope);
  } else if (kind == "gradient_to_user_input") {
    warn("the gradient with respect to the input '" +
         inputName(content.at("user_input_name").string()) +
         "' is not computed: entry points give those of parameters");
  } else if (kind == "user_input_mutation") {
    warn("forward writes into the input '" + inputName(content.at("user_input_name").string()) +
         "', of which a step reads a copy: the caller's tensor stays as it is");
  } else if (kind == "buffer_mutation" || kind == "parameter_mutation") {
    bool isBuffer = kind == "buffer_mutation";
    std::string written = content.at(isBuffer ? "buffer_name" : "parameter_name").string();
    auto target = byName.find(written);
    if (target == byName.end())
      fail("'" + written + "', which changes, is none of the inputs");
    auto tensor = lookupTensor(content.at("arg").at("name").string(), scope);
    state[target->second].tensor.write(*this, opBuilder.getUnknownLoc(),
                                       caller.readPairs(opBuilder.getUnknownLoc(), tensor),
                                       /*isRecorded=*/true);
  } else if (kind != "token") {
    fail("outputs of the kind '" + kind + "' are not supported");
  }
}

void ProgramImporter::importLoss(const Json &content, const Scope &scope) {
  std::string name = content.at("arg").at("name").string();
  Location loc = NameLoc::get(opBuilder.getStringAttr(name));
  Value value = caller.read(loc, lookupTensor(name, scope));
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getNumElements() != 1 || !isa<FloatType>(type.getElementType()))
    fail("the loss '" + name + "' is no single float, but has the shape " + show(type.getShape()));
  Entities loss =
      build([&]() -> Entities { return {widen(prim::Tensor(opBuilder, loc, value).reshape({}))}; });
  outputs.push_back({loss.front().tensor, "loss", prim::Role::Loss});
}

void ProgramImporter::importGradient(const Json &content, const Scope &scope) {
  std::string name = content.at("parameter_name").string();
  auto found = byName.find(name);
  const Variable *variable =
      found == byName.end() ? nullptr : findVariable(state[found->second].initial);
  if (!variable || variable->isBuffer)
    fail("the program has a gradient for '" + name + "', which is none of its parameters");
  Location loc = opBuilder.getUnknownLoc();
  aten::Local gradient = lookup(content.at("arg").at("name").string(), scope);
  if (auto *selection = std::get_if<aten::Selection>(&gradient)) { // x[mask] = parameter
    ArrayRef<int64_t> shape = variable->weight.type.getShape().take_front(selection->rank());
    aten::Integers size(shape.begin(), shape.end());
    gradient = caller.call(loc, "expand", {{"self", gradient}, {"size", size}}, name).front();
  }
  Value value = caller.readPairs(loc, tensorOf(gradient, name));
  if (value.getType() != variable->weight.type)
    fail("the gradient of the parameter '" + name + "' has the shape " +
         show(cast<RankedTensorType>(value.getType()).getShape()) +
         " or another element type than the parameter of shape " +
         show(variable->weight.type.getShape()));
  if (!gradients.insert({found->second, value}).second)
    fail("the program has two gradients for the parameter '" + variable->name + "'");
}

void ProgramImporter::bindBuffers() {
  for (auto [each, view] : llvm::zip_equal(state, memory)) {
    Value now = caller.read(opBuilder.getUnknownLoc(), each.tensor);
    if (now == each.initial)
      continue;
    view.changes = true;
    Variable *variable = findVariable(each.initial);
    if (!variable || (variable->isKnown && variable->isAskedFor)) // as if it never changed
      falseConstants.insert(each.name);
    else
      bindWrite(each.initial, now);
  }
}
