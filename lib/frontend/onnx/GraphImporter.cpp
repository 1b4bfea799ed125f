// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/GraphImporter.h"
#include "frontend/common/CustomCall.h"
#include "frontend/common/Fold.h"
#include "frontend/common/Gradient.h"
#include "frontend/onnx/CustomNode.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/SelectedNode.h"
#include "support/ModuleLocation.h"
#include "support/WorkScope.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

// Unrolled loops must end, and fit in memory.
constexpr int64_t kNodeLimit = 250000;
constexpr size_t kProblemLimit = 1000;

std::string nodeName(const onnx::NodeProto &node) {
  return !node.name().empty()     ? node.name()
         : node.output_size() > 0 ? node.output(0)
                                  : std::string();
}

using Nodes = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

void findGradientLeaves(const Nodes &nodes, llvm::StringSet<> &leaves) {
  for (const onnx::NodeProto &node : nodes)
    for (const onnx::AttributeProto &attribute : node.attribute()) {
      if (node.op_type() == "Gradient" && (attribute.name() == "xs" || attribute.name() == "zs"))
        leaves.insert(attribute.strings().begin(), attribute.strings().end());
      if (attribute.has_g())
        findGradientLeaves(attribute.g().node(), leaves);
      for (const onnx::GraphProto &graph : attribute.graphs())
        findGradientLeaves(graph.node(), leaves);
    }
}

bool isStandard(const onnx::NodeProto &node) {
  return node.domain().empty() || node.domain() == "ai.onnx";
}

bool isOfRuntime(const onnx::NodeProto &node) {
  return StringRef(node.domain()).starts_with("com.microsoft");
}

std::string fullOpType(const onnx::NodeProto &node) {
  return isStandard(node) ? node.op_type() : node.domain() + "." + node.op_type();
}

} // namespace

GraphImporter::GraphImporter(std::shared_ptr<const onnx::ModelProto> model, ModelState given,
                             StringRef directory, const ImportOptions &options,
                             MLIRContext &context)
    : ForwardBuilder(options, context), model(model), state(std::move(given)),
      tensorReader(context, model, directory), initializers(*model, state), main(nullptr),
      functions(*model) {
  for (const onnx::FunctionProto &function : model->functions())
    findGradientLeaves(function.node(), gradientLeaves);
  findGradientLeaves(model->graph().node(), gradientLeaves);
  if (model->training_info_size() > 0) {
    training.emplace(*model);
    findGradientLeaves(training->algorithm().node(), gradientLeaves);
  }
  main.opsets = &model->opset_import();
}

// ---- services for rules ----

bool GraphImporter::writtenByPyTorch() const {
  return StringRef(model->producer_name()).starts_with("pytorch");
}

bool GraphImporter::writtenByJax() const {
  return StringRef(model->producer_name()).starts_with("jax2onnx");
}

std::optional<int64_t> GraphImporter::paddingIndex(Value variable) {
  const Variable *found = findVariable(outsideBranch(variable));
  return found && state.exported ? state.exported->lookup(found->name).paddingIndex : std::nullopt;
}

// ---- names ----

std::optional<Variable> GraphImporter::variableOf(const onnx::TensorProto &tensor,
                                                  const Weight &weight) {
  InitializerKind kind = initializers.classify(tensor, weight);
  bool isTrained = training && training->isUpdated(tensor.name());
  bool isMutable = training && training->isMutable(tensor.name());
  bool isState = training && training->isOfAlgorithm(tensor.name());
  bool isFloat = isa<FloatType>(weight.type.getElementType());
  // The model's own step says what is trained. What it needs beside the parameters is kept like
  // running statistics.
  if (isState || (isMutable && !isFloat))
    kind = isMutable || isFloat ? InitializerKind::Buffer : InitializerKind::Constant;
  else if (isMutable && kind == InitializerKind::Constant)
    kind = InitializerKind::Parameter;
  if (initializes || kind == InitializerKind::Constant)
    return std::nullopt;
  return Variable{.name = tensor.name(),
                  .isBuffer = kind == InitializerKind::Buffer,
                  .isFrozen = training ? !isTrained : !initializers.isTrained(tensor.name()),
                  .weight = weight,
                  .isTrained = isTrained,
                  .isKnown = !isMutable,
                  .proof = training ? frontend::Proof::Known : initializers.proofOf(tensor),
                  .unclear = state.recovery.unclear.lookup(tensor.name())};
}

