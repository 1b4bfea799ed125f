// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stands in for libcudnn.so, in its backend interface: graphs of one convolution or of several
// other operations, whose attributes it checks as the library does, and plans for them.
#include "CudnnOperations.h"

#include <algorithm>

using namespace standin;

namespace {

/// What plans want, to see that they get it.
constexpr int64_t usualWorkspace = 48 << 10;

/// In the order in which the library would try them.
std::vector<Engine> enginesOf(cudnnBackendHeurMode_t mode) {
  std::string only = setting("STANDIN_CUDNN", "");
  if (only == "random")
    return {Random};
  if (only == "rounding")
    return {RoundsSums, Converts, RoundsFactors};
  if (only == "broken")
    return {Broken, Right};
  if (mode == CUDNN_HEUR_MODE_INSTANT)
    return {Random, Missing, Large, RoundsSums, Converts, RoundsFactors};
  return {Right, Right}; // as if with other options
}

std::vector<cudnnBackendNumericalNote_t> notesOf(Engine engine) {
  switch (engine) {
  case Random:
    return {CUDNN_NUMERICAL_NOTE_TENSOR_CORE, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC};
  case RoundsSums:
    return {CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION};
  case RoundsFactors:
    return {CUDNN_NUMERICAL_NOTE_TENSOR_CORE};
  case Converts:
    return {CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS};
  default:
    return {};
  }
}

size_t bytesOf(cudnnBackendAttributeType_t type) {
  switch (type) {
  case CUDNN_TYPE_INT64:
  case CUDNN_TYPE_DOUBLE:
  case CUDNN_TYPE_HANDLE:
  case CUDNN_TYPE_VOID_PTR:
  case CUDNN_TYPE_BACKEND_DESCRIPTOR:
    return 8;
  case CUDNN_TYPE_DATA_TYPE:
  case CUDNN_TYPE_CONVOLUTION_MODE:
  case CUDNN_TYPE_HEUR_MODE:
  case CUDNN_TYPE_NUMERICAL_NOTE:
  case CUDNN_TYPE_POINTWISE_MODE:
  case CUDNN_TYPE_REDUCTION_OPERATOR_TYPE:
  case CUDNN_TYPE_FLOAT:
    return 4;
  case CUDNN_TYPE_BOOLEAN:
    return 1;
  default:
    return 0;
  }
}

/// Indices and truth are in no memory; a number that is given by value is an f32.
bool isElementType(const Node &node) {
  auto type = node.one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE).value_or(CUDNN_DATA_INT8);
  if (node.is(CUDNN_ATTR_TENSOR_IS_BY_VALUE))
    return type == CUDNN_DATA_FLOAT && !node.is(CUDNN_ATTR_TENSOR_IS_VIRTUAL) &&
           std::ranges::all_of(node.all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS),
                               [](int64_t extent) { return extent == 1; });
  bool isInner = type == CUDNN_DATA_INT32 || type == CUDNN_DATA_BOOLEAN;
  return elementsOf(type) || (isInner && node.is(CUDNN_ATTR_TENSOR_IS_VIRTUAL));
}

bool isTensor(const Node &node) {
  auto extents = node.all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  auto alignment = node.one<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT).value_or(0);
  return extents.size() >= 4 && extents.size() <= mostDims &&
         std::ranges::all_of(extents, [](int64_t extent) { return extent > 0; }) &&
         node.all<int64_t>(CUDNN_ATTR_TENSOR_STRIDES).size() == extents.size() &&
         node.one<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID) && alignment > 0 &&
         (alignment & (alignment - 1)) == 0 && isElementType(node);
}

