// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stands in for libcudnn.so: convolutions in double precision, of descriptors that it checks as the
// library does.
#include "Library.h"

#include <algorithm>
#include <array>
#include <cudnn.h>

using namespace standin;

struct cudnnContext {
  CUstream stream = nullptr;
};

struct cudnnTensorStruct {
  cudnnDataType_t type;
  std::vector<int> extents, strides;
};

struct cudnnFilterStruct {
  cudnnDataType_t type;
  cudnnTensorFormat_t format;
  std::vector<int> extents; // K C R S, whatever the format
};

struct cudnnConvolutionStruct {
  cudnnDataType_t compute;
  std::vector<int> padding, stride, dilation;
  int groups = 1;
  cudnnMathType_t math = CUDNN_DEFAULT_MATH;
};

namespace {

/// What the algorithms that are right want, to see that they get it.
constexpr size_t usualWorkspace = 32 << 10;

#define STANDIN_ENTER(name)                                                                        \
  if (auto refused = enterLibrary(#name, CUDNN_STATUS_SUCCESS, CUDNN_STATUS_EXECUTION_FAILED,      \
                                  CUDNN_STATUS_NOT_INITIALIZED))                                   \
  return refused

std::optional<Type> elementsOf(cudnnDataType_t type) {
  switch (type) {
  case CUDNN_DATA_HALF:
    return Type::F16;
  case CUDNN_DATA_BFLOAT16:
    return Type::BF16;
  case CUDNN_DATA_FLOAT:
    return Type::F32;
  case CUDNN_DATA_DOUBLE:
    return Type::F64;
  default:
    return std::nullopt;
  }
}

constexpr size_t mostDims = 5;
using Index = std::array<int, mostDims>;

/// Of an element, among those from the tensor's first.
int64_t placeOf(const cudnnTensorStruct &tensor, const Index &index) {
  int64_t place = 0;
  for (size_t i = 0; i < tensor.extents.size(); ++i)
    place += int64_t(index[i]) * tensor.strides[i];
  return place;
}

/// A convolution whose descriptors fit each other.
struct Problem {
  cudnnTensorStruct x, y;
  cudnnFilterStruct w;
  cudnnConvolutionStruct convolution;
  Type type;

  static std::optional<Problem> of(cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
                                   cudnnConvolutionDescriptor_t convolution,
                                   cudnnTensorDescriptor_t y);

  size_t rank() const { return x.extents.size(); }
  int64_t at(const Index &index) const { // of the weights
    int64_t place = index[0];
    size_t first = w.format == CUDNN_TENSOR_NHWC ? 2 : 1; // after which C is the last
    for (size_t i = first; i < rank(); ++i)
      place = place * w.extents[i] + index[i];
    return first == 1 ? place : place * w.extents[1] + index[1];
  }

  /// Calls `body` with the places in x, w and y of all products of the convolution. A place in w or
  /// y comes as often as there are products for it.
  template <typename Body> void forProducts(Body body) const;
};

/// Whether the tensor's elements lie without gaps, its channels before or behind its pixels.
bool isPacked(const cudnnTensorStruct &tensor, bool channelsLast) {
  size_t rank = tensor.extents.size();
  std::vector<size_t> order{0};
  for (size_t i = channelsLast ? 2 : 1; i < rank; ++i)
    order.push_back(i);
  if (channelsLast)
    order.push_back(1);
  int stride = 1;
  for (size_t i = rank; i-- > 0; stride *= tensor.extents[order[i]])
    if (tensor.extents[order[i]] != 1 && tensor.strides[order[i]] != stride)
      return false;
  return true;
}

/// Filters channels last go with activations channels last alone, and not in f64. In TF32 filters
/// channels first go with activations channels first alone: what the library does with others is
/// slow.
bool fitsFilter(const Problem &problem) {
  bool last = problem.w.format == CUDNN_TENSOR_NHWC;
  if (last && problem.type == Type::F64)
    return false;
  if (!last && (problem.type != Type::F32 || problem.convolution.math == CUDNN_FMA_MATH))
    return true;
  return isPacked(problem.x, last) && isPacked(problem.y, last);
}

std::optional<Problem> Problem::of(cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
                                   cudnnConvolutionDescriptor_t convolution,
                                   cudnnTensorDescriptor_t y) {
  auto type = elementsOf(x->type);
  size_t rank = x->extents.size();
  if (!type || y->type != x->type || w->type != x->type || y->extents.size() != rank ||
      w->extents.size() != rank || convolution->padding.size() + 2 != rank ||
      convolution->compute != (*type == Type::F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT))
    return std::nullopt;
  int groups = convolution->groups;
  if (x->extents[0] != y->extents[0] || w->extents[0] != y->extents[1] ||
      w->extents[1] * groups != x->extents[1] || w->extents[0] % groups)
    return std::nullopt;
  for (size_t i = 2; i < rank; ++i) {
    int reach = (w->extents[i] - 1) * convolution->dilation[i - 2] + 1;
    int padded = x->extents[i] + 2 * convolution->padding[i - 2];
    if (padded < reach || y->extents[i] != (padded - reach) / convolution->stride[i - 2] + 1)
      return std::nullopt;
  }
  Problem problem{*x, *y, *w, *convolution, *type};
  return fitsFilter(problem) ? std::optional(problem) : std::nullopt;
}

/// The next index within `extents`; false after the last.
bool next(Index &index, const std::vector<int> &extents) {
  for (size_t i = extents.size(); i-- > 0;) {
    if (++index[i] < extents[i])
      return true;
    index[i] = 0;
  }
  return false;
}

template <typename Body> void Problem::forProducts(Body body) const {
  int inGroup = w.extents[1], outGroup = w.extents[0] / convolution.groups;
  Index output{};
  do {
    std::vector<int> taps(w.extents.begin() + 1, w.extents.end());
    Index tap{};
    do {
      Index input{output[0], output[1] / outGroup * inGroup + tap[0]};
      Index weight{output[1], tap[0]};
      bool inside = true;
      for (size_t i = 2; i < rank(); ++i) {
        weight[i] = tap[i - 1];
        input[i] = output[i] * convolution.stride[i - 2] - convolution.padding[i - 2] +
                   weight[i] * convolution.dilation[i - 2];
        inside = inside && input[i] >= 0 && input[i] < x.extents[i];
      }
      if (inside)
        body(placeOf(x, input), at(weight), placeOf(y, output));
    } while (next(tap, taps));
  } while (next(output, y.extents));
}

/// One operand as a whole, in the order in which it lies in memory.
struct Values {
  Values(Type type, int64_t count) : type(type), all(size_t(count)) {}
  void read(CUdeviceptr address, const char *name) {
    Operand operand(address, name);
    for (size_t i = 0; i < all.size(); ++i)
      all[i] = load(operand, type, int64_t(i));
  }
  void write(CUdeviceptr address, const char *name) const {
    Operand operand(address, name);
    for (size_t i = 0; i < all.size(); ++i)
      store(operand, type, int64_t(i), all[i]);
  }
  double &operator[](int64_t place) { return all[size_t(place)]; }

