// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudnnPlans.h"

#include <algorithm>

namespace accc::detail {

/// Plans that want more than this beside their operands are passed over.
static constexpr int64_t mostWorkspace = int64_t(1) << 30;

CudnnPlannedGraph::CudnnPlannedGraph(const CudnnFunctions &functions, const CudnnMachine &machine,
                                     bool isFullF32)
    : functions(functions), machine(machine), isFullF32(isFullF32),
      graph(functions, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) {}

void CudnnPlannedGraph::refuse(const std::string &why) {
  if (refused.empty())
    refused = why;
}

const CudnnNode &CudnnPlannedGraph::add(CudnnNode node) {
  if (cudnnStatus_t status = node.finalize(); status != CUDNN_STATUS_SUCCESS)
    refuse(functions.cudnnGetErrorString(status));
  return nodes.emplace_back(std::move(node));
}

void CudnnPlannedGraph::addOperation(CudnnNode node) {
  operations.push_back(add(std::move(node)).raw());
}

void CudnnPlannedGraph::finish() {
  graph.setDescriptors(CUDNN_ATTR_OPERATIONGRAPH_OPS, operations);
  if (machine.handle)
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, machine.handle);
  if (cudnnStatus_t status = graph.finalize(); status != CUDNN_STATUS_SUCCESS)
    refuse(functions.cudnnGetErrorString(status));
}

/// Of engines, in the order in which the library would try them.
std::vector<CudnnNode> CudnnPlannedGraph::configurations(cudnnBackendHeurMode_t mode) const {
  CudnnNode heuristics(functions, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph);
  heuristics.set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
#if CUDNN_VERSION >= 90800
  if (machine.properties)
    heuristics.setDescriptor(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, machine.properties);
#endif
  std::vector<CudnnNode> found;
  if (heuristics.finalize() != CUDNN_STATUS_SUCCESS)
    return found;
  for (int64_t i = heuristics.count(CUDNN_ATTR_ENGINEHEUR_RESULTS); i > 0; --i)
    found.emplace_back(functions, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR);
  size_t there = heuristics.get(CUDNN_ATTR_ENGINEHEUR_RESULTS, found); // the count is a bound
  found.erase(found.begin() + static_cast<std::ptrdiff_t>(there), found.end());
  return found;
}

/// With what an engine computes; empty where it will do.
std::string CudnnPlannedGraph::whatIsWrong(const CudnnNode &engine) const {
  auto notes = engine.get<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                       CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  auto has = [&](cudnnBackendNumericalNote_t note) {
    return std::ranges::find(notes, note) != notes.end();
  };
  if (has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC))
    return "other bits in every run";
  if (has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION))
    return "rounds its sums";
  if (has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) ||
      (isFullF32 && has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE)))
    return "rounds its operands";
  return "";
}

std::vector<CudnnPlan> CudnnPlannedGraph::plans(size_t most, std::string &offers) const {
  std::vector<CudnnPlan> good;
  offers = refused;
  if (!refused.empty())
    return good;
  auto pass = [&](int64_t engine, const std::string &why) {
    std::string text = std::to_string(engine) + " (" + why + ")";
    if (offers.find(text) == std::string::npos) // an engine comes again with other options
      offers += (offers.empty() ? "" : ", ") + text;
  };
  for (cudnnBackendHeurMode_t mode : {CUDNN_HEUR_MODE_INSTANT, CUDNN_HEUR_MODE_FALLBACK}) {
    for (const CudnnNode &configuration : configurations(mode)) {
      if (good.size() == most)
        return good;
      std::vector<CudnnNode> engine;
      engine.emplace_back(functions, CUDNN_BACKEND_ENGINE_DESCRIPTOR);
      configuration.get(CUDNN_ATTR_ENGINECFG_ENGINE, engine);
      std::vector<int64_t> number = engine.front().get<int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, 1);
      int64_t name = number.empty() ? -1 : number.front();
      if (std::string wrong = whatIsWrong(engine.front()); !wrong.empty()) {
        pass(name, wrong);
        continue;
      }
      CudnnNode plan(functions, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
      plan.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration);
      if (machine.handle)
        plan.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, machine.handle);
#if CUDNN_VERSION >= 90800
      if (machine.properties)
        plan.setDescriptor(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, machine.properties);
#endif
      std::vector<int64_t> bytes;
      cudnnStatus_t status = plan.finalize();
      if (status == CUDNN_STATUS_SUCCESS)
        bytes = plan.get<int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, 1);
      else if (status == CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER && !machine.handle)
        // Without a device only the last thing fails: to load the kernel that was compiled for it.
        bytes = configuration.get<int64_t>(CUDNN_ATTR_ENGINECFG_WORKSPACE_SIZE, 1);
      else {
        pass(name, functions.cudnnGetErrorString(status));
        continue;
      }
      if (bytes.empty() || bytes.front() > mostWorkspace)
        pass(name, bytes.empty() ? "does not say what it needs"
                                 : "needs " + std::to_string(bytes.front()) + " bytes");
      else
        good.push_back({std::move(plan), name, bytes.front()});
    }
  }
  if (offers.empty())
    offers = "none";
  return good;
}

} // namespace accc::detail
