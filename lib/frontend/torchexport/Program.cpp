// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/torchexport/Program.h"
#include "frontend/aten/Numbers.h"
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Selection.h"
#include "frontend/common/CustomCall.h"
#include "frontend/common/Gradient.h"
#include "support/ModuleLocation.h"
#include "support/WorkScope.h"

#include "llvm/ADT/ScopeExit.h"

#include <utility>

using namespace mlir;
using namespace accc;
using namespace accc::torchexport;

// Far beyond any program that was exported.
static constexpr int64_t kNodeLimit = 1 << 20;
static constexpr size_t kProblemLimit = 1000;

ProgramImporter::ProgramImporter(const Json &program, Weights &weights,
                                 const std::set<std::string> &written, const ImportOptions &options,
                                 MLIRContext &context)
    : ForwardBuilder(options, context), program(program),
      graph(program.at("graph_module").at("graph")),
      signature(program.at("graph_module").at("signature")), weights(weights), caller(*this),
      written(written) {}

/// "blocks.0.fc1" of "L__self__,,__main__.M;L__self___blocks_0,blocks.0,torch.nn.X": the innermost
/// module of the call's stack.
static std::string moduleOf(const Json &node) {
  std::optional<Json> metadata = node.find("metadata");
  std::optional<Json> stack = metadata ? metadata->find("nn_module_stack") : std::nullopt;
  if (!stack)
    return "";
  std::string text = stack->string();
  llvm::StringRef last = llvm::StringRef(text).rsplit(';').second;
  if (last.empty())
    last = text;
  return last.split(',').second.split(',').first.str();
}

/// "aten.add.Tensor" of "torch.ops.aten.add.Tensor".
static std::string shortName(llvm::StringRef target) {
  target.consume_front("torch.ops.");
  return target.str();
}

Location ProgramImporter::location(const Json &node) {
  std::optional<Json> name = node.find("name");
  std::string target = shortName(node.at("target").string());
  Location loc = NameLoc::get(opBuilder.getStringAttr(name ? name->string() : target),
                              NameLoc::get(opBuilder.getStringAttr(target)));
  return withModule(loc, moduleOf(node));
}

// ---- arguments ----

aten::Local ProgramImporter::lookup(const std::string &name, const Scope &scope) {
  auto found = scope.find(name);
  if (found == scope.end())
    fail("uses '" + name + "', which no supported operator gives");
  if (auto *tensor = std::get_if<aten::MutableTensor>(&found->second); tensor && !*tensor)
    throw FileError{}; // its problem is known
  return found->second;
}

/// A number or the name of one: SymInt, SymFloat or SymBool argument.
template <typename Plain>
static aten::Local symbolic(const Json &argument, const char *plain, Plain read,
                            llvm::function_ref<aten::Local(const std::string &)> look) {
  if (argument.tag() == plain)
    return read(argument.content());
  return look(argument.content().string());
}

/// A memory format by its number in the file.
static aten::MemoryFormat memoryFormat(int64_t code) {
  using enum aten::MemoryFormat;
  constexpr aten::MemoryFormat kFormats[] = {Contiguous, ChannelsLast, ChannelsLast3d, Preserve};
  if (code < 1 || code > 4)
    fail("the memory format " + Twine(code) + " is not known");
  return kFormats[code - 1];
}

aten::MutableTensor ProgramImporter::tensorOf(const aten::Local &value, const std::string &name) {
  if (auto *selection = std::get_if<aten::Selection>(&value))
    caller.requireKnown(opBuilder.getUnknownLoc(), selection->mask);
  auto *tensor = std::get_if<aten::MutableTensor>(&value);
  if (!tensor)
    fail("'" + name + "' is no tensor");
  return *tensor;
}

aten::MutableTensor ProgramImporter::lookupTensor(const std::string &name, const Scope &scope) {
  return tensorOf(lookup(name, scope), name);
}

