// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that call graphs of the program: blocks without gradients, branches and loops. A branch
// that depends on data computes both sides and selects; a loop is unrolled. And the one that calls
// an operator in its turn.
#include "frontend/common/Fold.h"
#include "frontend/torchexport/Program.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/SaveAndRestore.h"

#include <utility>

using namespace mlir;
using namespace accc;
using namespace accc::torchexport;

using Locals = std::vector<aten::Local>;

Locals ProgramImporter::runGraph(const Json &body, const Locals &arguments, Batches *around) {
  Json names = body.at("inputs"), results = body.at("outputs");
  if (names.size() != arguments.size())
    fail("its graph takes " + Twine(names.size()) + " inputs");
  auto outer = std::exchange(leftInParameters, {}); // names of the graph around this one
  auto restore = llvm::make_scope_exit([&] { leftInParameters = std::move(outer); });
  Scope inner;
  for (size_t i = 0; i < names.size(); ++i)
    bind(names.at(i), arguments[i], inner);
  importNodes(body, inner, around);
  Locals outputs;
  for (size_t i = 0; i < results.size(); ++i)
    outputs.push_back(argument(results.at(i), inner));
  return outputs;
}

Locals ProgramImporter::runBlock(const Json &node, size_t graphArgument, bool hasGradient,
                                 const Scope &scope) {
  Json inputs = node.at("inputs"), body = graphAt(node, graphArgument);
  Locals arguments;
  std::vector<std::string> names;
  for (size_t i = graphArgument + 1; i < inputs.size(); ++i) {
    arguments.push_back(argument(inputs.at(i).at("arg"), scope));
    llvm::append_range(names, tensorNames(inputs.at(i).at("arg")));
  }
  aten::Caller::NoGradient guard(caller, !hasGradient);
  Batches inside{batches.sizes, {}};
  batches.hand(names, inside, tensorNamesOf(body.at("inputs")));
  Locals outputs = runGraph(body, arguments, &inside);
  inside.hand(tensorNamesOf(body.at("outputs")), batches, tensorNamesOf(node.at("outputs")));
  // Before PyTorch 2.6, a graph of one result gives it as a list.
  if (Json given = node.at("outputs");
      outputs.size() == 1 && given.size() == 1 && given.at(size_t(0)).tag() == "as_tensors")
    if (auto *tensor = std::get_if<aten::MutableTensor>(&outputs.front()))
      return {aten::MutableTensors{*tensor}};
  return outputs;
}

Json ProgramImporter::graphAt(const Json &node, size_t i) {
  return node.at("inputs").at(i).at("arg").at("as_graph").at("graph");
}

Locals ProgramImporter::listAt(const Json &node, size_t i, const Scope &scope) {
  aten::Local given = argument(node.at("inputs").at(i).at("arg"), scope);
  Locals list;
  if (auto *tensors = std::get_if<aten::MutableTensors>(&given))
    list.assign(tensors->begin(), tensors->end());
  else if (auto *integers = std::get_if<aten::Integers>(&given))
    list.assign(integers->begin(), integers->end());
  else if (!std::holds_alternative<aten::NoValue>(given))
    fail("takes what is no list of tensors");
  return list;
}

/// The boolean that decides, if it is known.
static std::optional<bool> decision(aten::Caller &caller, Location loc, const aten::Local &local) {
  if (auto *flag = std::get_if<bool>(&local))
    return *flag;
  auto *tensor = std::get_if<aten::MutableTensor>(&local);
  auto type = tensor ? cast<RankedTensorType>(tensor->type()) : RankedTensorType();
  if (!type || type.getNumElements() != 1 || !type.getElementType().isInteger(1))
    fail("its condition is no boolean");
  DenseElementsAttr known = knownValue(caller.read(loc, *tensor));
  return known ? std::optional(*known.value_begin<bool>()) : std::nullopt;
}

Locals ProgramImporter::runBranch(const Json &node, const Scope &scope) {
  Location loc = location(node);
  aten::Local condition = argument(node.at("inputs").at(size_t(0)).at("arg"), scope);
  Locals arguments = listAt(node, 3, scope);
  if (std::optional<bool> known = decision(caller, loc, condition))
    return runGraph(graphAt(node, *known ? 1 : 2), arguments);
  auto select = [&](const aten::Local &yes, const aten::Local &no) {
    std::vector<aten::NamedLocal> both = {{"condition", condition}, {"self", yes}, {"other", no}};
    return caller.call(loc, "where.self", both, "cond").front();
  };
  // What the side that is not taken would give its arguments as a gradient may be infinite or NaN:
  // there, they are without one.
  auto side = [&](bool isTaken) {
    Locals guarded = arguments;
    for (aten::Local &each : guarded) {
      if (auto *selection = std::get_if<aten::Selection>(&each))
        caller.requireKnown(loc, selection->mask);
      if (!std::holds_alternative<aten::MutableTensor>(each))
        continue;
      aten::Local still = caller.call(loc, "detach", {{"self", each}}, "cond").front();
      each = isTaken ? select(each, still) : select(still, each);
    }
    return runGraph(graphAt(node, isTaken ? 1 : 2), guarded);
  };
  Locals yes = side(true), no = side(false), results;
  if (yes.size() != no.size())
    fail("its branches give different numbers of results");
  for (auto [a, b] : llvm::zip(yes, no)) {
    auto *left = std::get_if<aten::MutableTensor>(&a),
         *right = std::get_if<aten::MutableTensor>(&b);
    bool isNone =
        std::holds_alternative<aten::NoValue>(a) && std::holds_alternative<aten::NoValue>(b);
    if (!isNone && (!left || !right || left->type() != right->type()))
      fail("a branch that depends on data must give tensors of the same type on both sides");
    results.push_back(isNone ? a : select(a, b));
  }
  return results;
}

