// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators inside of a torch.vmap, called once with all elements of the batch where that gives
// what calls for each would: elementwise ones, views and reductions along dimensions, matrix
// products. Others are called for each element.
#include "frontend/aten/FreshLayout.h"
#include "frontend/aten/Selection.h"
#include "frontend/common/TorchTypes.h"
#include "frontend/torchexport/Program.h"

using namespace mlir;
using namespace accc;
using namespace accc::torchexport;

using Locals = std::vector<aten::Local>;
using Arguments = std::vector<aten::NamedLocal>;

// Calls of one operator, each of which adds operations to the compiled step.
static constexpr int64_t kCallLimit = 4096;

static constexpr const char *kVmap = "torch.vmap";

std::vector<std::string> torchexport::tensorNames(const Json &value) {
  std::string kind = value.tag();
  if (kind == "as_tensor")
    return {value.content().at("name").string()};
  std::vector<std::string> names;
  if (kind == "as_tensors")
    for (size_t i = 0; i < value.content().size(); ++i)
      names.push_back(value.content().at(i).at("name").string());
  if (kind == "as_optional_tensors")
    for (size_t i = 0; i < value.content().size(); ++i) {
      Json each = value.content().at(i);
      names.push_back(each.tag() == "as_none" ? "" : each.content().at("name").string());
    }
  return names;
}

std::vector<std::string> torchexport::tensorNamesOf(const Json &values) {
  std::vector<std::string> names;
  for (size_t i = 0; i < values.size(); ++i)
    llvm::append_range(names, tensorNames(values.at(i)));
  return names;
}

ProgramImporter::Levels ProgramImporter::levelsOfInputs(const Json &node) const {
  std::set<int64_t> all;
  Json inputs = node.at("inputs");
  for (size_t i = 0; !batches.levels.empty() && i < inputs.size(); ++i)
    for (const std::string &name : tensorNames(inputs.at(i).at("arg"))) {
      Levels own = levelsOf(name);
      all.insert(own.begin(), own.end());
    }
  return Levels(all.begin(), all.end());
}

/// The arguments of a node with other tensors in place of its own; numbers that are tensors, for
/// they depend on data, stay.
static Arguments withTensors(
    const Json &node, const Arguments &given,
    llvm::function_ref<aten::MutableTensor(const std::string &, const aten::MutableTensor &)>
        change) {
  Arguments changed = given;
  for (size_t i = 0; i < changed.size() && i < node.at("inputs").size(); ++i) {
    std::vector<std::string> names = tensorNames(node.at("inputs").at(i).at("arg"));
    if (auto *tensor = std::get_if<aten::MutableTensor>(&changed[i].value);
        tensor && !names.empty())
      *tensor = change(names.front(), *tensor);
    if (auto *list = std::get_if<aten::MutableTensors>(&changed[i].value))
      for (auto [name, each] : llvm::zip(names, *list))
        if (each)
          each = change(name, each);
  }
  return changed;
}

aten::MutableTensor ProgramImporter::elementOfBatch(Location loc, const std::string &name,
                                                    aten::MutableTensor tensor,
                                                    const std::map<int64_t, int64_t> &place) {
  for (int64_t level : levelsOf(name))
    tensor = tensorBy(loc, "select.int",
                      {{"self", tensor}, {"dim", int64_t(0)}, {"index", place.at(level)}});
  return tensor;
}

Arguments ProgramImporter::firstOfBatch(const Json &node, const Arguments &arguments) {
  std::map<int64_t, int64_t> place;
  for (int64_t level : levelsOfInputs(node))
    place[level] = 0;
  return withTensors(node, arguments, [&](const std::string &name, const auto &tensor) {
    return elementOfBatch(location(node), name, tensor, place);
  });
}

// ---- one call ----

