// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arguments of an exported program: variables, constants, and the model's own inputs.
#include "frontend/common/Fold.h"
#include "frontend/common/TensorTypes.h"
#include "frontend/torchexport/Program.h"

using namespace mlir;
using namespace accc;
using namespace accc::torchexport;

std::optional<std::string> accc::torchexport::argumentName(const Json &spec) {
  if (spec.has("constant_input"))
    return spec.content().at("name").string();
  std::optional<Json> arg = spec.content().find("arg");
  if (arg && arg->has("as_sym_int") && arg->content().has("as_name"))
    return arg->content().content().string();
  if (std::optional<Json> tensor = arg ? arg->find("as_tensor") : std::nullopt)
    arg = tensor;
  std::optional<Json> name = arg ? arg->find("name") : std::nullopt;
  return name ? std::optional(name->string()) : std::nullopt;
}

/// "batch_image" of "['batch']['Image']", as PyTorch names the value in the graph, but in lower
/// case.
static std::string nameOfPath(llvm::StringRef path) {
  std::string name;
  for (size_t at = 0; at < path.size();) {
    llvm::StringRef key = path.substr(at).split(']').first;
    at += key.size() + 1;
    name += (name.empty() ? "" : "_") + key.ltrim('[').trim('\'').str();
  }
  for (char &each : name)
    if (!llvm::isAlnum(each))
      each = '_';
  return name;
}

std::string ProgramImporter::inputName(const std::string &argument) const {
  auto found = inputNames.find(argument);
  return found == inputNames.end() ? argument : found->second;
}

void ProgramImporter::nameInputs(const Json &specs) {
  std::vector<std::string> arguments = inputArguments(specs), paths = inputPaths(program);
  if (paths.size() != arguments.size())
    return;
  std::map<std::string, size_t> uses;
  for (auto [argument, path] : llvm::zip(arguments, paths)) {
    std::string name = nameOfPath(path);
    llvm::StringRef rest = argument;
    // Names that are equal in lower case got numbers.
    bool isName = rest.consume_front(llvm::StringRef(name).lower()) && !name.empty() &&
                  (rest.empty() ||
                   (rest.consume_front("_") && !rest.empty() && llvm::all_of(rest, llvm::isDigit)));
    inputNames[argument] = isName ? name : argument;
    ++uses[inputNames[argument]];
  }
  for (auto &[argument, name] : inputNames)
    if (uses[name] > 1)
      name = argument;
}

void ProgramImporter::findLeft(const Json &specs) {
  Json outputs = signature.at("output_specs");
  for (const char *kind : {"buffer", "parameter"}) {
    std::string name = std::string(kind) + "_name", mutation = std::string(kind) + "_mutation";
    std::map<std::string, std::string> left; // in each
    for (size_t i = 0; i < outputs.size(); ++i)
      if (std::optional<Json> output = outputs.at(i).find(mutation.c_str()))
        left[output->at(name.c_str()).string()] = output->at("arg").at("name").string();
    for (size_t i = 0; i < specs.size(); ++i) {
      std::optional<Json> input = specs.at(i).find(kind);
      std::string variable = input ? input->at(name.c_str()).string() : "";
      auto found = left.find(variable);
      if (found == left.end())
        continue;
      written.insert(variable);
      if (kind == llvm::StringRef("parameter") && !isJoint())
        leftInParameters[found->second] = input->at("arg").at("name").string();
    }
  }
}

void ProgramImporter::importInputs(Scope &scope) {
  Json specs = signature.at("input_specs");
  nameInputs(specs);
  findLeft(specs);
  // A size that is given for one input may be that of others, too.
  for (size_t i = 0; i < specs.size(); ++i) {
    std::optional<Json> input = specs.at(i).find("user_input");
    if (!input)
      continue;
    try {
      readDimensions(input->at("arg"));
    } catch (const ImportError &error) {
      problems.push_back({.message = error.message});
    }
  }
  solveDimensions();
  for (size_t i = 0; i < specs.size(); ++i) {
    try {
      importInput(specs.at(i), scope);
    } catch (const ImportError &error) {
      problems.push_back({.message = error.message});
      // What reads it says nothing more.
      if (std::optional<std::string> name = argumentName(specs.at(i)))
        scope[*name] = aten::MutableTensor();
    }
  }
  checkDimensions();
  checkGuards(specs, scope);
}

void ProgramImporter::checkMemory() {
  for (const std::string &overlap : findOverlaps(memory))
    problems.push_back({.message = overlap +
                                   ", which changes in training: give each its own before the "
                                   "export (clone(), contiguous())"});
}

