// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudnnPlans.h"

#include "CudnnDescriptors.h"

#include <algorithm>

namespace accc::detail {

namespace {

/// Plans that want more than this beside their operands are passed over.
constexpr int64_t mostWorkspace = int64_t(1) << 30;

/// What the operation of a kind is, and what its operands and options are called.
struct OperationNames {
  cudnnBackendDescriptorType_t type;
  std::array<cudnnBackendAttributeName_t, 3> buffers; // in the order of accc_call_kind
  cudnnBackendAttributeName_t convolution, alpha, beta;
};

OperationNames namesOf(int32_t kind) {
  switch (kind) {
  case ACCC_CALL_CONVOLUTION:
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
            {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
             CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y},
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA};
  case ACCC_CALL_CONVOLUTION_BACKWARD_DATA:
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
            {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY,
             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX},
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA};
  default:
    return {CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
            {CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY,
             CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW},
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
            CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA};
  }
}

/// The first `rank` of an array of ints, as graphs take them.
template <typename Array> std::vector<int64_t> wide(const Array &values, int rank) {
  return {values.begin(), values.begin() + rank};
}

} // namespace

CudnnConvolutionGraph::CudnnConvolutionGraph(const CudnnFunctions &functions,
                                             const CudnnMachine &machine,
                                             const accc_library_call &call, uint64_t alignment)
    : functions(functions), machine(machine), call(call),
      graph(functions, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR) {
  const accc_convolution &c = call.u.convolution;
  for (int32_t i = 0; i < c.spatial_rank; ++i)
    if (c.pad_low[i] < 0 || c.pad_high[i] < 0) {
      refused = "padding that cuts";
      return;
    }
  auto add = [&](std::vector<CudnnNode> &to, CudnnNode node) {
    if (cudnnStatus_t status = node.finalize(); status != CUDNN_STATUS_SUCCESS && refused.empty())
      refused = functions.cudnnGetErrorString(status);
    to.push_back(std::move(node));
  };
  for (size_t i = 0; i < cudnnBufferIds.size(); ++i)
    add(tensors, tensor(i, alignment));
  add(described, convolution());
  add(described, operation(described.front()));
  graph.set(CUDNN_ATTR_OPERATIONGRAPH_OPS, described.back());
  if (machine.handle)
    graph.set(CUDNN_ATTR_OPERATIONGRAPH_HANDLE, machine.handle);
  if (cudnnStatus_t status = graph.finalize(); status != CUDNN_STATUS_SUCCESS && refused.empty())
    refused = functions.cudnnGetErrorString(status);
}

CudnnNode CudnnConvolutionGraph::tensor(size_t buffer, uint64_t alignment) const {
  CudnnTensor tensor = cudnnBuffersOf(call)[buffer];
  CudnnNode node(functions, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  node.set(CUDNN_ATTR_TENSOR_DATA_TYPE, cudnnTypeOf(call.dtypes[buffer]));
  node.setAll(CUDNN_ATTR_TENSOR_DIMENSIONS, wide(tensor.extents, tensor.rank));
  node.setAll(CUDNN_ATTR_TENSOR_STRIDES, wide(tensor.strides(), tensor.rank));
  node.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, cudnnBufferIds[buffer]);
  node.set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, int64_t(alignment));
  return node;
}

CudnnNode CudnnConvolutionGraph::convolution() const {
  CudnnConvolutionShape shape(call.u.convolution);
  CudnnNode node(functions, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  node.set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, int64_t(shape.spatial));
  node.set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE,
           call.dtypes[0] == ACCC_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT);
  node.set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION);
  auto set = [&](cudnnBackendAttributeName_t name, const auto &values) {
    node.setAll(name, wide(values, shape.spatial));
  };
  set(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, shape.padding);
  set(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, shape.paddingBehind);
  set(CUDNN_ATTR_CONVOLUTION_DILATIONS, shape.dilation);
  set(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, shape.stride);
  return node;
}

CudnnNode CudnnConvolutionGraph::operation(const CudnnNode &convolution) const {
  OperationNames names = namesOf(call.kind);
  CudnnNode node(functions, names.type);
  for (size_t i = 0; i < tensors.size(); ++i)
    node.set(names.buffers[i], tensors[i]);
  node.set(names.convolution, convolution);
  if (call.dtypes[0] == ACCC_F64)
    node.set(names.alpha, 1.0).set(names.beta, 0.0);
  else
    node.set(names.alpha, 1.0f).set(names.beta, 0.0f);
  return node;
}

/// Of engines, in the order in which the library would try them.
std::vector<CudnnNode> CudnnConvolutionGraph::configurations(cudnnBackendHeurMode_t mode) const {
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
std::string CudnnConvolutionGraph::whatIsWrong(const CudnnNode &engine) const {
  auto notes = engine.get<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                       CUDNN_NUMERICAL_NOTE_TYPE_COUNT);
  auto has = [&](cudnnBackendNumericalNote_t note) {
    return std::ranges::find(notes, note) != notes.end();
  };
  if (has(CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC))
    return "other bits in every run";
  if (has(CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION))
    return "rounds its sums";
  bool isFull = call.dtypes[0] == ACCC_F32 && call.compute == ACCC_COMPUTE_FULL;
  if (has(CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS) ||
      (isFull && has(CUDNN_NUMERICAL_NOTE_TENSOR_CORE)))
    return "rounds its operands";
  return "";
}

std::vector<CudnnPlan> CudnnConvolutionGraph::plans(size_t most, std::string &offers) {
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
      if (cudnnStatus_t status = plan.finalize(); status != CUDNN_STATUS_SUCCESS) {
        pass(name, functions.cudnnGetErrorString(status));
        continue;
      }
      std::vector<int64_t> bytes = plan.get<int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, 1);
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