Locals ProgramImporter::runLoop(const Json &node, const Scope &scope) {
  Location loc = location(node);
  Locals carried = listAt(node, 2, scope), more = listAt(node, 3, scope);
  size_t count = carried.size();
  while (true) {
    Locals arguments = carried;
    arguments.insert(arguments.end(), more.begin(), more.end());
    Locals condition = runGraph(graphAt(node, 0), arguments);
    std::optional<bool> goesOn =
        condition.size() == 1 ? decision(caller, loc, condition.front()) : std::nullopt;
    if (!goesOn)
      fail("a loop that ends depending on data is not supported");
    if (!*goesOn)
      return carried;
    carried = runGraph(graphAt(node, 1), arguments);
    if (carried.size() != count)
      fail("its body gives other tensors than it takes");
  }
}

Locals ProgramImporter::runScan(const Json &node, const Locals &carried, const Locals &scanned,
                                const Locals &more) {
  Location loc = location(node);
  Locals state = carried;
  size_t carriedCount = carried.size();
  std::vector<aten::MutableTensors> collected;
  std::optional<int64_t> steps;
  for (const aten::Local &each : scanned) {
    auto *tensor = std::get_if<aten::MutableTensor>(&each);
    auto type = tensor ? cast<RankedTensorType>(tensor->type()) : RankedTensorType();
    if (!type || type.getRank() == 0 || (steps && *steps != type.getDimSize(0)))
      fail("goes through tensors of different lengths");
    steps = type.getDimSize(0);
  }
  if (!steps || *steps == 0)
    fail("goes through no elements");
  for (int64_t step = 0; step < *steps; ++step) {
    Locals arguments = state;
    for (const aten::Local &each : scanned) {
      std::vector<aten::NamedLocal> place = {{"self", each}, {"dim", int64_t(0)}, {"index", step}};
      arguments.push_back(caller.call(loc, "select.int", place, "element").front());
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    Locals results = runGraph(graphAt(node, 0), arguments);
    if (results.size() < carriedCount)
      fail("its body gives fewer tensors than it carries");
    auto rest = results.begin() + static_cast<ptrdiff_t>(carriedCount);
    state.assign(results.begin(), rest);
    collected.resize(results.size() - carriedCount);
    for (size_t i = 0; rest != results.end(); ++rest, ++i) {
      auto *tensor = std::get_if<aten::MutableTensor>(&*rest);
      if (!tensor)
        fail("what it collects is no tensor");
      collected[i].push_back(*tensor);
    }
  }
  for (const aten::MutableTensors &each : collected)
    state.push_back(
        caller.call(loc, "stack", {{"tensors", each}, {"dim", int64_t(0)}}, "collected").front());
  return state;
}

Locals ProgramImporter::runWithEffects(const Json &node, const Scope &scope) {
  Json called = node.at("inputs").at(size_t(1)).at("arg");
  if (called.tag() != "as_operator")
    fail("calls what is no operator");
  if (!levelsOfInputs(node).empty())
    fail("an operator in the order of tokens is not supported inside of torch.vmap");
  Locals results = callOperator(node, called.content().string(), /*first=*/2, scope);
  results.insert(results.begin(), aten::NoValue());
  return results;
}

Locals ProgramImporter::runHigherOrder(const Json &node, StringRef name, const Scope &scope) {
  auto flagAt = [&](size_t i) {
    aten::Local flag = argument(node.at("inputs").at(i).at("arg"), scope);
    auto *value = std::get_if<bool>(&flag);
    return value ? std::optional(*value) : std::nullopt;
  };
  if (name == "wrap_with_set_grad_enabled")
    return runBlock(node, 1, flagAt(0).value_or(false), scope);
  if (name == "wrap_with_autocast") {
    bool isOn = flagAt(2).value_or(true);
    llvm::SaveAndRestore around(isAutocast, isOn), without(isFullPrecision, !isOn);
    return runBlock(node, 4, /*hasGradient=*/true, scope);
  }
  if (!levelsOfInputs(node).empty())
    fail("the operator is not supported inside of torch.vmap");
  if (name == "cond")
    return runBranch(node, scope);
  if (name == "with_effects")
    return runWithEffects(node, scope);
  if (name == "while_loop")
    return runLoop(node, scope);
  if (name == "scan")
    return runScan(node, listAt(node, 1, scope), listAt(node, 2, scope), listAt(node, 3, scope));
  if (name == "map_impl")
    return runScan(node, {}, listAt(node, 1, scope), listAt(node, 2, scope));
  fail("the operator is not supported");
}
