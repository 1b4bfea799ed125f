// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stands in for libcudnn.so, in its older interface: convolutions by algorithms, of descriptors
// that it checks as the library does. What it has beside is in CudnnGraphs.cpp.
#include "Convolution.h"

#include <algorithm>

using namespace standin;

struct cudnnTensorStruct {
  cudnnDataType_t type;
  Strided elements;
};

struct cudnnFilterStruct {
  cudnnDataType_t type;
  cudnnTensorFormat_t format;
  std::vector<int64_t> extents; // K C R S, whatever the format
};

struct cudnnConvolutionStruct {
  cudnnDataType_t compute;
  std::vector<int64_t> padding, stride, dilation;
  int groups = 1;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

namespace {

using Kind = ConvolutionKind;

/// What the algorithms that are right want, to see that they get it.
constexpr size_t usualWorkspace = 32 << 10;

/// A convolution whose descriptors fit each other.
struct Problem : ConvolutionProblem {
  cudnnTensorFormat_t filterFormat;
  cudnnMathType_t math;

  static std::optional<Problem> of(cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
                                   cudnnConvolutionDescriptor_t convolution,
                                   cudnnTensorDescriptor_t y);
};

/// Filters channels last go with activations channels last alone, and not in f64. In TF32 filters
/// channels first go with activations channels first alone: what the library does with others is
/// slow.
bool fitsFilter(const Problem &problem) {
  bool last = problem.filterFormat == CUDNN_TENSOR_NHWC;
  if (last && problem.type == Type::F64)
    return false;
  if (!last && (problem.type != Type::F32 || problem.math == CUDNN_FMA_MATH))
    return true;
  return problem.x.isPacked(last) && problem.y.isPacked(last);
}

Strided elementsOf(const cudnnFilterStruct &filter) {
  Strided result{filter.extents, std::vector<int64_t>(filter.extents.size())};
  bool last = filter.format == CUDNN_TENSOR_NHWC;
  int64_t stride = last ? filter.extents[1] : 1;
  result.strides[1] = 1;
  for (size_t i = filter.extents.size(); i-- > 0;)
    if (i != 1 || !last)
      result.strides[i] = stride, stride *= filter.extents[i];
  return result;
}

std::optional<Problem> Problem::of(cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
                                   cudnnConvolutionDescriptor_t convolution,
                                   cudnnTensorDescriptor_t y) {
  auto type = standin::elementsOf(x->type);
  if (!type || y->type != x->type || w->type != x->type ||
      convolution->compute != (*type == Type::F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT))
    return std::nullopt;
  Problem problem{{*type, x->elements, elementsOf(*w), y->elements, convolution->padding,
                   convolution->padding, convolution->stride, convolution->dilation},
                  w->format,
                  convolution->math};
  bool fits = problem.fits() && problem.groups() == convolution->groups && fitsFilter(problem);
  return fits ? std::optional(problem) : std::nullopt;
}

/// Whether there are algorithms for the layouts.
bool isSupported(const Problem &problem) {
  return setting("STANDIN_CUDNN", "") != "channels_first" ||
         (problem.x.isPacked(false) && problem.y.isPacked(false) &&
          problem.filterFormat == CUDNN_TENSOR_NCHW);
}

/// Algorithms as the library lists them: first what must not be taken, for one reason each.
template <typename Performance, typename Algorithm>
cudnnStatus_t list(const std::optional<Problem> &problem, int most, int *count,
                   Performance *results) {
  if (!problem || most < 1)
    return CUDNN_STATUS_BAD_PARAM;
  std::string only = setting("STANDIN_CUDNN", "");
  if (only == "plans")
    return CUDNN_STATUS_NOT_SUPPORTED;
  Performance right{};
  right.algo = Algorithm(1);
  right.status = CUDNN_STATUS_SUCCESS;
  right.determinism = CUDNN_DETERMINISTIC;
  right.memory = usualWorkspace;
  right.mathType = problem->math == CUDNN_DEFAULT_MATH ? CUDNN_TENSOR_OP_MATH : problem->math;
  Performance random = right, missing = right, large = right, fast = right;
  random.algo = missing.algo = large.algo = fast.algo = Algorithm(0);
  random.determinism = CUDNN_NON_DETERMINISTIC;
  missing.status = CUDNN_STATUS_NOT_SUPPORTED;
  large.memory = size_t(1) << 40;
  fast.mathType = CUDNN_TENSOR_OP_MATH;
  std::vector<Performance> all{random, missing, large};
  if (problem->math == CUDNN_FMA_MATH)
    all.push_back(fast);
  if (only != "random" && only != "rounding")
    all.insert(all.end(), 2, right); // as if there were two
  if (!isSupported(*problem))
    for (Performance &each : all)
      each.status = CUDNN_STATUS_NOT_SUPPORTED;
  *count = std::min(most, int(all.size()));
  std::copy_n(all.begin(), *count, results);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t enqueue(cudnnHandle_t handle, const std::optional<Problem> &problem, Kind kind,
                      int algorithm, const void *alpha, const void *beta, const void *x,
                      const void *w, const void *y, void *workspace, size_t workspaceBytes) {
  // The default is what algorithms are asked for with; each says which type it is to be called
  // with.
  if (!problem || algorithm != 1 || workspaceBytes < usualWorkspace ||
      problem->math == CUDNN_DEFAULT_MATH)
    return CUDNN_STATUS_BAD_PARAM;
  if (scaleFactor(alpha, problem->type) != 1 || scaleFactor(beta, problem->type) != 0 ||
      !isSupported(*problem))
    return CUDNN_STATUS_NOT_SUPPORTED;
  auto at = [](const void *pointer) { return reinterpret_cast<CUdeviceptr>(pointer); };
  bool taken = submit(handle->stream, at(workspace), usualWorkspace,
                      [=] { problem->compute(kind, at(x), at(w), at(y)); });
  return taken ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

} // namespace

// ---- Handles and descriptors ----

cudnnStatus_t cudnnCreate(cudnnHandle_t *handle) {
  STANDIN_ENTER(cudnnCreate);
  *handle = new cudnnContext;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  STANDIN_ENTER(cudnnSetStream);
  handle->stream = reinterpret_cast<CUstream>(stream);
  return CUDNN_STATUS_SUCCESS;
}

const char *cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
  case CUDNN_STATUS_NOT_INITIALIZED:
    return "CUDNN_STATUS_NOT_INITIALIZED";
  case CUDNN_STATUS_BAD_PARAM:
    return "CUDNN_STATUS_BAD_PARAM";
  case CUDNN_STATUS_NOT_SUPPORTED:
    return "CUDNN_STATUS_NOT_SUPPORTED";
  case CUDNN_STATUS_EXECUTION_FAILED:
    return "CUDNN_STATUS_EXECUTION_FAILED";
  default:
    return "CUDNN_STATUS_UNKNOWN";
  }
}

cudnnStatus_t cudnnCreateTensorDescriptor(cudnnTensorDescriptor_t *made) {
  STANDIN_ENTER(cudnnCreateTensorDescriptor);
  *made = new cudnnTensorStruct{};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroyTensorDescriptor(cudnnTensorDescriptor_t tensor) {
  delete tensor;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t tensor, cudnnDataType_t type,
                                         int rank, const int extents[], const int strides[]) {
  STANDIN_ENTER(cudnnSetTensorNdDescriptor);
  if (rank < 4 || rank > int(mostDims) ||
      std::any_of(extents, extents + rank, [](int extent) { return extent < 1; }))
    return CUDNN_STATUS_BAD_PARAM;
  *tensor = {type, {{extents, extents + rank}, {strides, strides + rank}}};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateFilterDescriptor(cudnnFilterDescriptor_t *made) {
  STANDIN_ENTER(cudnnCreateFilterDescriptor);
  *made = new cudnnFilterStruct{};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroyFilterDescriptor(cudnnFilterDescriptor_t filter) {
  delete filter;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t filter, cudnnDataType_t type,
                                         cudnnTensorFormat_t format, int rank,
                                         const int extents[]) {
  STANDIN_ENTER(cudnnSetFilterNdDescriptor);
  if ((format != CUDNN_TENSOR_NCHW && format != CUDNN_TENSOR_NHWC) || rank < 4 ||
      rank > int(mostDims) ||
      std::any_of(extents, extents + rank, [](int extent) { return extent < 1; }))
    return CUDNN_STATUS_BAD_PARAM;
  *filter = {type, format, {extents, extents + rank}};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnCreateConvolutionDescriptor(cudnnConvolutionDescriptor_t *made) {
  STANDIN_ENTER(cudnnCreateConvolutionDescriptor);
  *made = new cudnnConvolutionStruct{};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroyConvolutionDescriptor(cudnnConvolutionDescriptor_t convolution) {
  delete convolution;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionNdDescriptor(cudnnConvolutionDescriptor_t convolution, int rank,
                                              const int padding[], const int stride[],
                                              const int dilation[], cudnnConvolutionMode_t mode,
                                              cudnnDataType_t compute) {
  STANDIN_ENTER(cudnnSetConvolutionNdDescriptor);
  for (int i = 0; i < rank; ++i)
    if (padding[i] < 0 || stride[i] < 1 || dilation[i] < 1)
      return CUDNN_STATUS_BAD_PARAM;
  if (mode != CUDNN_CROSS_CORRELATION || rank < 2 || rank > int(mostDims) - 2)
    return CUDNN_STATUS_BAD_PARAM;
  convolution->compute = compute;
  convolution->padding.assign(padding, padding + rank);
  convolution->stride.assign(stride, stride + rank);
  convolution->dilation.assign(dilation, dilation + rank);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnSetConvolutionGroupCount(cudnnConvolutionDescriptor_t convolution, int groups) {
  STANDIN_ENTER(cudnnSetConvolutionGroupCount);
  convolution->groups = groups;
  return groups > 0 ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_BAD_PARAM;
}

cudnnStatus_t cudnnSetConvolutionMathType(cudnnConvolutionDescriptor_t convolution,
                                          cudnnMathType_t math) {
  STANDIN_ENTER(cudnnSetConvolutionMathType);
  convolution->math = math;
  return CUDNN_STATUS_SUCCESS;
}

// ---- Layouts ----

cudnnStatus_t cudnnTransformTensor(cudnnHandle_t handle, const void *alpha,
                                   const cudnnTensorDescriptor_t from, const void *x,
                                   const void *beta, const cudnnTensorDescriptor_t to, void *y) {
  STANDIN_ENTER(cudnnTransformTensor);
  auto type = standin::elementsOf(from->type);
  if (!type || to->type != from->type || to->elements.extents != from->elements.extents || x == y)
    return CUDNN_STATUS_BAD_PARAM;
  if (scaleFactor(alpha, *type) != 1 || scaleFactor(beta, *type) != 0)
    return CUDNN_STATUS_NOT_SUPPORTED;
  auto source = reinterpret_cast<CUdeviceptr>(x), target = reinterpret_cast<CUdeviceptr>(y);
  bool taken = submit(handle->stream, 0, 0, [=, from = from->elements, to = to->elements] {
    Operand read(source, "x"), written(target, "y");
    Index index{};
    do
      store(written, *type, to.placeOf(index), load(read, *type, from.placeOf(index)));
    while (next(index, from.extents));
  });
  return taken ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_EXECUTION_FAILED;
}

// ---- Convolutions ----

cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t x,
                                                     const cudnnFilterDescriptor_t w,
                                                     const cudnnConvolutionDescriptor_t convolution,
                                                     const cudnnTensorDescriptor_t y,
                                                     const int most, int *count,
                                                     cudnnConvolutionFwdAlgoPerf_t *results) {
  STANDIN_ENTER(cudnnGetConvolutionForwardAlgorithm_v7);
  return list<cudnnConvolutionFwdAlgoPerf_t, cudnnConvolutionFwdAlgo_t>(
      Problem::of(x, w, convolution, y), most, count, results);
}

cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t, const cudnnFilterDescriptor_t w, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t convolution, const cudnnTensorDescriptor_t dx,
    const int most, int *count, cudnnConvolutionBwdDataAlgoPerf_t *results) {
  STANDIN_ENTER(cudnnGetConvolutionBackwardDataAlgorithm_v7);
  return list<cudnnConvolutionBwdDataAlgoPerf_t, cudnnConvolutionBwdDataAlgo_t>(
      Problem::of(dx, w, convolution, dy), most, count, results);
}

cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t, const cudnnTensorDescriptor_t x, const cudnnTensorDescriptor_t dy,
    const cudnnConvolutionDescriptor_t convolution, const cudnnFilterDescriptor_t dw,
    const int most, int *count, cudnnConvolutionBwdFilterAlgoPerf_t *results) {
  STANDIN_ENTER(cudnnGetConvolutionBackwardFilterAlgorithm_v7);
  return list<cudnnConvolutionBwdFilterAlgoPerf_t, cudnnConvolutionBwdFilterAlgo_t>(
      Problem::of(x, dw, convolution, dy), most, count, results);
}

cudnnStatus_t cudnnConvolutionForward(cudnnHandle_t handle, const void *alpha,
                                      const cudnnTensorDescriptor_t xShape, const void *x,
                                      const cudnnFilterDescriptor_t wShape, const void *w,
                                      const cudnnConvolutionDescriptor_t convolution,
                                      cudnnConvolutionFwdAlgo_t algorithm, void *workspace,
                                      size_t workspaceBytes, const void *beta,
                                      const cudnnTensorDescriptor_t yShape, void *y) {
  STANDIN_ENTER(cudnnConvolutionForward);
  return enqueue(handle, Problem::of(xShape, wShape, convolution, yShape), Kind::Forward, algorithm,
                 alpha, beta, x, w, y, workspace, workspaceBytes);
}

cudnnStatus_t cudnnConvolutionBackwardData(cudnnHandle_t handle, const void *alpha,
                                           const cudnnFilterDescriptor_t wShape, const void *w,
                                           const cudnnTensorDescriptor_t dyShape, const void *dy,
                                           const cudnnConvolutionDescriptor_t convolution,
                                           cudnnConvolutionBwdDataAlgo_t algorithm, void *workspace,
                                           size_t workspaceBytes, const void *beta,
                                           const cudnnTensorDescriptor_t dxShape, void *dx) {
  STANDIN_ENTER(cudnnConvolutionBackwardData);
  return enqueue(handle, Problem::of(dxShape, wShape, convolution, dyShape), Kind::Data, algorithm,
                 alpha, beta, dx, w, dy, workspace, workspaceBytes);
}

cudnnStatus_t cudnnConvolutionBackwardFilter(cudnnHandle_t handle, const void *alpha,
                                             const cudnnTensorDescriptor_t xShape, const void *x,
                                             const cudnnTensorDescriptor_t dyShape, const void *dy,
                                             const cudnnConvolutionDescriptor_t convolution,
                                             cudnnConvolutionBwdFilterAlgo_t algorithm,
                                             void *workspace, size_t workspaceBytes,
                                             const void *beta,
                                             const cudnnFilterDescriptor_t dwShape, void *dw) {
  STANDIN_ENTER(cudnnConvolutionBackwardFilter);
  return enqueue(handle, Problem::of(xShape, dwShape, convolution, dyShape), Kind::Weights,
                 algorithm, alpha, beta, x, dw, dy, workspace, workspaceBytes);
}