/// The same dimension of a tensor with `outer` more in front, where there is one.
static bool shiftDims(aten::Local &dims, int64_t outer) {
  if (auto *dim = std::get_if<int64_t>(&dims)) {
    *dim += *dim < 0 ? 0 : outer;
    return true;
  }
  auto *list = std::get_if<aten::Integers>(&dims);
  if (!list || list->empty())
    return false;
  for (int64_t &dim : *list)
    dim += dim < 0 ? 0 : outer;
  return true;
}

/// The call of an operator of isAlongDims(), or nothing where dimensions have their default.
static std::optional<Arguments> alongDims(StringRef op, Arguments arguments, int64_t outer) {
  size_t given = 0, known = 0;
  std::optional<aten::Operator> found = aten::findOperator(op);
  for (const auto &parameter : found->signature.parameters)
    known += aten::namesDims(parameter.name);
  for (aten::NamedLocal &each : arguments)
    given += aten::namesDims(each.name) && shiftDims(each.value, outer);
  return known && given == known ? std::optional(arguments) : std::nullopt;
}

std::optional<ProgramImporter::BatchedCall>
ProgramImporter::asOneCall(const Json &node, StringRef op, const Arguments &arguments) {
  SmallVector<int64_t> ranks, batched;
  SmallVector<Type> types;
  withTensors(node, arguments, [&](const std::string &name, const aten::MutableTensor &tensor) {
    Levels own = levelsOf(name);
    ranks.push_back(tensor.rank() - static_cast<int64_t>(own.size()));
    batched.push_back(!own.empty());
    types.push_back(getElementTypeOrSelf(tensor.type()));
    return tensor;
  });
  int64_t rank = *llvm::max_element(ranks), least = *llvm::min_element(ranks);
  // A tensor without dimensions has less say in the element type of a result, which it would not
  // have with those of the batch.
  if (aten::isElementwise(op) && (least > 0 || llvm::all_equal(types)))
    return BatchedCall{op.str(), arguments, rank};
  if (op == "matmul.default" && least >= 2)
    return BatchedCall{op.str(), arguments, rank};
  if (op == "linear.default" && rank == ranks[0] &&
      llvm::none_of(ArrayRef(batched).drop_front(), [](int64_t is) { return is; }))
    return BatchedCall{op.str(), arguments, rank};
  if (ranks.size() != 1)
    return std::nullopt;
  Levels all = levelsOfInputs(node);
  auto outer = static_cast<int64_t>(all.size());
  if (op == "t.default" && rank == 2)
    return BatchedCall{
        "transpose.int", {arguments.front(), {"dim0", int64_t(-2)}, {"dim1", int64_t(-1)}}, rank};
  if (!aten::isAlongDims(op) || rank == 0)
    return std::nullopt;
  std::optional<Arguments> shifted = alongDims(op, arguments, outer);
  return shifted ? std::optional(BatchedCall{op.str(), *shifted, rank}) : std::nullopt;
}

Locals ProgramImporter::callOnce(const Json &node, const BatchedCall &call, StringRef resultName) {
  Location loc = location(node);
  Levels all = levelsOfInputs(node);
  aten::MutableTensors operands;
  auto aligned = [&](const std::string &name, aten::MutableTensor tensor) {
    operands.push_back(tensor);
    Levels own = levelsOf(name);
    if (own.empty())
      return tensor;
    int64_t missing = call.rank - (tensor.rank() - static_cast<int64_t>(own.size()));
    auto insert = [&](int64_t dim) {
      tensor = tensorBy(loc, "unsqueeze", {{"self", tensor}, {"dim", dim}});
    };
    for (auto [i, level] : llvm::enumerate(all))
      if (!llvm::is_contained(own, level))
        insert(static_cast<int64_t>(i));
    for (int64_t i = 0; i < missing; ++i)
      insert(static_cast<int64_t>(all.size()));
    return tensor;
  };
  Locals results =
      caller.call(loc, call.op, withTensors(node, call.arguments, aligned), resultName);
  // How PyTorch lays out new tensors of a batch is not known.
  for (aten::Local &result : results)
    if (auto *tensor = std::get_if<aten::MutableTensor>(&result);
        tensor && *tensor && llvm::none_of(operands, [&](const aten::MutableTensor &each) {
          return each.sharesStorage(*tensor);
        }))
      tensor->setLayout(aten::Layout::unknown(tensor->shape(), kVmap));
  return results;
}

