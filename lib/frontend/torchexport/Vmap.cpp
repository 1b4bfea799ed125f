// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a torch.vmap begins and ends. The file has the operators of its function as they are for
// one element of the batch; here their tensors hold all elements: a dimension for each vmap around
// an operator, the outermost first, stands before the dimensions that the function knows of.
#include "frontend/torchexport/Program.h"

using namespace mlir;
using namespace accc;
using namespace accc::torchexport;

using Locals = std::vector<aten::Local>;
using Arguments = std::vector<aten::NamedLocal>;

static constexpr const char *kVmap = "torch.vmap";

void ProgramImporter::Batches::hand(ArrayRef<std::string> tensors, Batches &to,
                                    ArrayRef<std::string> names) const {
  for (auto [tensor, name] : llvm::zip(tensors, names))
    if (auto found = levels.find(tensor); found != levels.end())
      to.levels[name] = found->second;
}

ProgramImporter::Levels ProgramImporter::levelsOf(const std::string &name) const {
  auto found = batches.levels.find(name);
  return found == batches.levels.end() ? Levels() : found->second;
}

aten::MutableTensor ProgramImporter::tensorBy(Location loc, StringRef op,
                                              const Arguments &arguments) {
  return std::get<aten::MutableTensor>(caller.call(loc, op, arguments, kVmap).front());
}

aten::MutableTensor ProgramImporter::addBatchDim(Location loc, const std::string &name,
                                                 const std::string &result,
                                                 aten::MutableTensor tensor, int64_t dim) {
  Levels own = levelsOf(name);
  int64_t level = static_cast<int64_t>(batches.sizes.size()),
          outer = static_cast<int64_t>(own.size());
  bool fits = dim >= 0 && outer + dim < tensor.rank() && !llvm::is_contained(own, level) &&
              tensor.shape()[static_cast<size_t>(outer + dim)] == batches.sizes.back();
  if (!fits)
    fail("torch.vmap maps over a dimension that the tensor does not have");
  own.push_back(level);
  batches.levels[result] = own;
  return tensorBy(loc, "movedim.int",
                  {{"self", tensor}, {"source", outer + dim}, {"destination", outer}});
}

aten::MutableTensor ProgramImporter::removeBatchDim(Location loc, const std::string &name,
                                                    const std::string &result,
                                                    aten::MutableTensor tensor, int64_t dim) {
  Levels own = levelsOf(name);
  bool has = !own.empty() && own.back() == static_cast<int64_t>(batches.sizes.size());
  own.truncate(own.size() - has);
  auto outer = static_cast<int64_t>(own.size());
  if (!has) { // one value for all elements of the batch
    tensor = tensorBy(loc, "unsqueeze", {{"self", tensor}, {"dim", outer}});
    aten::Integers sizes(tensor.shape().begin(), tensor.shape().end());
    sizes[own.size()] = batches.sizes.back();
    tensor = tensorBy(loc, "expand", {{"self", tensor}, {"size", sizes}});
  }
  int64_t rank = tensor.rank() - outer;
  if (dim < -rank || dim >= rank)
    fail("the result of torch.vmap does not have the dimension of out_dims");
  if (!own.empty())
    batches.levels[result] = own;
  return tensorBy(
      loc, "movedim.int",
      {{"self", tensor}, {"source", outer}, {"destination", outer + (dim < 0 ? dim + rank : dim)}});
}

Locals ProgramImporter::runVmap(const Json &node, StringRef name, Scope &scope) {
  Json inputs = node.at("inputs");
  auto number = [&](size_t i) {
    aten::Local given = argument(inputs.at(i).at("arg"), scope);
    auto *value = std::get_if<int64_t>(&given);
    if (!value)
      fail("an argument of torch.vmap is not an integer that is known at compile time");
    return *value;
  };
  if (name == "lazy_load_decompositions")
    return {};
  if (name == "_vmap_increment_nesting") {
    batches.sizes.push_back(number(0));
    if (inputs.at(1).at("arg").content().string() != "error")
      fail("torch.vmap is supported with randomness='error' only, which is its default");
    return {};
  }
  if (name == "_vmap_decrement_nesting") {
    if (batches.sizes.empty())
      fail("ends a torch.vmap that did not begin");
    batches.sizes.pop_back();
    return {};
  }
  bool isBegin = name == "_add_batch_dim";
  if (!isBegin && name != "_remove_batch_dim")
    fail("of torch.func, only torch.vmap is supported inside of forward: save what "
         "program.run_decompositions() gives");
  int64_t level = number(isBegin ? 2 : 1);
  if (batches.sizes.empty() || level != static_cast<int64_t>(batches.sizes.size()))
    fail("a torch.vmap inside of another function of torch.func is not supported");
  std::string tensor = inputs.at(size_t(0)).at("arg").at("as_tensor").at("name").string(),
              result = node.at("outputs").at(size_t(0)).at("as_tensor").at("name").string();
  aten::MutableTensor given = lookupTensor(tensor, scope);
  if (isBegin)
    return {addBatchDim(location(node), tensor, result, given, number(1))};
  return {removeBatchDim(location(node), tensor, result, given, number(3))};
}
