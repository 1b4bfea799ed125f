// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/aten/Call.h"
#include "frontend/aten/ForEach.h"
#include "frontend/aten/FreshLayout.h"
#include "frontend/aten/Parts.h"
#include "frontend/aten/Selection.h"
#include "frontend/common/Gradient.h"
#include "frontend/common/Indexing.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

// Parameters that say where and how a tensor is stored, not what is in it.
static constexpr const char *kIrrelevant[] = {"device",        "layout",    "pin_memory",
                                              "memory_format", "generator", "non_blocking"};

/// The argument into which PyTorch writes the result where it is given: torch.div(a, b, out=c).
static constexpr llvm::StringRef kOut = "out";

/// The arguments by the names of their parameters.
static llvm::StringMap<Local> byName(const Operator &op, const std::vector<NamedLocal> &arguments) {
  const Signature &signature = op.signature;
  llvm::StringMap<Local> result;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    std::string name = argument.name;
    if (name.empty()) {
      if (i >= signature.parameters.size())
        fail("has more arguments than are known of it");
      name = signature.parameters[i].name;
    }
    // What an operator writes into is self, though others of its name may call it input.
    if (op.inPlace && name == "self")
      name = signature.parameters.front().name;
    if (!signature.find(name)) {
      if (llvm::is_contained(kIrrelevant, name) || std::holds_alternative<NoValue>(argument.value))
        continue;
      if (name == kOut && std::holds_alternative<MutableTensor>(argument.value))
        continue;
      fail("the argument '" + name + "' is not supported");
    }
    result[name] = argument.value;
  }
  return result;
}

/// One value, of which the rules that folded it know.
static Value built(ForwardBuilder &function, llvm::function_ref<Value()> build) {
  return function.build([&]() -> Entities { return {build()}; }).front().tensor;
}

bool Caller::isKnown(Location loc, Value value) {
  return bool(NodeBuilder(function, loc).given(value));
}

void Caller::requireKnown(Location loc, Value mask) {
  NodeBuilder(function, loc)
      .knownIntegers(mask, "mask that selects elements, which decides how many there are "
                           "(torch.where(mask, x, 0), or a product with the mask, keeps all),");
  fail("this use of the elements that a mask selects is not supported");
}

void Caller::requireKnownSize(Location loc, Value size) {
  NodeBuilder(function, loc).knownIntegers(size, "size");
  fail("this use of how many elements a mask selects is not supported");
}

Value Caller::recorded(Location loc, Value value) {
  return hasGradient ? value : withoutGradient(function, loc, value);
}

void Caller::write(Location loc, MutableTensor target, Value value) {
  target.write(function, loc, value, hasGradient);
}

MutableTensor Caller::ofElementType(Location loc, const MutableTensor &pairs, Type type,
                                    StringRef name) {
  if (!isComplex(type))
    return pairs;
  return std::get<MutableTensor>(call(loc, "view_as_complex", {{"self", pairs}}, name).front());
}

MutableTensor Caller::complexNumber(Location loc, double real, double imaginary) {
  Value value = built(function, [&] {
    NodeBuilder node(function, loc);
    Type type = function.defaultFloat();
    return Complex(node.scalar(real, type), node.scalar(imaginary, type)).value(node);
  });
  return MutableTensor(value, "complex", Layout::contiguous({}));
}

Value Caller::readPairs(Location loc, const MutableTensor &tensor) {
  return built(function, [&] { return pairsOf(NodeBuilder(function, loc), read(loc, tensor)); });
}