aten::Local ProgramImporter::argument(const Json &argument, const Scope &scope) {
  std::string kind = argument.tag();
  Json value = argument.content();
  auto look = [&](const std::string &name) { return lookup(name, scope); };
  if (kind == "as_none")
    return aten::NoValue();
  if (kind == "as_tensor")
    return look(value.at("name").string());
  if (kind == "as_tensors" || kind == "as_optional_tensors") {
    SmallVector<aten::Local> list;
    for (size_t i = 0; i < value.size(); ++i) {
      Json each = value.at(i);
      bool isNone = kind == "as_optional_tensors" && each.tag() == "as_none";
      Json name = kind == "as_tensors" ? each : each.content();
      list.push_back(isNone ? aten::Local(aten::NoValue()) : look(name.at("name").string()));
    }
    return aten::listOfTensors(list);
  }
  if (kind == "as_int")
    return value.integer();
  if (kind == "as_float")
    return value.real();
  if (kind == "as_bool")
    return value.boolean();
  if (kind == "as_complex")
    return caller.complexNumber(opBuilder.getUnknownLoc(), value.at("real").real(),
                                value.at("imag").real());
  if (kind == "as_string")
    return value.string();
  if (kind == "as_ints" || kind == "as_floats" || kind == "as_bools") {
    aten::Integers integers;
    aten::Reals reals;
    aten::Booleans booleans;
    for (size_t i = 0; i < value.size(); ++i)
      if (kind == "as_ints")
        integers.push_back(value.at(i).integer());
      else if (kind == "as_floats")
        reals.push_back(value.at(i).real());
      else
        booleans.push_back(value.at(i).boolean());
    return kind == "as_ints"     ? aten::Local(integers)
           : kind == "as_floats" ? aten::Local(reals)
                                 : aten::Local(booleans);
  }
  if (kind == "as_sym_int")
    return symbolic(value, "as_int", [](const Json &v) { return v.integer(); }, look);
  if (kind == "as_sym_float")
    return symbolic(value, "as_float", [](const Json &v) { return v.real(); }, look);
  if (kind == "as_sym_bool")
    return symbolic(value, "as_bool", [](const Json &v) { return v.boolean(); }, look);
  if (kind == "as_sym_ints") {
    SmallVector<aten::Local> sizes;
    for (size_t i = 0; i < value.size(); ++i)
      sizes.push_back(
          symbolic(value.at(i), "as_int", [](const Json &v) { return v.integer(); }, look));
    return aten::listOfSizes(caller, opBuilder.getUnknownLoc(), sizes);
  }
  if (kind == "as_scalar_type")
    return elementType(context, value.integer());
  if (kind == "as_memory_format")
    return memoryFormat(value.integer());
  if (kind == "as_device" || kind == "as_layout")
    return aten::Irrelevant();
  fail("arguments of the kind '" + kind + "' are not supported");
}

std::optional<aten::Layout> ProgramImporter::layoutOf(const std::string &name,
                                                      ArrayRef<int64_t> shape) {
  std::optional<Json> meta = tensorValues ? tensorValues->find(name.c_str()) : std::nullopt;
  if (!meta)
    return std::nullopt;
  auto known = [](const Json &list) -> std::optional<SmallVector<int64_t>> {
    SmallVector<int64_t> numbers;
    for (size_t i = 0; i < list.size(); ++i)
      if (list.at(i).tag() == "as_int")
        numbers.push_back(plainSize(list.at(i)));
    return numbers.size() == list.size() ? std::optional(numbers) : std::nullopt;
  };
  auto sizes = known(meta->at("sizes")), strides = known(meta->at("strides"));
  Json offset = meta->at("storage_offset");
  // No tensor is larger; what the file says beyond that is wrong.
  constexpr int64_t kLargest = int64_t(1) << 40;
  auto isSound = [](int64_t number) { return number >= 0 && number <= kLargest; };
  bool fits = sizes && strides && ArrayRef(*sizes) == shape && strides->size() == sizes->size() &&
              llvm::all_of(*strides, isSound) && offset.tag() == "as_int" &&
              isSound(plainSize(offset));
  return fits ? std::optional(aten::Layout(*sizes, *strides, plainSize(offset))) : std::nullopt;
}

void ProgramImporter::lay(const Json &output, const Scope &scope) {
  auto layTensor = [&](const std::string &name) {
    if (!levelsOf(name).empty())
      return; // the file says it of one element of a batch
    auto bound = scope.find(name);
    auto *tensor =
        bound == scope.end() ? nullptr : std::get_if<aten::MutableTensor>(&bound->second);
    if (!tensor || !*tensor)
      return;
    ArrayRef<int64_t> shape = tensor->shape();
    if (std::optional<aten::Layout> layout = layoutOf(name, shape))
      aten::MutableTensor(*tensor).setLayout(*layout);
  };
  if (output.tag() == "as_tensor")
    layTensor(output.content().at("name").string());
  if (output.tag() == "as_tensors")
    for (size_t i = 0; i < output.content().size(); ++i)
      layTensor(output.content().at(i).at("name").string());
}