void ProgramImporter::importInput(const Json &spec, Scope &scope) {
  std::string kind = spec.tag();
  Json content = spec.content();
  auto nameOf = [&](const char *member) { return content.at("arg").at(member).string(); };
  if (kind == "parameter") {
    importVariable(nameOf("name"), content.at("parameter_name").string(), /*isBuffer=*/false,
                   /*isPersistent=*/true, scope);
  } else if (kind == "buffer") {
    importVariable(nameOf("name"), content.at("buffer_name").string(), /*isBuffer=*/true,
                   content.at("persistent").boolean(), scope);
  } else if (kind == "tensor_constant") {
    // An attribute that is no buffer, or a tensor that forward makes of numbers: state if written.
    importVariable(nameOf("name"), content.at("tensor_constant_name").string(), /*isBuffer=*/true,
                   /*isPersistent=*/false, scope);
  } else if (kind == "constant_input") {
    // A number or None, always the same; nodes have it inlined.
    Json value = content.at("value");
    scope[content.at("name").string()] = argument(value, scope);
  } else if (kind == "user_input") {
    Json given = content.at("arg");
    if (given.tag() == "as_tensor")
      importUserInput(given.content().at("name").string(), scope);
    else if (given.tag() == "as_sym_int" && given.content().tag() == "as_name")
      importNumber(given.content().content().string(), scope);
    else if (given.tag().starts_with("as_sym_") && given.content().tag() == "as_name")
      fail("the input '" + inputName(given.content().content().string()) +
           "' is a number that is no integer; export the model with its value, or as a tensor");
  } else if (kind != "token") { // tokens order operators, as their nodes do
    fail("inputs of the kind '" + kind + "' are not supported");
  }
}

void ProgramImporter::importVariable(const std::string &argument, const std::string &given,
                                     bool isBuffer, bool isPersistent, Scope &scope) {
  StoredTensor stored = weights.read(given);
  // No gradient flows to integers, whatever the module calls them.
  isBuffer |= !isa<FloatType, ComplexType>(stored.weight.type.getElementType());
  std::vector<std::string> names = weights.namesOf(stored);
  std::string name = names.empty() ? given : names.front();
  bool isTrained = (importOptions.training || isJoint()) && !isBuffer && stored.requiresGrad;
  NamedView use = {stored.view, (isBuffer ? "buffer '" : "parameter '") + name + "'", isTrained};
  auto tied = byPlace.find(stored.place);
  bool isTied = tied != byPlace.end() && stored.weight.type.getNumElements() > 0;
  const Variable *other = isTied ? findVariable(state[tied->second].initial) : nullptr;
  if (other && other->isBuffer != isBuffer)
    fail("the buffer '" + (isBuffer ? name : other->name) +
         "' shares its memory with the parameter '" + (isBuffer ? other->name : name) +
         "', which is not supported");
  if (other && !isBuffer && memory[tied->second].changes != use.changes)
    fail("the parameters '" + other->name + "' and '" + name +
         "' share their memory, and only one of them is trained (requires_grad), which is not "
         "supported");
  Location loc = NameLoc::get(opBuilder.getStringAttr(name));
  auto bind = [&](const aten::MutableTensor &pairs) {
    scope[argument] = caller.ofElementType(loc, pairs, stored.weight.type, name);
  };
  if (isTied) {
    bind(state[tied->second].tensor);
    byName[given] = tied->second;
    if (names.empty())
      aliases[state[tied->second].name].push_back(given);
    return;
  }
  bool isWritten = written.contains(name);
  Weight weight = pairsOf(stored.weight);
  Value value = addVariable({.name = name,
                             .isBuffer = isBuffer,
                             .isFrozen = !isBuffer && !stored.requiresGrad,
                             .weight = weight,
                             .isKnown = !isTrained && !isWritten});
  bool isFloat = isa<FloatType>(weight.type.getElementType());
  // A buffer that the module does not save, and one of integers, is a constant unless the program
  // writes into it: shapes and indices may depend on it.
  if (isBuffer && !isWritten && (!isPersistent || !isFloat))
    value = opBuilder.create<prim::ConstantOp>(loc, weight.type, attributeOf(weight));
  aten::MutableTensor tensor = givenTensor(value, stored.weight.type, argument, name);
  if (isBuffer || !stored.requiresGrad)
    tensor.markConstant();
  else
    tensor.markLeaf();
  bind(tensor);
  byName[given] = state.size();
  if (names.size() > 1)
    aliases[name].assign(names.begin() + 1, names.end());
  byPlace.insert({stored.place, state.size()});
  state.push_back({tensor, value, name});
  memory.push_back(std::move(use));
}

void ProgramImporter::importUserInput(const std::string &argument, Scope &scope) {
  Json meta = graph.at("tensor_values").at(argument.c_str());
  std::string name = inputName(argument);
  Type element = elementType(context, meta.at("dtype").integer());
  Location loc = NameLoc::get(opBuilder.getStringAttr(name));
  auto bind = [&](Value value) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
    auto type = RankedTensorType::get(isComplex(element) ? shape.drop_back() : shape, element);
    scope[argument] =
        caller.ofElementType(loc, givenTensor(value, type, argument, name), element, name);
  };
  if (auto known = importOptions.inputs.find(name); known != importOptions.inputs.end()) {
    if (known->second.getElementType() !=
        pairsOf(RankedTensorType::get({}, element)).getElementType())
      fail("the value given for the input '" + name + "' has another element type");
    bind(opBuilder.create<prim::ConstantOp>(loc, known->second.getType(), known->second));
    return;
  }
  auto type = pairsOf(RankedTensorType::get(inputShape(argument, meta.at("sizes")), element));
  bind(addInput(type.getShape(), type.getElementType(), name));
}