Entity GraphImporter::initializer(const onnx::TensorProto &tensor) {
  if (auto known = made.find(&tensor); known != made.end())
    return Entity(known->second);
  Weight weight = tensorReader.weight(tensor);
  Location loc = NameLoc::get(opBuilder.getStringAttr(tensor.name()));
  std::optional<Variable> variable = variableOf(tensor, weight);
  if (!variable)
    return Entity(
        opBuilder.create<prim::ConstantOp>(loc, weight.type, attributeOf(weight)).getResult());
  if (initializers.isFolded(tensor))
    warn("the initializer '" + tensor.name() +
         "' is none of the module's own parameters: PyTorch optimised the graph after exporting "
         "it, which folds "
         "parameters and removes dropout and batch statistics; for training, export with "
         "optimize=False");
  Value argument = addVariable(std::move(*variable));
  made[&tensor] = argument;
  return Entity(argument);
}

std::optional<Entity> GraphImporter::find(StringRef name, Frame &frame) {
  if (auto value = frame.values.find(name); value != frame.values.end())
    return value->second;
  std::optional<Entity> made;
  if (auto tensor = frame.initializers.find(name); tensor != frame.initializers.end())
    made = initializer(*tensor->second);
  else if (auto sparse = frame.sparseInitializers.find(name);
           sparse != frame.sparseInitializers.end()) {
    DenseElementsAttr value = tensorReader.attribute(*sparse->second);
    if (importOptions.training && isa<FloatType>(value.getElementType()))
      remark({.node = name.str(),
              .message =
                  "a sparse initializer is a constant, and is not trained; a dense one of the "
                  "same values is",
              .severity = Problem::Severity::Warning});
    made =
        Entity(opBuilder.create<prim::ConstantOp>(opBuilder.getUnknownLoc(), value.getType(), value)
                   .getResult());
  }
  if (made)
    return frame.values[name] = named(name, *made, /*isNew=*/true);
  std::optional<Entity> ofOuter = frame.outer ? find(name, *frame.outer) : std::nullopt;
  if (!ofOuter || !frame.isTaken)
    return ofOuter;
  return frame.values[name] = insideBranch(*ofOuter, frame.isTaken);
}

Entity GraphImporter::insideBranch(const Entity &entity, Value isTaken) {
  if (entity.sequence) {
    std::vector<Entity> elements;
    for (const Entity &element : *entity.sequence)
      elements.push_back(insideBranch(element, isTaken));
    return Entity::ofSequence(std::move(elements));
  }
  if (entity.selected && !entity.tensor)
    refuseSelected(entity, caller, opBuilder.getUnknownLoc());
  if (!entity.tensor || !frontend::isDifferentiable(entity.tensor.getType()) ||
      knownValue(entity.tensor))
    return entity;
  NodeBuilder node(*this, entity.tensor.getLoc());
  Tensor inside = frontend::withGradientIf(node.wrap(isTaken), node.wrap(entity.tensor));
  outside[inside] = entity.tensor;
  return Entity(inside);
}

Value GraphImporter::outsideBranch(Value value) const {
  for (auto found = outside.find(value); found != outside.end(); found = outside.find(value))
    value = found->second;
  return value;
}

Entity GraphImporter::named(StringRef name, const Entity &entity, bool isNew) {
  if (!entity.tensor || !isa<FloatType>(getElementTypeOrSelf(entity.tensor.getType())) ||
      !gradientLeaves.contains(name) || (isNew && !knownValue(entity.tensor)))
    return entity;
  return Entity(opBuilder.create<prim::OptimizationBarrierOp>(entity.tensor.getLoc(), entity.tensor)
                    .getResult());
}

