// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stands in for libcudnn.so, in its backend interface: graphs of one convolution, whose attributes
// it checks as the library does, and plans for them.
#include "Convolution.h"

#include <algorithm>
#include <cstring>
#include <memory>

using namespace standin;

namespace {

using Kind = ConvolutionKind;

/// What plans want, to see that they get it.
constexpr int64_t usualWorkspace = 48 << 10;

/// An engine by its number. Most are wrong for one reason each; RoundsFactors is right in all but
/// full f32, and Broken cannot be told from a right one before it runs.
enum Engine { Random, Missing, Large, RoundsSums, RoundsFactors, Converts, Right, Broken };

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

/// What an operation of a graph computes.
struct Operation {
  ConvolutionProblem problem;
  Kind kind;
  std::array<int64_t, 3> ids; // of x, w and y
};

struct Attribute {
  cudnnBackendAttributeType_t type;
  int64_t count;
  std::vector<char> bytes;
};

struct Node {
  explicit Node(cudnnBackendDescriptorType_t type) : type(type) {}

  template <typename T> std::vector<T> all(cudnnBackendAttributeName_t name) const {
    auto found = attributes.find(name);
    if (found == attributes.end())
      return {};
    std::vector<T> values(found->second.bytes.size() / sizeof(T));
    std::memcpy(values.data(), found->second.bytes.data(), values.size() * sizeof(T));
    return values;
  }
  template <typename T> std::optional<T> one(cudnnBackendAttributeName_t name) const {
    auto values = all<T>(name);
    return values.size() == 1 ? std::optional(values.front()) : std::nullopt;
  }
  /// A descriptor of that type which is finalized; else null.
  const Node *node(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t wanted) const {
    auto found = one<Node *>(name);
    return found && (*found)->finalized && (*found)->type == wanted ? *found : nullptr;
  }

  const cudnnBackendDescriptorType_t type;
  std::map<cudnnBackendAttributeName_t, Attribute> attributes;
  bool finalized = false;
  std::shared_ptr<Operation> operation; // of what was finalized with one
  Engine engine = Missing;              // of what the library made
};

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
  case CUDNN_TYPE_FLOAT:
    return 4;
  default:
    return 0;
  }
}

bool isTensor(const Node &node) {
  auto extents = node.all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS);
  auto alignment = node.one<int64_t>(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT).value_or(0);
  return extents.size() >= 4 && extents.size() <= mostDims &&
         std::ranges::all_of(extents, [](int64_t extent) { return extent > 0; }) &&
         node.all<int64_t>(CUDNN_ATTR_TENSOR_STRIDES).size() == extents.size() &&
         node.one<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID) && alignment > 0 &&
         (alignment & (alignment - 1)) == 0 &&
         elementsOf(
             node.one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE).value_or(CUDNN_DATA_INT8));
}

bool isConvolution(const Node &node) {
  auto rank = node.one<int64_t>(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS).value_or(0);
  auto fits = [&](cudnnBackendAttributeName_t name, int64_t least) {
    auto values = node.all<int64_t>(name);
    return int64_t(values.size()) == rank &&
           std::ranges::all_of(values, [&](int64_t value) { return value >= least; });
  };
  return rank >= 2 && fits(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, 0) &&
         fits(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, 0) &&
         fits(CUDNN_ATTR_CONVOLUTION_DILATIONS, 1) &&
         fits(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, 1) &&
         node.one<cudnnConvolutionMode_t>(CUDNN_ATTR_CONVOLUTION_CONV_MODE) ==
             CUDNN_CROSS_CORRELATION &&
         node.one<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE);
}

/// What an operation's attributes are called.
struct Names {
  Kind kind;
  cudnnBackendAttributeName_t x, w, y, convolution, alpha, beta;
};

#define STANDIN_NAMES(kind, direction, x, w, y)                                                    \
  Names {                                                                                          \
    kind, CUDNN_ATTR_OPERATION_CONVOLUTION_##direction##_##x,                                      \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##direction##_##w,                                        \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##direction##_##y,                                        \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##direction##_CONV_DESC,                                  \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##direction##_ALPHA,                                      \
        CUDNN_ATTR_OPERATION_CONVOLUTION_##direction##_BETA                                        \
  }

