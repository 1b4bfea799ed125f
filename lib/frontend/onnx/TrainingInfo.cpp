// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/TrainingInfo.h"
#include "support/Suggest.h"

using namespace accc;
using namespace accc::onnx_import;

static std::string quoted(const std::string &name) { return "'" + name + "'"; }

std::vector<Binding> TrainingInfo::readBindings(const onnx::ModelProto &model, const char *what,
                                                const Entries &entries,
                                                const llvm::StringSet<> &values,
                                                const char *whose) {
  llvm::StringSet<> dense, sparse, inputs, bound;
  for (const onnx::GraphProto *graph : {&model.graph(), &proto.algorithm()}) {
    for (const onnx::TensorProto &tensor : graph->initializer())
      dense.insert(tensor.name());
    for (const onnx::SparseTensorProto &tensor : graph->sparse_initializer())
      sparse.insert(tensor.values().name());
    for (const onnx::ValueInfoProto &input : graph->input())
      inputs.insert(input.name());
  }
  auto list = [](const llvm::StringSet<> &names) {
    std::vector<std::string> sorted;
    for (const auto &name : names)
      sorted.push_back(name.first().str());
    llvm::sort(sorted);
    return sorted;
  };
  std::vector<Binding> bindings;
  for (const onnx::StringStringEntryProto &entry : entries) {
    const std::string &key = entry.key(), &value = entry.value();
    std::string where = std::string("training_info: ") + what + " of " + quoted(key) + ": ";
    size_t before = found.size();
    if (sparse.contains(key))
      found.push_back(where + "the initializer is sparse, which is not supported for what training "
                              "assigns");
    else if (!dense.contains(key) && inputs.contains(key))
      found.push_back(where + "it is an input, where an initializer is expected");
    else if (!dense.contains(key))
      found.push_back(where +
                      "no initializer of the model's graph or of the algorithm has this name" +
                      didYouMean(key, list(dense)));
    else if (!bound.insert(key).second)
      found.push_back(where + "the initializer is bound twice");
    if (!values.contains(value))
      found.push_back(where + quoted(value) + " is no output of " + whose +
                      didYouMean(value, list(values)));
    if (found.size() == before)
      bindings.push_back({key, value});
  }
  return bindings;
}

TrainingInfo::TrainingInfo(const onnx::ModelProto &model) : proto(model.training_info(0)) {
  llvm::StringSet<> results, initial;
  for (const onnx::GraphProto *graph : {&model.graph(), &proto.algorithm()})
    for (const onnx::ValueInfoProto &output : graph->output())
      results.insert(output.name());
  for (const onnx::ValueInfoProto &output : proto.initialization().output())
    initial.insert(output.name());
  updateBindings = readBindings(model, "update_binding", proto.update_binding(), results,
                                "the algorithm or of the model's graph");
  initialBindings = readBindings(model, "initialization_binding", proto.initialization_binding(),
                                 initial, "the initialization graph");
  if (proto.update_binding().empty())
    found.push_back(
        "training_info: there is no update_binding, so that a step would change nothing");
  for (const Binding &binding : updateBindings) {
    updated.insert(binding.initializer);
    assigned.insert(binding.value);
  }
  for (const Binding &binding : initialBindings)
    initialized.insert(binding.initializer);
  for (const onnx::TensorProto &tensor : proto.algorithm().initializer())
    own.insert(tensor.name());
}