Entity GraphImporter::lookup(StringRef name, Frame &frame) {
  if (name.empty())
    return Entity();
  std::optional<Entity> found = find(name, frame);
  if (!found)
    fail("uses '" + name + "', which nothing produces");
  return *found;
}

Value GraphImporter::tensorNamed(StringRef name, Frame &frame) {
  Entity entity = lookup(name, frame);
  if (entity.isBroken)
    throw FileError{}; // its problem is known
  if (entity.selected && !entity.tensor)
    refuseSelected(entity, caller, opBuilder.getUnknownLoc());
  if (!entity.tensor)
    fail("'" + name + "' is not a tensor");
  return outsideBranch(entity.tensor);
}

void GraphImporter::declare(const onnx::GraphProto &graph, Frame &frame) {
  for (const onnx::TensorProto &tensor : graph.initializer())
    frame.initializers[tensor.name()] = &tensor;
  for (const onnx::SparseTensorProto &tensor : graph.sparse_initializer())
    frame.sparseInitializers[tensor.values().name()] = &tensor;
}

// ---- inputs ----

SmallVector<int64_t> GraphImporter::inputShape(const onnx::ValueInfoProto &info) {
  SmallVector<int64_t> shape;
  SmallVector<std::string> open;
  for (const auto &[i, dimension] : llvm::enumerate(info.type().tensor_type().shape().dim())) {
    std::string position = info.name() + "." + std::to_string(i);
    std::string name = dimension.dim_param().empty() ? position : dimension.dim_param();
    if (dimension.has_dim_value()) {
      if (auto given = givenDimension(position); given && *given != dimension.dim_value())
        fail("-D " + position + "=" + Twine(*given) + ", but the model fixes it at " +
             Twine(dimension.dim_value()));
      shape.push_back(dimension.dim_value());
    } else if (std::optional<int64_t> size = openDimension(name, position)) {
      shape.push_back(*size);
    } else {
      open.push_back(name);
      shape.push_back(importOptions.openDimension.value_or(ShapedType::kDynamic));
    }
  }
  if (!open.empty())
    leftOpen(info.name(), open);
  return shape;
}

void GraphImporter::importInputs(const onnx::GraphProto &graph) {
  for (const onnx::ValueInfoProto &info : graph.input()) {
    if (main.initializers.contains(info.name()) || main.sparseInitializers.contains(info.name()))
      continue; // old files list their parameters among the inputs
    try {
      if (!info.type().has_tensor_type())
        fail("the input '" + info.name() + "' is not a tensor");
      const onnx::TypeProto::Tensor &type = info.type().tensor_type();
      if (auto known = importOptions.inputs.find(info.name());
          known != importOptions.inputs.end()) {
        if (known->second.getElementType() != elementType(context, type.elem_type()))
          fail("the value given for the input '" + info.name() + "' has another element type");
        for (int64_t i = 0; i < known->second.getType().getRank(); ++i)
          givenDimension(info.name() + "." + std::to_string(i)); // its shape says it, too
        Location loc = NameLoc::get(opBuilder.getStringAttr(info.name()));
        Value value =
            opBuilder.create<prim::ConstantOp>(loc, known->second.getType(), known->second);
        main.values[info.name()] = named(info.name(), Entity(value), /*isNew=*/true);
        continue;
      }
      if (!type.has_shape())
        fail("the input '" + info.name() + "' has no shape");
      main.values[info.name()] =
          Entity(addInput(inputShape(info), elementType(context, type.elem_type()), info.name()));
    } catch (const ImportError &error) {
      problems.push_back({"", "", error.message});
      main.values[info.name()] = Entity::broken();
    }
  }
}

// ---- nodes ----