aten::MutableTensor ProgramImporter::givenTensor(Value value, RankedTensorType type,
                                                 const std::string &argument,
                                                 const std::string &name) {
  aten::Layout layout =
      layoutOf(argument, type.getShape()).value_or(aten::Layout::contiguous(type.getShape()));
  return aten::MutableTensor(value, name, isComplex(type) ? layout.asPairs() : layout);
}

void ProgramImporter::bind(const Json &output, aten::Local value, Scope &scope) {
  std::string kind = output.tag();
  if (kind == "as_none")
    return;
  Json names = output.content();
  if (kind == "as_tensor") {
    if (std::holds_alternative<aten::NoValue>(value)) // a result that is not supported
      return;
    scope[names.at("name").string()] = std::move(value);
  } else if (kind == "as_tensors") {
    auto *selections = std::get_if<aten::Selections>(&value);
    for (size_t i = 0; selections && i < names.size() && i < selections->size(); ++i)
      scope[names.at(i).at("name").string()] = (*selections)[i];
    if (selections)
      return;
    auto *list = std::get_if<aten::MutableTensors>(&value);
    if (!list || list->size() < names.size())
      fail("gives fewer tensors than the file says");
    for (size_t i = 0; i < names.size(); ++i)
      scope[names.at(i).at("name").string()] = (*list)[i];
  } else if (names.tag() == "as_name") { // as_sym_int and its like
    scope[names.content().string()] = std::move(value);
  }
}

void ProgramImporter::asParameter(const Json &output, Scope &scope) {
  if (output.tag() != "as_tensor")
    return;
  std::string name = output.content().at("name").string();
  auto left = leftInParameters.find(name);
  auto *tensor =
      left == leftInParameters.end() ? nullptr : std::get_if<aten::MutableTensor>(&scope.at(name));
  if (!tensor || !*tensor)
    return;
  Location loc = NameLoc::get(opBuilder.getStringAttr(name));
  Value value = caller.read(loc, *tensor);
  Value parameter = caller.read(loc, lookupTensor(left->second, scope));
  if (value.getType() == parameter.getType())
    *tensor =
        aten::MutableTensor(straightThrough(*this, loc, value, parameter), name, tensor->layout());
}

// ---- nodes ----

static constexpr llvm::StringRef kOperators = "_operator.", kPrims = "torch.ops.prims.",
                                 kHigherOrder = "torch.ops.higher_order.",
                                 kOldHigherOrder = "torch._higher_order_ops.wrap.", // 2.4
    kFunctorch = "torch._functorch.predispatch.";

bool accc::torchexport::isOfSizes(llvm::StringRef target) {
  return target == "torch.ops.aten.sym_size.int" || target == "torch.ops.aten.sym_numel.default" ||
         llvm::any_of(ArrayRef<llvm::StringRef>{kOperators, "torch.sym_", "torch._sym_", "math."},
                      [&](llvm::StringRef prefix) { return target.starts_with(prefix); });
}

aten::Local ProgramImporter::evaluateSizes(Location loc, llvm::StringRef target,
                                           ArrayRef<aten::Local> arguments) {
  bool isOfAll = target == "torch.ops.aten.sym_numel.default";
  if (!isOfAll && target != "torch.ops.aten.sym_size.int") {
    llvm::StringRef name = target.rsplit('.').second;
    bool hasData = llvm::any_of(arguments, [](const aten::Local &each) {
      return std::holds_alternative<aten::MutableTensor>(each);
    });
    return hasData ? aten::evaluateNumbers(caller, loc, name, arguments)
                   : aten::evaluateNumbers(name, arguments);
  }
  auto *number = arguments.size() == 2 ? std::get_if<int64_t>(&arguments[1]) : nullptr;
  auto dim = number ? std::optional(*number) : std::nullopt;
  if (auto *selection = std::get_if<aten::Selection>(&arguments.front()))
    return aten::sizeOf(caller, loc, *selection, isOfAll ? std::nullopt : dim);
  auto *tensor = std::get_if<aten::MutableTensor>(&arguments.front());
  auto type = tensor ? cast<RankedTensorType>(tensor->type()) : RankedTensorType();
  if (type && isOfAll)
    return type.getNumElements();
  if (!type || !dim || *dim < -type.getRank() || *dim >= type.getRank())
    fail("asks for a size that the tensor does not have");
  return type.getDimSize(static_cast<unsigned>(*dim < 0 ? *dim + type.getRank() : *dim));
}

