// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a model gives: its outputs, and what its own training step assigns.
#include "frontend/common/ImportError.h"
#include "frontend/onnx/GraphImporter.h"
#include "frontend/onnx/SelectedNode.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;

void GraphImporter::importOutput(const std::string &name, ForwardOutput &output) {
  try {
    Entity entity = lookup(name, main);
    if (entity.selected && !entity.tensor)
      refuseSelected(entity, caller, opBuilder.getUnknownLoc());
    if (!entity.isBroken && !entity.tensor)
      fail("the output '" + name + "' is not a tensor");
    output.value = entity.tensor; // without one, its problem is known
  } catch (const FileError &) {
    problems.push_back({.message = "the output '" + name + "' cannot be read"});
  } catch (const ImportError &error) {
    problems.push_back({.message = error.message});
  }
}

static bool isLoss(const ForwardOutput &output) {
  auto type = cast<RankedTensorType>(output.value.getType());
  return type.getNumElements() == 1 && isa<FloatType>(type.getElementType());
}

std::string GraphImporter::findLoss(ArrayRef<ForwardOutput> outputs) {
  std::string found;
  bool isOnly = true;
  for (const ForwardOutput &output : outputs) {
    if (output.name == "loss")
      return isLoss(output) ? output.name : "";
    if (!output.isTraining || !isLoss(output))
      continue;
    isOnly = found.empty();
    found = output.name;
  }
  return isOnly ? found : "";
}

std::vector<ForwardOutput> GraphImporter::importOutputs() {
  std::vector<ForwardOutput> outputs;
  llvm::StringSet<> names;
  auto add = [&](const onnx::GraphProto &graph, bool isTraining) {
    for (const onnx::ValueInfoProto &info : graph.output()) {
      // What is assigned can be read from its variable.
      if (isTraining && (training->isAssigned(info.name()) || names.contains(info.name())))
        continue;
      if (!names.insert(info.name())
               .second) { // PyTorch's exporter does so with what is returned twice
        warn("the output '" + info.name() + "' is in the file several times: it is one output");
        continue;
      }
      ForwardOutput output{.name = info.name(), .isTraining = isTraining};
      importOutput(info.name(), output);
      if (output.value)
        outputs.push_back(std::move(output));
    }
  };
  add(model->graph(), /*isTraining=*/false);
  if (!training)
    return outputs;
  add(training->algorithm(), /*isTraining=*/true);
  std::string loss = findLoss(outputs);
  for (ForwardOutput &output : outputs) {
    if (output.name != loss)
      continue;
    Entities scalar = build([&]() -> Entities {
      return {widen(prim::Tensor(opBuilder, output.value.getLoc(), output.value).reshape({}))};
    });
    output = {scalar.front().tensor, "loss", prim::Role::Loss};
  }
  return outputs;
}

void GraphImporter::checkAssigned(const char *what, const std::string &initializer,
                                  const std::string &value, Type expected, Type given) {
  if (given != expected)
    problems.push_back({.message = std::string("training_info: ") + what + " of '" + initializer +
                                   "': '" + value + "' is " + show(cast<RankedTensorType>(given)) +
                                   ", the initializer " + show(cast<RankedTensorType>(expected))});
}

void GraphImporter::bindUpdates() {
  if (!training)
    return;
  for (Variable &variable : variables)
    variable.update = {};
  for (const auto &[initializer, value] : training->updates()) {
    ForwardOutput update{.name = value};
    ForwardOutput old{.name = initializer};
    importOutput(value, update);
    importOutput(initializer, old);
    if (!update.value || !old.value)
      continue; // its problem is known
    checkAssigned("update_binding", initializer, value, old.value.getType(),
                  update.value.getType());
    findVariable(old.value)->update = update.value;
  }
}