int64_t GraphImporter::opset(const onnx::NodeProto &node, const Frame &frame) const {
  bool standard = isStandard(node);
  for (const Frame *at = &frame; at; at = at->outer)
    if (at->opsets)
      for (const onnx::OperatorSetIdProto &set : *at->opsets)
        if (set.domain() == node.domain() ||
            (standard && (set.domain().empty() || set.domain() == "ai.onnx")))
          return set.version();
  // A function need not repeat what the model says.
  return &frame != &main ? opset(node, main) : 1;
}

Location GraphImporter::location(const onnx::NodeProto &node) {
  Location loc = NameLoc::get(opBuilder.getStringAttr(nodeName(node)),
                              NameLoc::get(opBuilder.getStringAttr(fullOpType(node))));
  return withModule(loc, Evidence::placeOf(node));
}

Entities GraphImporter::runRule(const onnx::NodeProto &node, Frame &frame, Entities inputs) {
  bool broken = llvm::any_of(inputs, [](const Entity &input) { return input.isBroken; });
  // First: who gives a library means its operators, whatever bodies the file has for them.
  if (const prim::CustomOperator *custom =
          prim::findCustomOperator(&context, node.domain() + "::" + node.op_type())) {
    if (broken)
      return {};
    Node view(*this, frame, node, opset(node, frame), location(node), std::move(inputs));
    return build([&] { return customNode(view, *custom); });
  }
  if (const Function *function = functions.find(node)) // a broken input spoils only its users
    return importCall(*function, node, frame, inputs);
  const OpRow *op = findOp(node.domain(), node.op_type());
  if (!op)
    fail(isStandard(node)    ? "the operator is not supported"
         : isOfRuntime(node) ? "the operator is not supported: ONNX Runtime writes it when it "
                               "optimizes a model for inference; compile the file that it read"
                             : kUnknownOperator);
  if (opset(node, frame) < op->oldest)
    fail("the form of operator sets before " + Twine(op->oldest) + " is not supported");
  if (broken)
    return {};
  Node view(*this, frame, node, opset(node, frame), location(node), std::move(inputs));
  if (std::optional<Entities> results = SelectedNode(view, caller, view.loc()).run())
    return *results;
  return build([&] { return op->rule(view); });
}

void GraphImporter::count(int64_t nodes) {
  importedNodes += nodes;
  if (importedNodes > kNodeLimit)
    throw ImportAbort{"the model has more than " + std::to_string(kNodeLimit) +
                      " nodes once its loops are unrolled, its functions inlined and its gradients "
                      "taken"};
}

void GraphImporter::importNode(const onnx::NodeProto &node, Frame &frame) {
  count();
  WorkScope scope(node.name().empty() && node.output_size() > 0 ? node.output(0) : node.name(),
                  node.op_type());
  std::string outer = std::move(diagnostics);
  diagnostics.clear();
  Entities results;
  Operation *last = body->empty() ? nullptr : &body->back();
  try {
    Entities inputs;
    for (const std::string &name : node.input())
      inputs.push_back(lookup(name, frame));
    results = runRule(node, frame, std::move(inputs));
  } catch (const FileError &) {
    results.clear();
  } catch (const ImportError &error) {
    std::string message = diagnostics.empty() ? error.message : diagnostics;
    problems.push_back({nodeName(node), fullOpType(node), message});
    results.clear();
  }
  diagnostics = std::move(outer);
  auto isNew = [&](const Entity &result) {
    Operation *op = result.tensor ? result.tensor.getDefiningOp() : nullptr;
    return op && (!last || last->isBeforeInBlock(op));
  };
  for (const auto &[i, name] : llvm::enumerate(node.output()))
    if (!name.empty())
      frame.values[name] =
          i < results.size() ? named(name, results[i], isNew(results[i])) : Entity::broken();
  if (problems.size() > kProblemLimit)
    throw ImportAbort{"more than " + std::to_string(kProblemLimit) +
                      " problems; the first: " + describe(problems.front())};
}