namespace {

/// A call whose tensors have been read.
struct PreparedCall {
  Operator op;
  /// The first parameter that stands for a tensor or a list of tensors: what a view is of.
  std::string viewed;
  llvm::StringMap<Argument> arguments;
  Memory memory;
  llvm::StringSet<> numbers = {}; // the tensors that stand for numbers of Python
};

/// What a call does beside its results.
struct Effects {
  std::vector<std::pair<std::string, Value>> writes;
  std::optional<Alias> sharing;
  std::vector<Layout> layouts;
  bool isRecorded = true;
};

/// Puts another tensor in place of the one that is viewed: the first argument, or element `index`
/// of it.
void replaceViewed(Argument &argument, Value viewed, std::optional<size_t> index) {
  if (auto *list = std::get_if<TensorList>(&argument))
    (*list)[index.value_or(0)] = viewed;
  else
    argument = viewed;
}

/// Runs the rule, with another tensor in place of the one that result `index` views if that is
/// given.
Entities run(ForwardBuilder &function, Location loc, const PreparedCall &call, Value viewed,
             std::optional<size_t> index, Effects *effects = nullptr) {
  llvm::StringMap<Argument> arguments = call.arguments;
  Memory memory = call.memory;
  if (viewed && call.op.alias == Alias::StorageView) {
    memory.storage = viewed;
    memory.isOfStorage = true;
  } else if (viewed) {
    replaceViewed(arguments[call.viewed], viewed, index);
  }
  Node node(function, loc, call.op.signature, std::move(arguments), memory, call.numbers);
  Entities results =
      function.build([&] { return call.op.rule(node); },
                     [&](llvm::function_ref<Value(Value)> replaced) { node.mapWrites(replaced); });
  if (effects)
    *effects = {{node.writes().begin(), node.writes().end()},
                node.sharing(),
                {node.results().begin(), node.results().end()},
                node.isRecorded()};
  return results;
}

/// Element `index` of what a rule gives, or its only result.
Value resultAt(const Entities &results, std::optional<size_t> index) {
  return index ? (*results.front().sequence)[*index].tensor : results.front().tensor;
}

/// The step to a view of all elements: a tensor of its own, which may become a view of its own.
ViewStep wholeStep() {
  return {.view = [](Value tensor) { return tensor; },
          .put = [](Value, Value elements) { return elements; }};
}

/// The step to the same elements, through which no gradient flows.
ViewStep detachStep(ForwardBuilder &function, Location loc) {
  return {.view = [&function, loc](Value tensor) { return withoutGradient(function, loc, tensor); },
          .put = [](Value, Value elements) { return elements; },
          .stopsGradient = true};
}

/// The step from the first argument to the result of a call.
ViewStep viewStep(ForwardBuilder &function, Location loc, std::shared_ptr<const PreparedCall> call,
                  std::optional<size_t> index) {
  ViewStep step;
  step.stopsGradient = call->op.signature.name == "detach";
  step.isOfStorage = call->op.alias == Alias::StorageView;
  step.repeats = call->op.signature.name == "unfold"; // where its windows overlap
  step.view = [&function, loc, call, index](Value tensor) {
    return resultAt(run(function, loc, *call, tensor, index), index);
  };
  const std::string &name = call->op.signature.name;
  if (PutParts put = putPartsOf(name)) {
    step.put = [&function, loc, put](Value tensor, Value elements) {
      return built(function, [&] { return put(NodeBuilder(function, loc), tensor, elements); });
    };
    return step;
  }
  // Those two have an operator that puts their elements back.
  if (name != "select" && name != "slice")
    return step;
  std::optional<Operator> put = findOperator(name + "_scatter");
  step.put = [&function, loc, call, put, index](Value tensor, Value elements) {
    PreparedCall back{*put, call->viewed, call->arguments, {}};
    back.arguments["src"] = elements;
    return run(function, loc, back, tensor, index).front().tensor;
  };
  return step;
}

} // namespace

/// What is written into a tensor of this type.
static Value fitted(const NodeBuilder &node, Value value, RankedTensorType type) {
  auto fit = [&](Type element) {
    return [&node, element, type](Tensor part) {
      return node.broadcastTo(part.convert(element), type.getShape());
    };
  };
  if (auto complex = dyn_cast<ComplexType>(type.getElementType()))
    return Complex::ofValue(node, value).map(fit(complex.getElementType())).value(node);
  if (isComplex(value.getType()))
    fail("writes complex numbers into a tensor of others");
  return fit(type.getElementType())(node.wrap(value));
}