  Type type;
  std::vector<double> all;
};

int64_t countOf(const std::vector<int> &extents) {
  int64_t count = 1;
  for (int extent : extents)
    count *= extent;
  return count;
}

enum class Kind { Forward, Data, Weights };

void compute(const Problem &problem, Kind kind, CUdeviceptr xAt, CUdeviceptr wAt, CUdeviceptr yAt) {
  Values x(problem.type, countOf(problem.x.extents)), w(problem.type, countOf(problem.w.extents)),
      y(problem.type, countOf(problem.y.extents));
  if (kind != Kind::Data)
    x.read(xAt, "x");
  if (kind != Kind::Weights)
    w.read(wAt, "w");
  if (kind != Kind::Forward)
    y.read(yAt, "dy");
  problem.forProducts([&](int64_t i, int64_t j, int64_t k) {
    if (kind == Kind::Forward)
      y[k] += x[i] * w[j];
    else if (kind == Kind::Data)
      x[i] += y[k] * w[j];
    else
      w[j] += x[i] * y[k];
  });
  if (kind == Kind::Forward)
    y.write(yAt, "y");
  else if (kind == Kind::Data)
    x.write(xAt, "dx");
  else
    w.write(wAt, "dw");
}

/// Whether there are algorithms for the layouts.
bool isSupported(const Problem &problem) {
  return setting("STANDIN_CUDNN", "") != "channels_first" ||
         (isPacked(problem.x, false) && isPacked(problem.y, false) &&
          problem.w.format == CUDNN_TENSOR_NCHW);
}

/// Algorithms as the library lists them: first what must not be taken, for one reason each.
template <typename Performance, typename Algorithm>
cudnnStatus_t list(const std::optional<Problem> &problem, int most, int *count,
                   Performance *results) {
  if (!problem || most < 1)
    return CUDNN_STATUS_BAD_PARAM;
  Performance right{};
  right.algo = Algorithm(1);
  right.status = CUDNN_STATUS_SUCCESS;
  right.determinism = CUDNN_DETERMINISTIC;
  right.memory = usualWorkspace;
  right.mathType = problem->convolution.math == CUDNN_DEFAULT_MATH ? CUDNN_TENSOR_OP_MATH
                                                                   : problem->convolution.math;
  Performance random = right, missing = right, large = right, fast = right;
  random.algo = missing.algo = large.algo = fast.algo = Algorithm(0);
  random.determinism = CUDNN_NON_DETERMINISTIC;
  missing.status = CUDNN_STATUS_NOT_SUPPORTED;
  large.memory = size_t(1) << 40;
  fast.mathType = CUDNN_TENSOR_OP_MATH;
  std::vector<Performance> all{random, missing, large};
  if (problem->convolution.math == CUDNN_FMA_MATH)
    all.push_back(fast);
  if (setting("STANDIN_CUDNN", "") != "random")
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
      problem->convolution.math == CUDNN_DEFAULT_MATH)
    return CUDNN_STATUS_BAD_PARAM;
  if (scaleFactor(alpha, problem->type) != 1 || scaleFactor(beta, problem->type) != 0 ||
      !isSupported(*problem))
    return CUDNN_STATUS_NOT_SUPPORTED;
  auto at = [](const void *pointer) { return reinterpret_cast<CUdeviceptr>(pointer); };
  bool taken = submit(handle->stream, at(workspace), usualWorkspace,
                      [=] { compute(*problem, kind, at(x), at(w), at(y)); });
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
  *tensor = {type, {extents, extents + rank}, {strides, strides + rank}};
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
  auto type = elementsOf(from->type);
  if (!type || to->type != from->type || to->extents != from->extents || x == y)
    return CUDNN_STATUS_BAD_PARAM;
  if (scaleFactor(alpha, *type) != 1 || scaleFactor(beta, *type) != 0)
    return CUDNN_STATUS_NOT_SUPPORTED;
  auto source = reinterpret_cast<CUdeviceptr>(x), target = reinterpret_cast<CUdeviceptr>(y);
  bool taken = submit(handle->stream, 0, 0, [=, from = *from, to = *to] {
    Operand read(source, "x"), written(target, "y");
    Index index{};
    do
      store(written, *type, placeOf(to, index), load(read, *type, placeOf(from, index)));
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