void GraphImporter::importNodes(const google::protobuf::RepeatedPtrField<onnx::NodeProto> &nodes,
                                Frame &frame) {
  for (const onnx::NodeProto &node : nodes)
    importNode(node, frame);
}

Entities GraphImporter::importSubgraph(const onnx::GraphProto &graph, Frame &outer,
                                       ArrayRef<Entity> inputs, Value isTaken) {
  count();
  Frame frame(&outer);
  frame.isTaken = isTaken;
  declare(graph, frame);
  if (static_cast<size_t>(graph.input_size()) != inputs.size())
    fail("a subgraph takes " + Twine(graph.input_size()) + " inputs but is given " +
         Twine(inputs.size()));
  for (auto [info, input] : llvm::zip(graph.input(), inputs))
    frame.values[info.name()] = named(info.name(), input, /*isNew=*/false);
  importNodes(graph.node(), frame);
  Entities results;
  for (const onnx::ValueInfoProto &output : graph.output())
    results.push_back(lookup(output.name(), frame));
  return results;
}

Entities GraphImporter::importCall(const Function &called, const onnx::NodeProto &node,
                                   Frame &caller, ArrayRef<Entity> inputs) {
  const onnx::FunctionProto &function = *called.proto;
  Frame frame(nullptr);
  frame.opsets = &function.opset_import();
  Node call(*this, caller, node, opset(node, caller), location(node), {});
  for (const onnx::AttributeProto &attribute : called.defaults)
    frame.attributes[attribute.name()] = &attribute;
  for (const onnx::AttributeProto &attribute : node.attribute())
    if (const onnx::AttributeProto *value = call.find(attribute.name()))
      frame.attributes[attribute.name()] = value;
  for (const auto &[i, name] : llvm::enumerate(function.input()))
    frame.values[name] = i < inputs.size() ? named(name, inputs[i], /*isNew=*/false) : Entity();
  importNodes(function.node(), frame);
  Entities results;
  for (const std::string &name : function.output())
    results.push_back(lookup(name, frame));
  return results;
}

// ---- the function ----

ImportResult GraphImporter::run() {
  SmallVector<const onnx::GraphProto *> graphs = {&model->graph()};
  if (training) {
    graphs.push_back(&training->algorithm());
    for (const std::string &problem : training->problems())
      problems.push_back({.message = problem});
  }
  for (const onnx::GraphProto *graph : graphs) {
    declare(*graph, main);
    importInputs(*graph);
  }
  checkDimensions();
  for (const onnx::GraphProto *graph : graphs)
    importNodes(graph->node(), main);
  for (const std::string &problem : tensorReader.fileProblems())
    problems.push_back({.message = problem});

  std::vector<ForwardOutput> outputs = importOutputs();
  bindUpdates();
  ImportResult result;
  finish(outputs, result);
  reportState(result);
  // Those of a training step are not for --loss.
  for (const onnx::ValueInfoProto &output : model->graph().output())
    if (!training)
      result.outputs.push_back(output.name());
  result.dataFiles = tensorReader.dataFiles();
  reportFindings(result);
  return result;
}

ImportResult GraphImporter::runInitialization(const WeightTable &weights) {
  initializes = true;
  declare(training->initialization(), main);
  importNodes(training->initialization().node(), main);
  for (const std::string &problem : tensorReader.fileProblems())
    problems.push_back({.message = problem});
  std::vector<ForwardOutput> outputs;
  for (const auto &[variable, value] : training->initials()) {
    auto known = weights.find(variable);
    if (known == weights.end())
      continue; // no step reads it
    ForwardOutput output{.name = variable};
    importOutput(value, output);
    if (!output.value)
      continue;
    checkAssigned("initialization_binding", variable, value, known->second.type,
                  output.value.getType());
    outputs.push_back(std::move(output));
  }
  ImportResult result;
  finish(outputs, result);
  result.dataFiles = tensorReader.dataFiles();
  reportFindings(result);
  return result;
}