/// Whether a node gives the number that a tensor is.
static bool isOfElement(llvm::StringRef target) {
  return target == "torch.ops.aten.item.default" ||
         target == "torch.ops.aten._local_scalar_dense.default";
}

aten::Local ProgramImporter::elementOf(Location loc, const aten::Local &tensor) {
  auto *given = std::get_if<aten::MutableTensor>(&tensor);
  if (!given || isComplex(given->type()))
    fail("asks for the element of what is no tensor of reals");
  DenseElementsAttr known = NodeBuilder(*this, loc).given(caller.read(loc, *given));
  return known ? aten::numberOf(known) : aten::numberOf(caller, loc, *given);
}

/// "acme::swish" of "torch.ops.acme.swish.default".
static std::string customName(llvm::StringRef target) {
  if (!target.consume_front("torch.ops."))
    return "";
  auto [space, name] = target.split('.');
  return (space + "::" + name.split('.').first).str();
}

/// "add.Tensor" of "torch.ops.aten.add.Tensor", "torchvision::nms.default" of
/// "torch.ops.torchvision.nms.default"; nothing for operators of unknown libraries.
static std::optional<std::string> nameInTable(llvm::StringRef target) {
  if (!target.consume_front("torch.ops."))
    return std::nullopt;
  auto [library, name] = target.split('.');
  std::optional<std::string> prefix = aten::prefixOfLibrary(library);
  return prefix ? std::optional(*prefix + name.str()) : std::nullopt;
}

/// Takes "torch.ops.prims." off an operator that is ATen's of the same name where both operands
/// have one type. PyTorch's derivatives in forward mode are made of them.
static bool consumePrim(llvm::StringRef &name) {
  llvm::StringRef prim = name;
  if (!prim.consume_front(kPrims) ||
      !llvm::is_contained({"add", "sub", "mul", "neg"}, prim.split('.').first))
    return false;
  name = prim;
  return true;
}

/// Whether a node's outputs are so many tensors.
static bool givesTensors(const Json &outputs, size_t count) {
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs.at(i).tag() != "as_tensor")
      return false;
  return outputs.size() == count;
}

std::vector<aten::Local> ProgramImporter::runNode(const Json &node, const std::string &target,
                                                  Scope &scope) {
  Json inputs = node.at("inputs");
  auto argumentAt = [&](size_t i) { return argument(inputs.at(i).at("arg"), scope); };
  llvm::StringRef name = target;
  if (name.consume_front(kFunctorch))
    return runVmap(node, name, scope);
  bool isBatched = !levelsOfInputs(node).empty();
  if (name.consume_front(kHigherOrder) || name.consume_front(kOldHigherOrder))
    return runHigherOrder(node, name, scope);
  if (isOfSizes(name)) {
    std::vector<aten::NamedLocal> given;
    for (size_t i = 0; i < inputs.size(); ++i)
      given.push_back({"", argumentAt(i)});
    std::vector<aten::Local> values;
    for (const aten::NamedLocal &each : firstOfBatch(node, given))
      values.push_back(each.value);
    return {evaluateSizes(location(node), target, values)};
  }
  if (isOfElement(name) && inputs.size() == 1 && !isBatched)
    return {elementOf(location(node), argumentAt(0))};
  return callOperator(node, target, /*first=*/0, scope);
}