std::shared_ptr<Operation> operationOf(const Node &node, const Names &names) {
  const Node *x = node.node(names.x, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const Node *w = node.node(names.w, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const Node *y = node.node(names.y, CUDNN_BACKEND_TENSOR_DESCRIPTOR);
  const Node *c = node.node(names.convolution, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
  if (!x || !w || !y || !c)
    return nullptr;
  auto typeOf = [](const Node *tensor) {
    return tensor->one<cudnnDataType_t>(CUDNN_ATTR_TENSOR_DATA_TYPE);
  };
  auto type = *elementsOf(*typeOf(x));
  bool isDouble = type == Type::F64;
  if (typeOf(w) != typeOf(x) || typeOf(y) != typeOf(x) ||
      c->one<cudnnDataType_t>(CUDNN_ATTR_CONVOLUTION_COMP_TYPE) !=
          (isDouble ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT))
    return nullptr;
  // Factors are of the type in which it computes.
  auto factor = [&](cudnnBackendAttributeName_t name) -> std::optional<double> {
    if (isDouble)
      return node.one<double>(name);
    return node.one<float>(name);
  };
  if (factor(names.alpha) != 1 || factor(names.beta) != 0)
    return nullptr;
  auto elements = [](const Node *tensor) {
    return Strided{tensor->all<int64_t>(CUDNN_ATTR_TENSOR_DIMENSIONS),
                   tensor->all<int64_t>(CUDNN_ATTR_TENSOR_STRIDES)};
  };
  auto made = std::make_shared<Operation>(Operation{
      {type, elements(x), elements(w), elements(y),
       c->all<int64_t>(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS),
       c->all<int64_t>(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS),
       c->all<int64_t>(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES),
       c->all<int64_t>(CUDNN_ATTR_CONVOLUTION_DILATIONS)},
      names.kind,
      {*x->one<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID), *w->one<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID),
       *y->one<int64_t>(CUDNN_ATTR_TENSOR_UNIQUE_ID)}});
  return made->problem.fits() ? made : nullptr;
}

/// Takes over what the descriptor of that name computes.
cudnnStatus_t inherit(Node &node, cudnnBackendAttributeName_t name,
                      std::initializer_list<cudnnBackendDescriptorType_t> types) {
  for (cudnnBackendDescriptorType_t type : types)
    if (const Node *from = node.node(name, type)) {
      node.operation = from->operation;
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

cudnnStatus_t finalize(Node &node) {
  auto operation = [&](const Names &names) {
    node.operation = operationOf(node, names);
    return node.operation ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
  };
  auto if_ = [](bool right) { return right ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM; };
  switch (node.type) {
  case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
    return if_(isTensor(node));
  case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
    return if_(isConvolution(node));
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
    return operation(STANDIN_NAMES(Kind::Forward, FORWARD, X, W, Y));
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
    return operation(STANDIN_NAMES(Kind::Data, BWD_DATA, DX, W, DY));
  case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
    return operation(STANDIN_NAMES(Kind::Weights, BWD_FILTER, X, DW, DY));
  case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
    if (!node.one<cudnnHandle_t>(CUDNN_ATTR_OPERATIONGRAPH_HANDLE))
      return CUDNN_STATUS_BAD_PARAM;
    return inherit(node, CUDNN_ATTR_OPERATIONGRAPH_OPS,
                   {CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
                    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
                    CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR});
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
void fill(cudnnBackendDescriptor_t into, const std::shared_ptr<Operation> &operation,
          Engine engine) {
  Node &node = *static_cast<Node *>(into);
  node.operation = operation;
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
  std::vector<Engine> engines = enginesOf(*mode);
  if (!into) { // a bound, as in the library
    *count = int64_t(engines.size()) + 2;
    return CUDNN_STATUS_SUCCESS;
  }
  *count = std::min(most, int64_t(engines.size()));
  for (int64_t i = 0; i < *count; ++i)
    fill(static_cast<cudnnBackendDescriptor_t *>(into)[i], node.operation, engines[size_t(i)]);
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
    fill(*static_cast<cudnnBackendDescriptor_t *>(into), node.operation, node.engine);
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
  std::array<CUdeviceptr, 3> at{};
  for (size_t i = 0; i < at.size(); ++i) {
    auto found = std::ranges::find(ids, planned.operation->ids[i]);
    if (found == ids.end())
      return CUDNN_STATUS_BAD_PARAM;
    at[i] = reinterpret_cast<CUdeviceptr>(pointers[size_t(found - ids.begin())]);
  }
  auto workspace =
      reinterpret_cast<CUdeviceptr>(*given.one<void *>(CUDNN_ATTR_VARIANT_PACK_WORKSPACE));
  bool taken = submit(handle->stream, workspace, usualWorkspace, [=, work = planned.operation] {
    work->problem.compute(work->kind, at[0], at[1], at[2]);
  });
  return taken ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}