/// The tensor of the argument `out`, if the operator has none of its own of that name.
static const MutableTensor *outOf(const Operator &op, const std::vector<NamedLocal> &arguments) {
  if (op.signature.find(kOut))
    return nullptr;
  for (const NamedLocal &argument : arguments)
    if (argument.name == kOut)
      return std::get_if<MutableTensor>(&argument.value);
  return nullptr;
}

static std::optional<MemoryFormat> memoryFormatOf(const std::vector<NamedLocal> &arguments) {
  for (const NamedLocal &argument : arguments)
    if (auto *format = std::get_if<MemoryFormat>(&argument.value))
      return *format;
  return std::nullopt;
}

std::vector<Local> Caller::call(Location loc, StringRef name, const std::vector<NamedLocal> &given,
                                StringRef resultName) {
  if (isForEach(name))
    return callForEach(*this, loc, name, given, resultName);
  std::optional<Operator> op = findOperator(name);
  if (!op)
    fail("the operator is not supported");
  llvm::StringMap<Local> locals = byName(*op, given);
  if (op->selected || hasSelection(given))
    if (std::optional<std::vector<Local>> results =
            callOnSelections(*this, loc, *op, name, given, locals, resultName))
      return std::move(*results);
  auto tensorOf = [&](StringRef parameter) -> MutableTensor * {
    auto local = locals.find(parameter);
    return local == locals.end() ? nullptr : std::get_if<MutableTensor>(&local->second);
  };
  MutableTensor *first = nullptr;
  MutableTensors *firstList = nullptr;
  auto prepared = std::make_shared<PreparedCall>(PreparedCall{*op, "", {}, {}});
  for (const auto &parameter : op->signature.parameters) {
    auto local = locals.find(parameter.name);
    if (local == locals.end())
      continue;
    prepared->viewed = parameter.name;
    first = std::get_if<MutableTensor>(&local->second);
    firstList = std::get_if<MutableTensors>(&local->second);
    if (first || firstList)
      break;
  }
  if (first && *first) {
    MutableTensor whole = first->whole();
    prepared->memory = {first->layout(), {}, read(loc, whole), whole.layout()};
  }
  for (const MutableTensor &each : firstList ? *firstList : MutableTensors())
    prepared->memory.layouts.push_back(each ? each.layout() : Layout::contiguous({}));
  for (const auto &entry : locals)
    prepared->arguments[entry.first()] = std::visit(
        [&](const auto &value) -> Argument {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, MutableTensor>) {
            // x.t_() writes nothing, and PyTorch's graph has x in it as it is.
            bool isWritten =
                op->inPlace && op->alias == Alias::None && entry.first() == prepared->viewed;
            return isWritten ? value.readToWrite(function, loc) : read(loc, value);
          } else if constexpr (std::is_same_v<T, MutableTensors>) {
            TensorList list;
            for (const MutableTensor &each : value)
              list.push_back(each ? read(loc, each) : Value());
            return list;
          } else if constexpr (std::is_same_v<T, Selection> || std::is_same_v<T, Selections> ||
                               std::is_same_v<T, SelectedSizes>) {
            return NoValue(); // of another way to call
          } else {
            return value;
          }
        },
        entry.second);

  for (const auto &entry : locals)
    if (auto *tensor = std::get_if<MutableTensor>(&entry.second))
      if (*tensor && tensor->isNumber())
        prepared->numbers.insert(entry.first());

  Effects effects;
  Entities results = run(function, loc, *prepared, Value(), std::nullopt, &effects);
  for (const auto &[parameter, value] : effects.writes)
    if (MutableTensor *target = tensorOf(parameter))
      write(loc, *target, value);

  if (const MutableTensor *out = outOf(*op, given)) {
    if (results.size() != 1 || !results.front().tensor)
      fail("the argument 'out' is supported of operators that give one tensor");
    auto type = cast<RankedTensorType>(read(loc, *out).getType());
    Value value = results.front().tensor;
    if (cast<RankedTensorType>(value.getType()).getShape() != type.getShape())
      fail("the argument 'out' has another shape than the result: PyTorch would resize it");
    value = built(function, [&] { return fitted(NodeBuilder(function, loc), value, type); });
    // PyTorch differentiates no such call: where it runs, nothing in it has a gradient.
    MutableTensor(*out).write(function, loc, value, /*isRecorded=*/false);
    return {*out};
  }

  Alias alias = effects.sharing.value_or(op->alias);
  if (op->inPlace && alias == Alias::None) {
    if (!first || results.empty() || !results.front().tensor)
      fail("writes into what is no tensor");
    auto type = cast<RankedTensorType>(read(loc, *first).getType());
    Value value = results.front().tensor;
    // What is compared in place is in PyTorch's graph, where the comparison's own result is not.
    bool isCompared = effects.isRecorded && !isDifferentiable(value.getType());
    value = built(function, [&] { return fitted(NodeBuilder(function, loc), value, type); });
    for (const auto &parameter : op->signature.parameters)
      if (MutableTensor *other = tensorOf(parameter.name);
          isCompared && other && *other && other != first)
        value = zeroDependence(function, loc, value, read(loc, *other));
    first->write(function, loc, value, hasGradient && effects.isRecorded);
    return {*first};
  }

  FreshLayout fresh(name, op->signature, locals, memoryFormatOf(given));
  size_t next = 0;
  // Views say where they lie, and so do copies that a call might also have as a view.
  auto nextLayout = [&](Value value) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
    if (alias == Alias::None && !effects.sharing)
      return fresh.of(cast<RankedTensorType>(value.getType()));
    size_t i = next++;
    if (i < effects.layouts.size() && effects.layouts[i].isKnown())
      return effects.layouts[i];
    std::string origin =
        i < effects.layouts.size() ? effects.layouts[i].origin() : op->signature.name;
    return Layout::unknown(shape, origin);
  };
  auto tensor = [&](Value value, std::optional<size_t> index) {
    if (!value)
      return MutableTensor();
    Layout layout = nextLayout(value);
    const MutableTensor *base = firstList ? &(*firstList)[index.value_or(0)] : first;
    if (!base || alias == Alias::None)
      return MutableTensor(recorded(loc, value), resultName, layout);
    bool isAll = alias != Alias::MaybeView && value == read(loc, *base) && layout == base->layout();
    // Where the call decides, it gives its argument itself.
    if (isAll && effects.sharing)
      return *base;
    MutableTensor result =
        isAll ? base->view(wholeStep(), value, layout, /*isMaybe=*/false, resultName)
              : (alias == Alias::StorageView ? base->whole() : *base)
                    .view(viewStep(function, loc, prepared, index), value, layout,
                          alias == Alias::MaybeView, resultName);
    if (hasGradient)
      return result;
    return result.view(detachStep(function, loc), recorded(loc, value), layout, /*isMaybe=*/false,
                       resultName);
  };
  if (op->inPlace) { // x.t_() makes x a view of its elements
    if (!first)
      fail("views what is no tensor");
    first->become(tensor(results.front().tensor, std::nullopt));
    return {*first};
  }
  std::vector<Local> outputs;
  for (const Entity &result : results) {
    if (result.sequence) {
      MutableTensors list;
      for (auto [i, each] : llvm::enumerate(*result.sequence))
        list.push_back(tensor(each.tensor, i));
      outputs.push_back(std::move(list));
    } else if (result.tensor) {
      outputs.push_back(tensor(result.tensor, std::nullopt));
    } else {
      outputs.push_back(NoValue());
    }
  }
  return outputs;
}
