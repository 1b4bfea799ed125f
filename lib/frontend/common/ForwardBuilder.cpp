// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/ForwardBuilder.h"
#include "frontend/common/FullPrecision.h"
#include "frontend/common/ImportError.h"
#include "frontend/common/TensorTypes.h"
#include "frontend/common/WideNode.h"
#include "ir/interfaces/InferenceError.h"
#include "ir/nn/Nn.h"
#include "support/Suggest.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace accc;
using namespace accc::frontend;

std::string accc::frontend::partName(StringRef key, size_t part, ArrayRef<std::string> keys) {
  std::string name = (key + "_" + llvm::Twine(part)).str();
  while (llvm::is_contained(keys, name))
    name += "_";
  return name;
}

ForwardBuilder::ForwardBuilder(const ImportOptions &options, MLIRContext &context)
    : importOptions(options), context(context), opBuilder(&context),
      handler(&context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          diagnostics += (diagnostics.empty() ? "" : "; ") + diagnostic.str();
        return success();
      }) {
  context.loadDialect<func::FuncDialect, prim::PrimDialect, nn::NnDialect>();
  for (const std::string &pattern : options.frozen) {
    llvm::Expected<NamePattern> names = NamePattern::parse("--freeze", pattern);
    if (!names)
      fail(llvm::toString(names.takeError()));
    frozen.push_back(std::move(*names));
  }
  module = ModuleOp::create(opBuilder.getUnknownLoc());
  opBuilder.setInsertionPointToEnd(module->getBody());
  forward = opBuilder.create<func::FuncOp>(opBuilder.getUnknownLoc(), "forward",
                                           opBuilder.getFunctionType({}, {}));
  body = forward.addEntryBlock();
  opBuilder.setInsertionPointToEnd(body);
}

// ---- arguments ----

Value ForwardBuilder::addArgument(RankedTensorType type, StringRef name) {
  return body->addArgument(type, NameLoc::get(opBuilder.getStringAttr(name)));
}

Value ForwardBuilder::addInput(ArrayRef<int64_t> shape, Type elementType, StringRef name) {
  RankedTensorType type;
  try {
    type = tensorType(shape, elementType);
  } catch (const ImportError &error) {
    fail("the input '" + name + "': " + error.message);
  }
  Value argument = addArgument(type, name);
  inputs.push_back({argument, prim::Role::Input});
  return argument;
}

Value ForwardBuilder::addVariable(Variable variable) {
  variable.argument = addArgument(variable.weight.type, variable.name);
  variable.isFrozen |= llvm::any_of(
      frozen, [&](const NamePattern &names) { return names.matches(variable.name, {}); });
  byArgument[variable.argument] = variables.size();
  variables.push_back(std::move(variable));
  return variables.back().argument;
}

Variable *ForwardBuilder::findVariable(Value argument) {
  auto found = byArgument.find(argument);
  return found == byArgument.end() ? nullptr : &variables[found->second];
}

GivenValues ForwardBuilder::initialValues() {
  auto has = [this](Value argument) {
    Variable *found = findVariable(argument);
    return found && found->isKnown;
  };
  auto of = [this](Value argument) {
    Variable *found = findVariable(argument);
    found->isAskedFor = true;
    return attributeOf(found->weight);
  };
  return {has, of};
}

void ForwardBuilder::markBuffer(Value variable) {
  if (Variable *found = findVariable(variable))
    found->isBuffer = true;
}

void ForwardBuilder::markUnclear(Value variable, StringRef why) {
  if (Variable *found = findVariable(variable); found && found->proof != Proof::Known)
    found->unclear = why.str();
}

bool ForwardBuilder::bindUpdate(Value variable, Value update) {
  Variable *found = findVariable(variable);
  if (!found)
    return false;
  found->isBuffer = true;
  found->update = update;
  return true;
}

void ForwardBuilder::bindWrite(Value variable, Value written) {
  Variable *found = findVariable(variable);
  if (found && !found->isBuffer && !found->isFrozen)
    found->update = written;
  else
    bindUpdate(variable, written);
}

Value ForwardBuilder::updatedVariable(Value value) {
  for (auto &[argument, index] : byArgument)
    if (variables[index].update == value)
      return argument;
  return value;
}

ForwardBuilder::Updates ForwardBuilder::updates() const {
  Updates found;
  for (const Variable &variable : variables)
    if (variable.update)
      found[variable.argument] = variable.update;
  return found;
}

void ForwardBuilder::setUpdates(const Updates &updates) {
  for (Variable &variable : variables)
    variable.update = updates.lookup(variable.argument);
}

Value ForwardBuilder::latest(Value variable) {
  Variable *found = findVariable(variable);
  return found && found->update ? found->update : variable;
}

Value ForwardBuilder::randomKey() {
  if (!key) {
    key = addArgument(RankedTensorType::get({2}, opBuilder.getI64Type()), "random_key");
    inputs.push_back({key, prim::Role::RandomKey});
  }
  return key;
}

// ---- open dimensions ----