// ---- a call for each element ----

namespace {

/// A tensor among the arguments of a call, and what the call for one element of the batch has in
/// its place.
struct Operand {
  aten::MutableTensor whole, element;
};

} // namespace

/// A tensor that holds in `value` what calls gave for each element. Where these are views of
/// `viewed`, all of them together are not a view: after a write into one of the two the other
/// cannot be read.
static aten::MutableTensor collected(const Operand *viewed, Value value, StringRef name) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  aten::Layout layout = aten::Layout::unknown(shape, kVmap);
  if (!viewed)
    return aten::MutableTensor(value, name, layout);
  aten::ViewStep step{.view = [value](Value) { return value; },
                      .put = [](Value whole, Value) { return whole; }};
  return viewed->whole.view(std::move(step), value, std::move(layout), /*isMaybe=*/true, name);
}

Locals ProgramImporter::callForEach(const Json &node, Call call, const Arguments &arguments,
                                    StringRef resultName) {
  Location loc = location(node);
  Levels all = levelsOfInputs(node);
  aten::Integers sizes;
  int64_t count = 1;
  for (int64_t level : all) {
    sizes.push_back(batches.sizes[static_cast<size_t>(level) - 1]);
    if (sizes.back() > kCallLimit || (count *= sizes.back()) > kCallLimit)
      fail("torch.vmap would need a call of the operator for each of more than " +
           Twine(kCallLimit) +
           " elements: write it without vmap, or save what program.run_decompositions() gives");
  }
  if (count == 0)
    fail("torch.vmap over no elements is not supported");
  importedNodes += count;
  std::vector<Operand> operands; // of the first call
  std::vector<Locals> calls;
  for (int64_t i = 0; i < count; ++i) {
    std::map<int64_t, int64_t> place;
    int64_t rest = i;
    for (size_t k = all.size(); k-- > 0; rest /= sizes[k])
      place[all[k]] = rest % sizes[k];
    auto element = [&](const std::string &name, const aten::MutableTensor &tensor) {
      aten::MutableTensor element = elementOfBatch(loc, name, tensor, place);
      if (i == 0)
        operands.push_back({tensor, element});
      return element;
    };
    calls.push_back(call(withTensors(node, arguments, element)));
    if (calls.back().size() != calls.front().size())
      fail("gives another number of results for each element of a torch.vmap");
  }

  // What each call gives in the place of `first`.
  auto together = [&](const aten::MutableTensor &first, auto at) -> aten::MutableTensor {
    auto viewed = llvm::find_if(
        operands, [&](const Operand &each) { return each.element.sharesStorage(first); });
    const Operand *operand = viewed == operands.end() ? nullptr : &*viewed;
    if (operand && operand->element.isSame(first))
      return operand->whole;
    aten::MutableTensors list;
    for (const Locals &each : calls)
      list.push_back(at(each));
    auto stacked = tensorBy(loc, "stack", {{"tensors", list}, {"dim", int64_t(0)}});
    aten::Integers shape = sizes;
    llvm::append_range(shape, first.shape());
    aten::MutableTensor whole = tensorBy(loc, "view", {{"self", stacked}, {"size", shape}});
    return collected(operand, caller.read(loc, whole), resultName);
  };
  Locals results;
  for (size_t i = 0; i < calls.front().size(); ++i) {
    const aten::Local &first = calls.front()[i];
    if (auto *tensor = std::get_if<aten::MutableTensor>(&first)) {
      results.push_back(together(
          *tensor, [&](const Locals &each) { return std::get<aten::MutableTensor>(each[i]); }));
    } else if (auto *list = std::get_if<aten::MutableTensors>(&first)) {
      aten::MutableTensors both;
      for (size_t k = 0; k < list->size(); ++k)
        both.push_back(together((*list)[k], [&](const Locals &each) {
          return std::get<aten::MutableTensors>(each[i]).at(k);
        }));
      results.push_back(std::move(both));
    } else if (std::holds_alternative<aten::NoValue>(first)) {
      results.push_back(first);
    } else {
      fail("gives what is no tensor for each element of a torch.vmap");
    }
  }
  return results;
}