std::vector<aten::Local> ProgramImporter::callOperator(const Json &node, llvm::StringRef name,
                                                       size_t first, const Scope &scope) {
  Json inputs = node.at("inputs");
  bool isBatched = !levelsOfInputs(node).empty();
  const prim::CustomOperator *custom = prim::findCustomOperator(&context, customName(name));
  std::optional<std::string> op = consumePrim(name) ? name.str() : nameInTable(name);
  if (!custom && !op)
    fail(frontend::kUnknownOperator);
  std::vector<aten::NamedLocal> arguments;
  for (size_t i = first; i < inputs.size(); ++i)
    arguments.push_back(
        {inputs.at(i).at("name").string(), argument(inputs.at(i).at("arg"), scope)});
  std::optional<Json> called = node.find("name");
  std::string resultName = called ? called->string() : name.str();
  if (isBatched && isAutocast)
    fail("autocast is not supported inside of torch.vmap");
  if (!custom)
    return isBatched ? callBatched(node, *op, arguments, resultName)
                     : callCast(node, *op, arguments, resultName);
  if (!givesTensors(node.at("outputs"), static_cast<size_t>(custom->functions->num_outputs)))
    fail("the operator does not return " + Twine(custom->functions->num_outputs) + " tensors, as " +
         custom->library + " says; one that writes into its arguments is not supported");
  return isBatched ? callBatched(node, *custom, arguments, resultName)
                   : caller.callCustom(location(node), *custom, arguments, resultName);
}

void ProgramImporter::importNode(const Json &node, Scope &scope) {
  if (++importedNodes > kNodeLimit)
    throw ImportAbort{"the program has more than " + std::to_string(kNodeLimit) + " nodes"};
  std::string target = node.at("target").string(), op = shortName(target);
  std::optional<Json> given = node.find("name");
  std::string name = given ? given->string() : "";
  WorkScope work(name, op);
  Json outputs = node.at("outputs");
  std::string outer = std::move(diagnostics);
  diagnostics.clear();
  bool isBroken = false;
  try {
    std::vector<aten::Local> results = runNode(node, target, scope);
    for (size_t i = 0; i < outputs.size(); ++i) {
      bind(outputs.at(i), i < results.size() ? std::move(results[i]) : aten::NoValue(), scope);
      asParameter(outputs.at(i), scope);
      lay(outputs.at(i), scope);
    }
  } catch (const FileError &) {
    isBroken = true;
  } catch (const ImportError &error) {
    problems.push_back({name, op, diagnostics.empty() ? error.message : diagnostics});
    isBroken = true;
  }
  diagnostics = std::move(outer);
  // Empty tensors, whose readers say nothing more.
  for (size_t i = 0; isBroken && i < outputs.size(); ++i) {
    Json output = outputs.at(i);
    if (output.tag() == "as_tensors")
      bind(output, aten::MutableTensors(output.content().size()), scope);
    else
      bind(output, aten::MutableTensor(), scope);
  }
  if (problems.size() > kProblemLimit)
    throw ImportAbort{"more than " + std::to_string(kProblemLimit) +
                      " problems; the first: " + describe(problems.front())};
}

void ProgramImporter::importNodes(const Json &body, Scope &scope, Batches *around) {
  auto outer = std::exchange(tensorValues, body.find("tensor_values"));
  Batches inside = around ? *around : Batches();
  std::swap(batches, inside);
  auto restore = llvm::make_scope_exit([&] {
    tensorValues = outer;
    std::swap(batches, inside);
    if (around)
      *around = std::move(inside);
  });
  Json nodes = body.at("nodes");
  std::set<size_t> left = assertionsOf(body);
  for (size_t i = 0; i < nodes.size(); ++i)
    if (left.contains(i))
      checkAssertion(nodes.at(i), scope);
    else
      importNode(nodes.at(i), scope);
}

// ---- the function ----

bool ProgramImporter::isDecomposed() const {
  if (program.at("schema_version").at("major").integer() < 8)
    return false; // the file does not tell
  std::optional<Json> verifiers = program.find("verifiers");
  for (size_t i = 0; verifiers && i < verifiers->size(); ++i)
    if (verifiers->at(i).string() == "TRAINING")
      return false;
  return verifiers.has_value();
}

ImportResult ProgramImporter::run() {
  Scope scope;
  if (importOptions.training && isDecomposed() && !isJoint())
    warn("the program was decomposed (run_decompositions), which drops torch.no_grad() and "
         "detach(): if the model has them, gradients flow where they did not; save what "
         "torch.export.export gives instead");
  tensorValues = graph.find("tensor_values");
  floatByDefault = defaultFloatOf(graph, context);
  importInputs(scope);
  importNodes(graph, scope);
  ImportResult result;
  importOutputs(scope, result);
  finish(outputs, result);
  reportFindings(result);
  return result;
}