/// Takes over what the descriptor of that name computes.
cudnnStatus_t inherit(Node &node, cudnnBackendAttributeName_t name,
                      std::initializer_list<cudnnBackendDescriptorType_t> types) {
  for (cudnnBackendDescriptorType_t type : types)
    if (const Node *from = node.node(name, type)) {
      node.computation = from->computation;
      node.engine = from->engine;
      return CUDNN_STATUS_SUCCESS;
    }
  return CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t finalizePlan(Node &node) {
  if (!node.one<cudnnHandle_t>(CUDNN_ATTR_EXECUTION_PLAN_HANDLE))
    return CUDNN_STATUS_BAD_PARAM;
  auto status =
      inherit(node, CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, {CUDNN_BACKEND_ENGINECFG_DESCRIPTOR});
  if (status == CUDNN_STATUS_SUCCESS && node.engine == Missing)
    return CUDNN_STATUS_NOT_SUPPORTED;
  return status;
}

/// One convolution, or operations of the other kinds.
cudnnStatus_t finalizeGraph(Node &node) {
  auto operations = node.all<Node *>(CUDNN_ATTR_OPERATIONGRAPH_OPS);
  if (!node.one<cudnnHandle_t>(CUDNN_ATTR_OPERATIONGRAPH_HANDLE) || operations.empty() ||
      !std::ranges::all_of(operations, [](Node *each) { return each->finalized; }))
    return CUDNN_STATUS_BAD_PARAM;
  if (operations.size() == 1 && operations.front()->computation) {
    node.computation = operations.front()->computation;
    return CUDNN_STATUS_SUCCESS;
  }
  std::vector<std::shared_ptr<const Step>> steps;
  for (Node *each : operations) {
    if (!each->step)
      return CUDNN_STATUS_NOT_SUPPORTED;
    steps.push_back(each->step);
  }
  node.computation = computationOf(steps);
  return node.computation ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t finalize(Node &node) {
  auto if_ = [](bool right) { return right ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM; };
  switch (node.type) {
  case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
    return if_(isTensor(node));
  case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
    return if_(isConvolution(node));
  case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
    return if_(isPointwise(node));
  case CUDNN_BACKEND_MATMUL_DESCRIPTOR:
    return if_(isMatmul(node));
  case CUDNN_BACKEND_REDUCTION_DESCRIPTOR:
    return if_(isReduction(node));
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
    node.computation = convolutionOf(node);
    return if_(node.computation != nullptr);
  case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
  case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
  case CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR:
  case CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR:
    node.step = stepOf(node);
    return if_(node.step != nullptr);
  case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
    return finalizeGraph(node);
  case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR: {
    // In the older interface alone, for a test of it.
    std::string only = setting("STANDIN_CUDNN", "");
    if (only == "algorithms" || only == "channels_first")
      return CUDNN_STATUS_NOT_SUPPORTED;
    return inherit(node, CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH,
                   {CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR});
  }
  case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
    return finalizePlan(node);
  case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
    return if_(node.all<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS).size() ==
                   node.all<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS).size() &&
               node.one<void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE));
  default:
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
}

/// Makes what the caller created the descriptor that the library has.
void fill(cudnnBackendDescriptor_t into, const std::shared_ptr<const Computation> &computation,
          Engine engine) {
  Node &node = *static_cast<Node *>(into);
  node.computation = computation;
  node.engine = engine;
  node.finalized = true;
}

template <typename T>
cudnnStatus_t give(const std::vector<T> &values, int64_t most, int64_t *count, void *into) {
  *count = std::min(most, int64_t(values.size()));
  std::copy_n(values.begin(), *count, static_cast<T *>(into));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t giveConfigurations(const Node &node, int64_t most, int64_t *count, void *into) {
  auto mode = node.one<cudnnBackendHeurMode_t>(CUDNN_ATTR_ENGINEHEUR_MODE);
  if (!mode)
    return CUDNN_STATUS_BAD_PARAM;
  std::vector<Engine> engines;
  if (node.computation->isSupported())
    engines = enginesOf(*mode);
  if (!into) { // a bound, as in the library
    *count = int64_t(engines.size()) + 2;
    return CUDNN_STATUS_SUCCESS;
  }
  *count = std::min(most, int64_t(engines.size()));
  for (int64_t i = 0; i < *count; ++i)
    fill(static_cast<cudnnBackendDescriptor_t *>(into)[i], node.computation, engines[size_t(i)]);
  return CUDNN_STATUS_SUCCESS;
}

} // namespace

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t type,
                                           cudnnBackendDescriptor_t *made) {
  STANDIN_ENTER(cudnnBackendCreateDescriptor);
  *made = new Node(type);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete static_cast<Node *>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t type, int64_t count,
                                       const void *values) {
  STANDIN_ENTER(cudnnBackendSetAttribute);
  Node &node = *static_cast<Node *>(descriptor);
  if (node.finalized || count < 1 || !values || !bytesOf(type))
    return CUDNN_STATUS_BAD_PARAM;
  auto first = static_cast<const char *>(values);
  node.attributes[name] = {type, count, {first, first + size_t(count) * bytesOf(type)}};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t descriptor) {
  STANDIN_ENTER(cudnnBackendFinalize);
  Node &node = *static_cast<Node *>(descriptor);
  cudnnStatus_t status = finalize(node);
  node.finalized = status == CUDNN_STATUS_SUCCESS;
  return status;
}

cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t descriptor,
                                       cudnnBackendAttributeName_t name,
                                       cudnnBackendAttributeType_t, int64_t most, int64_t *count,
                                       void *into) {
  STANDIN_ENTER(cudnnBackendGetAttribute);
  const Node &node = *static_cast<Node *>(descriptor);
  if (!node.finalized)
    return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  switch (name) {
  case CUDNN_ATTR_ENGINEHEUR_RESULTS:
    return giveConfigurations(node, most, count, into);
  case CUDNN_ATTR_ENGINECFG_ENGINE:
    *count = 1;
    fill(*static_cast<cudnnBackendDescriptor_t *>(into), node.computation, node.engine);
    return CUDNN_STATUS_SUCCESS;
  case CUDNN_ATTR_ENGINE_GLOBAL_INDEX:
    return give(std::vector<int64_t>{node.engine}, most, count, into);
  case CUDNN_ATTR_ENGINE_NUMERICAL_NOTE:
    return give(notesOf(node.engine), most, count, into);
  case CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE:
    return give(std::vector<int64_t>{node.engine == Large ? int64_t(1) << 40 : usualWorkspace},
                most, count, into);
  default:
    return CUDNN_STATUS_NOT_SUPPORTED;
  }
}

cudnnStatus_t cudnnBackendExecute(cudnnHandle_t handle, cudnnBackendDescriptor_t plan,
                                  cudnnBackendDescriptor_t pack) {
  STANDIN_ENTER(cudnnBackendExecute);
  const Node &planned = *static_cast<Node *>(plan), &given = *static_cast<Node *>(pack);
  if (!planned.finalized || !given.finalized)
    return CUDNN_STATUS_BAD_PARAM_NOT_FINALIZED;
  if (planned.engine != Right && planned.engine != RoundsFactors) // must not be taken
    return CUDNN_STATUS_EXECUTION_FAILED;
  auto ids = given.all<int64_t>(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS);
  auto pointers = given.all<void *>(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS);
  auto find = [&](int64_t id) {
    auto found = std::ranges::find(ids, id);
    return found == ids.end() ? nullptr : pointers[size_t(found - ids.begin())];
  };
  std::map<int64_t, CUdeviceptr> tensors;
  for (int64_t id : planned.computation->tensorIds)
    if (void *at = find(id))
      tensors[id] = reinterpret_cast<CUdeviceptr>(at);
    else
      return CUDNN_STATUS_BAD_PARAM;
  for (auto [id, bytes] : planned.computation->alignments)
    if (tensors.at(id) % CUdeviceptr(bytes)) // what a kernel loads at once would be misaligned
      return CUDNN_STATUS_EXECUTION_FAILED;
  std::map<int64_t, double> numbers; // read now: the host may forget them
  for (int64_t id : planned.computation->numberIds)
    if (void *at = find(id))
      numbers[id] = *static_cast<const float *>(at);
    else
      return CUDNN_STATUS_BAD_PARAM;
  auto workspace =
      reinterpret_cast<CUdeviceptr>(*given.one<void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE));
  bool taken = submit(handle->stream, workspace, usualWorkspace,
                      [=, work = planned.computation] { work->run(tensors, numbers); });
  return taken ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}