void ProgramImporter::checkElement(const std::string &name, const aten::MutableTensor &tensor,
                                   size_t outer) {
  std::optional<Json> meta = tensorValues ? tensorValues->find(name.c_str()) : std::nullopt;
  if (!meta)
    fail("the file does not say what type '" + name + "' has inside of torch.vmap");
  auto type = cast<RankedTensorType>(tensor.type());
  Json sizes = meta->at("sizes");
  bool fits = type.getShape().size() >= outer &&
              elementType(context, meta->at("dtype").integer()) == type.getElementType();
  ArrayRef<int64_t> shape = fits ? type.getShape().drop_front(outer) : ArrayRef<int64_t>();
  fits &= sizes.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i)
    fits = sizes.at(i).tag() != "as_int" || plainSize(sizes.at(i)) == shape[i];
  if (!fits)
    fail("gives a tensor of another type inside of torch.vmap than the file says");
}

void ProgramImporter::noteBatch(const Json &node, const Locals &results) {
  Levels all = levelsOfInputs(node);
  Json outputs = node.at("outputs");
  for (size_t i = 0; i < outputs.size() && i < results.size(); ++i) {
    std::vector<std::string> names = tensorNames(outputs.at(i));
    auto note = [&](const std::string &name, const aten::MutableTensor &tensor) {
      checkElement(name, tensor, all.size());
      batches.levels[name] = all;
    };
    if (auto *tensor = std::get_if<aten::MutableTensor>(&results[i]); tensor && names.size() == 1)
      note(names.front(), *tensor);
    if (auto *list = std::get_if<aten::MutableTensors>(&results[i]))
      for (auto [name, each] : llvm::zip(names, *list))
        note(name, each);
  }
}

Locals ProgramImporter::callBatched(const Json &node, StringRef op, const Arguments &arguments,
                                    StringRef resultName) {
  Levels all = levelsOfInputs(node);
  std::optional<aten::Operator> known = aten::findOperator(op);
  if (!known)
    fail("the operator is not supported");
  if (aten::hasSelection(arguments))
    fail("elements that a mask selects are not supported inside of torch.vmap");
  if (known->inPlace && known->alias != aten::Alias::None)
    fail("an operator that makes its argument a view is not supported inside of torch.vmap");
  if (known->inPlace &&
      levelsOf(tensorNames(node.at("inputs").at(size_t(0)).at("arg")).front()) != all)
    fail("writes a value for each element of a torch.vmap into a tensor that has one for all");
  auto callOne = [&](const Arguments &each) {
    return caller.call(location(node), op, each, resultName);
  };
  std::optional<BatchedCall> once = asOneCall(node, op, arguments);
  Locals results =
      once ? callOnce(node, *once, resultName) : callForEach(node, callOne, arguments, resultName);
  noteBatch(node, results);
  return results;
}

Locals ProgramImporter::callBatched(const Json &node, const prim::CustomOperator &op,
                                    const Arguments &arguments, StringRef resultName) {
  auto callOne = [&](const Arguments &each) {
    return caller.callCustom(location(node), op, each, resultName);
  };
  Locals results = callForEach(node, callOne, arguments, resultName);
  noteBatch(node, results);
  return results;
}
