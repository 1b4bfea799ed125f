// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tensors of archives of PyTorch up to 2.8: two archives of torch.save in the archive.
#include "frontend/pickle/Tensors.h"
#include "frontend/torchexport/Weights.h"

#include <map>

using namespace mlir;
using namespace accc;
using namespace accc::torchexport;
using Kind = pickle::Value::Kind;

static constexpr uint64_t kLargestArchive = uint64_t(1) << 40;
static constexpr uint64_t kLargestPickle = uint64_t(1) << 26;

namespace {

/// What torch.save wrote of a dict of tensors.
class SavedDict {
public:
  SavedDict(MLIRContext &context, const Archive &outer, const std::string &record)
      : context(context), record(record), archive(outer.read(record, kLargestArchive)),
        storages(archive), document(archive.read("data.pkl", kLargestPickle).bytes, record) {
    const pickle::Value &root = document.root();
    if (!root.is(Kind::Dict))
      fail("the record '" + record + "' holds no dict of tensors");
    for (size_t i = 0; i + 1 < root.elements.size(); i += 2) {
      names.push_back(root.elements[i]->asString("the name of a tensor"));
      values[names.back()] = root.elements[i + 1];
    }
  }

  bool has(const std::string &name) const { return values.contains(name); }
  StoredTensor read(const std::string &name);
  std::vector<std::string> namesOf(const StoredTensor &tensor);

private:
  MLIRContext &context;
  std::string record;
  Archive archive;
  pickle::Storages storages;
  pickle::Document document;
  std::vector<std::string> names; // in the order of the dict
  std::map<std::string, const pickle::Value *> values;
  std::map<std::string, std::vector<std::string>> byPlace;
};

/// Signatures before PyTorch 2.8 may give tied parameters one name, twice.
class PickledWeights : public Weights {
public:
  PickledWeights(MLIRContext &context, const Archive &archive, const std::string &state,
                 const std::string &constants)
      : state(context, archive, state), constants(context, archive, constants) {}

  StoredTensor read(const std::string &name) override {
    if (!state.has(name) && !constants.has(name))
      missing(name);
    return (state.has(name) ? state : constants).read(name);
  }
  std::vector<std::string> namesOf(const StoredTensor &tensor) override {
    return state.namesOf(tensor);
  }

private:
  SavedDict state, constants;
};

} // namespace

/// Whether the value is _rebuild_parameter(tensor, requires_grad, ...), or the same with what
/// Dynamo noted on the parameter.
static bool isParameter(const pickle::Value &value) {
  return value.is(Kind::Call) && value.elements.size() >= 2 &&
         (value.type->isGlobal("torch._utils._rebuild_parameter") ||
          value.type->isGlobal("torch._utils._rebuild_parameter_with_state"));
}

StoredTensor SavedDict::read(const std::string &name) {
  const pickle::Value *value = values.at(name);
  std::optional<bool> isTrained;
  if (isParameter(*value)) {
    isTrained = value->elements[1]->asBoolean("requires_grad of a parameter");
    value = value->elements[0];
  }
  if (!pickle::isTensor(*value))
    fail("'" + name +
         "' is no tensor, or one of a subclass of torch.Tensor, which is not supported");
  pickle::StoredTensor stored = pickle::readTensor(context, *value, storages, "data", name);
  std::string storage = record + "/" + stored.record;
  return {.weight = stored.weight,
          .requiresGrad = isTrained.value_or(stored.requiresGrad),
          .place = record + "/" + stored.place,
          .view = viewOf(storage, stored.weight.type, stored.offset, stored.strides)};
}

std::vector<std::string> SavedDict::namesOf(const StoredTensor &tensor) {
  if (byPlace.empty())
    for (const std::string &name : names)
      try {
        byPlace[read(name).place].push_back(name);
      } catch (const ImportError &) {
        // an error where the program reads it
      }
  return byPlace[tensor.place];
}

std::unique_ptr<Weights> accc::torchexport::weightsInPickles(MLIRContext &context,
                                                             const Archive &archive,
                                                             const std::string &state,
                                                             const std::string &constants) {
  return std::make_unique<PickledWeights>(context, archive, state, constants);
}