std::optional<int64_t> ForwardBuilder::givenDimension(const std::string &name) {
  auto given = importOptions.dimensions.find(name);
  if (given == importOptions.dimensions.end())
    return std::nullopt;
  usedDimensions.insert(name);
  return given->second;
}

std::optional<int64_t> ForwardBuilder::openDimension(const std::string &name,
                                                     const std::string &position) {
  openDimensions.insert(name);
  std::optional<int64_t> byPosition = givenDimension(position), byName = givenDimension(name);
  return byName ? byName : byPosition;
}

void ForwardBuilder::leftOpen(StringRef input, ArrayRef<std::string> open) {
  std::string fixes;
  missingDimensions.insert(open.begin(), open.end());
  for (const std::string &name : open)
    fixes += (fixes.empty() ? "-D " : " -D ") + name + "=N";
  if (!importOptions.openDimension)
    fail("the input '" + input + "' has open dimensions: fix them with " + fixes);
  warn("the open dimensions of the input '" + input.str() + "' are taken as " +
       std::to_string(*importOptions.openDimension) + "; others with " + fixes);
}

void ForwardBuilder::checkDimensions() {
  for (const auto &[name, size] : importOptions.dimensions)
    if (!usedDimensions.contains(name)) {
      unknownDimensions.push_back(name);
      std::string has;
      for (const std::string &open : openDimensions)
        has += std::string(has.empty() ? "'" : ", '") + open + "'";
      problems.push_back(
          {.message = "-D " + name + ": no input leaves a dimension of this name open (" +
                      (has.empty() ? "none is open" : "open: " + has) + ")" +
                      didYouMean(name, {openDimensions.begin(), openDimensions.end()}),
           .fault = Fault::Usage});
    }
}

// ---- findings ----

void ForwardBuilder::remark(Problem problem) {
  if (!llvm::is_contained(remarks, problem))
    remarks.push_back(std::move(problem));
}

// ---- rules ----

/// The entity with other tensors.
static Entity mapped(const Entity &entity, function_ref<Value(Value)> map) {
  Entity result = entity;
  if (entity.tensor)
    result.tensor = map(entity.tensor);
  if (entity.sequence) {
    std::vector<Entity> elements;
    for (const Entity &each : *entity.sequence)
      elements.push_back(mapped(each, map));
    result.sequence = std::make_shared<const std::vector<Entity>>(std::move(elements));
  }
  return result;
}

void ForwardBuilder::settle(Operation *last, Entities &results, ReplaceHeld replaceHeld) {
  auto sinceLast = [&] {
    SmallVector<Operation *> built;
    for (Operation *op = last ? last->getNextNode() : &body->front(); op; op = op->getNextNode())
      if (!settled.contains(op))
        built.push_back(op);
    return built;
  };
  auto verifyAll = [](ArrayRef<Operation *> ops) {
    // Sizes first: verifiers and folding multiply extents.
    for (Operation *op : ops)
      for (Type type : op->getResultTypes()) {
        auto tensor = cast<RankedTensorType>(type);
        tensorType(tensor.getShape(), tensor.getElementType());
      }
    for (Operation *op : ops)
      if (failed(mlir::verify(op, /*verifyRecursively=*/false)))
        fail("is not valid here");
  };
  if (body->empty())
    return;
  SmallVector<Operation *> built = sinceLast();
  verifyAll(built);
  auto replaceAll = [&](function_ref<Value(Value)> replaced) {
    for (Entity &entity : results)
      entity = mapped(entity, replaced);
    for (Variable &variable : variables)
      if (variable.update)
        variable.update = replaced(variable.update);
    replaceHeld(replaced);
  };
  auto replaceBy = [&](const llvm::DenseMap<Value, Value> &others) {
    if (!others.empty())
      replaceAll([&](Value value) {
        auto found = others.find(value);
        return found == others.end() ? value : found->second;
      });
  };
  if (isFullPrecision) {
    replaceBy(keepFullPrecision(built));
    built = sinceLast();
    verifyAll(built);
  }
  WideNode wide(built, opBuilder);
  if (wide.hasChanged()) {
    replaceAll([&](Value value) { return wide.narrowed(value); });
    built = sinceLast();
    verifyAll(built);
  }
  llvm::DenseMap<Value, Value> folded;
  for (Operation *op : built) {
    SmallVector<Value> constants = foldConstant(op);
    for (auto [result, constant] : llvm::zip(op->getResults(), constants)) {
      folded[result] = constant;
      result.replaceAllUsesWith(constant);
    }
  }
  replaceBy(folded);
  if (depth > 1)
    for (Operation *op : sinceLast())
      settled.insert(op);
}

Entities ForwardBuilder::build(llvm::function_ref<Entities()> rule, ReplaceHeld replaceHeld) {
  Operation *last = body->empty() ? nullptr : &body->back();
  Entities results;
  llvm::SaveAndRestore nested(depth, depth + 1);
  if (depth == 1)
    settled.clear();
  try {
    results = rule();
  } catch (const InferenceError &error) {
    fail("is not valid here: no type can be inferred for '" + error.op + "'");
  }
  if (diagnostics.empty())
    settle(last, results, replaceHeld);
  if (!diagnostics.empty())
    fail("is not valid here");
  return results;
}
