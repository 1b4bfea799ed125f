// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Cudnn.h"

#include "LibraryFunctions.h"
#include "PaddedCopy.h"
#include "accc/tensor.h"
#include "core/DescribeCall.h"

#include <algorithm>
#include <array>
#include <cudnn.h>
#include <limits>

namespace accc::detail {

#define ACCC_CUDNN_FUNCTIONS(F)                                                                    \
  F(cudnnCreate)                                                                                   \
  F(cudnnDestroy)                                                                                  \
  F(cudnnSetStream)                                                                                \
  F(cudnnGetErrorString)                                                                           \
  F(cudnnCreateTensorDescriptor)                                                                   \
  F(cudnnDestroyTensorDescriptor)                                                                  \
  F(cudnnSetTensorNdDescriptor)                                                                    \
  F(cudnnCreateFilterDescriptor)                                                                   \
  F(cudnnDestroyFilterDescriptor)                                                                  \
  F(cudnnSetFilterNdDescriptor)                                                                    \
  F(cudnnCreateConvolutionDescriptor)                                                              \
  F(cudnnDestroyConvolutionDescriptor)                                                             \
  F(cudnnSetConvolutionNdDescriptor)                                                               \
  F(cudnnSetConvolutionGroupCount)                                                                 \
  F(cudnnSetConvolutionMathType)                                                                   \
  F(cudnnGetConvolutionForwardAlgorithm_v7)                                                        \
  F(cudnnGetConvolutionBackwardDataAlgorithm_v7)                                                   \
  F(cudnnGetConvolutionBackwardFilterAlgorithm_v7)                                                 \
  F(cudnnConvolutionForward)                                                                       \
  F(cudnnConvolutionBackwardData)                                                                  \
  F(cudnnConvolutionBackwardFilter)

struct CudnnFunctions {
  ACCC_LIBRARY_FUNCTIONS(ACCC_CUDNN_FUNCTIONS)

  static const CudnnFunctions *find(std::string &why) {
    return loadOnce<CudnnFunctions>({"libcudnn.so.9"}, why);
  }

  void check(cudnnStatus_t status, const char *doing) const {
    if (status != CUDNN_STATUS_SUCCESS)
      throw Error(ErrorKind::machine,
                  std::string("cuDNN failed in ") + doing + ": " + cudnnGetErrorString(status));
  }
};

namespace {

/// Algorithms that want more than this beside their operands are passed over.
constexpr size_t mostWorkspace = size_t(1) << 30;

constexpr int mostDims = ACCC_MAX_SPATIAL_DIMS + 2;
using Extents = std::array<int, mostDims>;

/// A convolution as cuDNN's arrays say it. It knows two and three dimensions: one is two of which
/// the first has the extent 1.
struct Shape {
  explicit Shape(const accc_convolution &c) {
    int missing = c.spatial_rank == 1;
    spatial = c.spatial_rank + missing;
    x = {int(c.batch), int(c.in_channels)};
    y = {int(c.batch), int(c.out_channels)};
    w = {int(c.out_channels), int(c.in_channels / c.groups)};
    for (int i = 0; i < spatial; ++i) {
      int from = i - missing;
      x[2 + i] = from < 0 ? 1 : int(c.in_size[from]);
      y[2 + i] = from < 0 ? 1 : int(c.out_size[from]);
      w[2 + i] = from < 0 ? 1 : int(c.kernel[from]);
      padding[i] = from < 0 ? 0 : int(c.pad_low[from]);
      stride[i] = from < 0 ? 1 : int(c.stride[from]);
      dilation[i] = from < 0 ? 1 : int(c.dilation[from]);
    }
    channelsLast = c.layout == ACCC_CHANNELS_LAST;
    filterFormat = c.filter_layout == ACCC_CHANNELS_LAST ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW;
  }

  int rank() const { return spatial + 2; }
  /// Of x or y.
  Extents stridesOf(const Extents &extents) const {
    Extents strides{};
    int stride = 1;
    if (channelsLast)
      strides[1] = 1, stride = extents[1];
    for (int i = rank() - 1; i >= 0; --i)
      if (i != 1 || !channelsLast)
        strides[i] = stride, stride *= extents[i];
    return strides;
  }

  int spatial;
  Extents x{}, y{}, w{};
  std::array<int, ACCC_MAX_SPATIAL_DIMS> padding{}, stride{}, dilation{};
  bool channelsLast;
  cudnnTensorFormat_t filterFormat; // of w, whose extents are those of KCRS in either
};

cudnnDataType_t typeOf(int32_t dtype) {
  switch (dtype) {
  case ACCC_F64:
    return CUDNN_DATA_DOUBLE;
  case ACCC_F16:
    return CUDNN_DATA_HALF;
  case ACCC_BF16:
    return CUDNN_DATA_BFLOAT16;
  default:
    return CUDNN_DATA_FLOAT;
  }
}

/// Elements of the input, weights and output.
std::array<int64_t, 3> elementsOf(const accc_convolution &c) {
  int64_t x = c.batch * c.in_channels, w = c.out_channels * (c.in_channels / c.groups),
          y = c.batch * c.out_channels;
  for (int32_t i = 0; i < c.spatial_rank; ++i)
    x *= c.in_size[i], w *= c.kernel[i], y *= c.out_size[i];
  return {x, w, y};
}

bool isEmpty(const accc_convolution &c) {
  auto elements = elementsOf(c);
  return std::ranges::find(elements, 0) != elements.end();
}

/// One of whose operands is empty: the result is zero, if anything.
class EmptyConvolution : public LibraryCall {
public:
  EmptyConvolution(const Context &context, const accc_library_call &call) : context(context) {
    auto [x, w, y] = elementsOf(call.u.convolution);
    int64_t result = call.kind == ACCC_CALL_CONVOLUTION                 ? y
                     : call.kind == ACCC_CALL_CONVOLUTION_BACKWARD_DATA ? x
                                                                        : w;
    bytes = static_cast<uint64_t>(result) * size_of(static_cast<DType>(call.dtypes[2]));
  }
  void enqueue(std::span<const CUdeviceptr> buffers, CUdeviceptr) override {
    if (bytes)
      context.driver.check(context.driver.cuMemsetD8Async(buffers[2], 0, bytes, context.stream),
                           "clearing the result of an empty convolution");
  }

private:
  const Context &context;
  uint64_t bytes;
};

/// The descriptors that the three kinds share.
class Convolution : public LibraryCall {
public:
  Convolution(const Context &context, const CudnnFunctions &functions, cudnnHandle_t handle,
              const accc_library_call &call)
      : functions(functions), handle(handle), call(call),
        x(nullptr, functions.cudnnDestroyTensorDescriptor),
        y(nullptr, functions.cudnnDestroyTensorDescriptor),
        w(nullptr, functions.cudnnDestroyFilterDescriptor),
        convolution(nullptr, functions.cudnnDestroyConvolutionDescriptor) {
    const accc_convolution &given = call.u.convolution;
    if (PaddedCopy::isNeeded(given))
      padded.emplace(context, given, size_of(static_cast<DType>(call.dtypes[0])));
    describe(Shape(padded ? padded->convolution() : given));
  }

  /// First the library's, then the padded copy.
  uint64_t scratchBytes() const override {
    return workspaceBytes + (padded ? paddedBytesAligned() : 0);
  }

protected:
  template <typename Pointer>
  using Descriptor = std::unique_ptr<std::remove_pointer_t<Pointer>, cudnnStatus_t (*)(Pointer)>;

  static void *at(CUdeviceptr address) { return reinterpret_cast<void *>(address); }
  CUdeviceptr paddedAt(CUdeviceptr scratch) const { return scratch; }
  void *workspaceAt(CUdeviceptr scratch) const {
    return at(scratch + (padded ? paddedBytesAligned() : 0));
  }
  const void *factor(bool one) const {
    static constexpr float single[] = {0, 1};
    static constexpr double twice[] = {0, 1};
    return call.dtypes[0] == ACCC_F64 ? static_cast<const void *>(twice + one) : single + one;
  }

  /// Asks `get`, one of the library's, for algorithms and gives the first that is reproducible and
  /// multiplies as the call wants.
  template <typename Performance, typename Get> auto choose(Get get) {
    std::array<Performance, 16> found{};
    int count = 0;
    functions.check(get(int(found.size()), &count, found.data()),
                    "choosing an algorithm for a convolution");
    for (int i = 0; i < count; ++i) {
      const Performance &candidate = found[static_cast<size_t>(i)];
      if (candidate.status == CUDNN_STATUS_SUCCESS &&
          candidate.determinism == CUDNN_DETERMINISTIC && candidate.memory <= mostWorkspace &&
          (mathType() != CUDNN_FMA_MATH || candidate.mathType == CUDNN_FMA_MATH)) {
        functions.check(
            functions.cudnnSetConvolutionMathType(convolution.get(), candidate.mathType),
            "choosing an algorithm for a convolution");
        workspaceBytes = candidate.memory;
        return candidate.algo;
      }
    }
    throw Error(ErrorKind::machine,
                "cuDNN has no reproducible algorithm for a convolution (" + detail::describe(call) +
                    ", " + std::string(to_string(static_cast<DType>(call.dtypes[0]))) +
                    "; it offers " + offers<Performance>({found.data(), size_t(count)}) + ")");
  }

  /// "0 (needs 12 bytes), 1 (other bits in every run)": algorithms by number, and what is wrong
  /// with each.
  template <typename Performance> std::string offers(std::span<const Performance> found) const {
    std::string text;
    for (const Performance &candidate : found) {
      std::string why = candidate.status != CUDNN_STATUS_SUCCESS
                            ? std::string(functions.cudnnGetErrorString(candidate.status))
                        : candidate.determinism != CUDNN_DETERMINISTIC ? "other bits in every run"
                        : candidate.memory > mostWorkspace
                            ? "needs " + std::to_string(candidate.memory) + " bytes"
                            : "rounds its operands";
      text += (text.empty() ? "" : ", ") + std::to_string(candidate.algo) + " (" + why + ")";
    }
    return text.empty() ? "none" : text;
  }

  const CudnnFunctions &functions;
  cudnnHandle_t handle;
  const accc_library_call &call;
  std::optional<PaddedCopy> padded;
  Descriptor<cudnnTensorDescriptor_t> x, y;
  Descriptor<cudnnFilterDescriptor_t> w;
  Descriptor<cudnnConvolutionDescriptor_t> convolution;
  size_t workspaceBytes = 0;

private:
  uint64_t paddedBytesAligned() const { return (padded->bytes() + 255) / 256 * 256; }

  cudnnMathType_t mathType() const {
    if (call.dtypes[0] == ACCC_F16 || call.dtypes[0] == ACCC_BF16)
      return CUDNN_TENSOR_OP_MATH;
    bool mayRound = call.compute == ACCC_COMPUTE_TF32 || call.dtypes[0] == ACCC_F64;
    return mayRound ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH; // the default takes f32 as TF32
  }

  void describe(const Shape &shape) {
    const char *doing = "describing a convolution";
    cudnnDataType_t type = typeOf(call.dtypes[0]);
    for (auto [descriptor, extents] : {std::pair(&x, &shape.x), std::pair(&y, &shape.y)}) {
      cudnnTensorDescriptor_t made = nullptr;
      functions.check(functions.cudnnCreateTensorDescriptor(&made), doing);
      descriptor->reset(made);
      functions.check(functions.cudnnSetTensorNdDescriptor(made, type, shape.rank(),
                                                           extents->data(),
                                                           shape.stridesOf(*extents).data()),
                      doing);
    }
    cudnnFilterDescriptor_t filter = nullptr;
    functions.check(functions.cudnnCreateFilterDescriptor(&filter), doing);
    w.reset(filter);
    functions.check(functions.cudnnSetFilterNdDescriptor(filter, type, shape.filterFormat,
                                                         shape.rank(), shape.w.data()),
                    doing);
    cudnnConvolutionDescriptor_t made = nullptr;
    functions.check(functions.cudnnCreateConvolutionDescriptor(&made), doing);
    convolution.reset(made);
    functions.check(functions.cudnnSetConvolutionNdDescriptor(
                        made, shape.spatial, shape.padding.data(), shape.stride.data(),
                        shape.dilation.data(), CUDNN_CROSS_CORRELATION,
                        type == CUDNN_DATA_DOUBLE ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT),
                    doing);
    functions.check(functions.cudnnSetConvolutionGroupCount(made, int(call.u.convolution.groups)),
                    doing);
    functions.check(functions.cudnnSetConvolutionMathType(made, mathType()), doing);
  }
};

class Forward final : public Convolution {
public:
  template <typename... Arguments>
  explicit Forward(const Arguments &...arguments) : Convolution(arguments...) {
    algorithm = choose<cudnnConvolutionFwdAlgoPerf_t>([&](int most, int *count, auto *found) {
      return functions.cudnnGetConvolutionForwardAlgorithm_v7(
          handle, x.get(), w.get(), convolution.get(), y.get(), most, count, found);
    });
  }
  void enqueue(std::span<const CUdeviceptr> buffers, CUdeviceptr scratch) override {
    if (padded)
      padded->pad(buffers[0], paddedAt(scratch));
    functions.check(functions.cudnnConvolutionForward(
                        handle, factor(true), x.get(), at(padded ? paddedAt(scratch) : buffers[0]),
                        w.get(), at(buffers[1]), convolution.get(), algorithm, workspaceAt(scratch),
                        workspaceBytes, factor(false), y.get(), at(buffers[2])),
                    "a convolution");
  }

private:
  cudnnConvolutionFwdAlgo_t algorithm;
};

class BackwardData final : public Convolution {
public:
  template <typename... Arguments>
  explicit BackwardData(const Arguments &...arguments) : Convolution(arguments...) {
    algorithm = choose<cudnnConvolutionBwdDataAlgoPerf_t>([&](int most, int *count, auto *found) {
      return functions.cudnnGetConvolutionBackwardDataAlgorithm_v7(
          handle, w.get(), y.get(), convolution.get(), x.get(), most, count, found);
    });
  }
  void enqueue(std::span<const CUdeviceptr> buffers, CUdeviceptr scratch) override {
    functions.check(functions.cudnnConvolutionBackwardData(
                        handle, factor(true), w.get(), at(buffers[1]), y.get(), at(buffers[0]),
                        convolution.get(), algorithm, workspaceAt(scratch), workspaceBytes,
                        factor(false), x.get(), at(padded ? paddedAt(scratch) : buffers[2])),
                    "a convolution's gradient of its input");
    if (padded)
      padded->cut(paddedAt(scratch), buffers[2]);
  }

private:
  cudnnConvolutionBwdDataAlgo_t algorithm;
};

class BackwardWeights final : public Convolution {
public:
  template <typename... Arguments>
  explicit BackwardWeights(const Arguments &...arguments) : Convolution(arguments...) {
    algorithm = choose<cudnnConvolutionBwdFilterAlgoPerf_t>([&](int most, int *count, auto *found) {
      return functions.cudnnGetConvolutionBackwardFilterAlgorithm_v7(
          handle, x.get(), y.get(), convolution.get(), w.get(), most, count, found);
    });
  }
  void enqueue(std::span<const CUdeviceptr> buffers, CUdeviceptr scratch) override {
    if (padded)
      padded->pad(buffers[0], paddedAt(scratch));
    functions.check(functions.cudnnConvolutionBackwardFilter(
                        handle, factor(true), x.get(), at(padded ? paddedAt(scratch) : buffers[0]),
                        y.get(), at(buffers[1]), convolution.get(), algorithm, workspaceAt(scratch),
                        workspaceBytes, factor(false), w.get(), at(buffers[2])),
                    "a convolution's gradient of its weights");
  }

private:
  cudnnConvolutionBwdFilterAlgo_t algorithm;
};

} // namespace

std::optional<std::string> Cudnn::whyNot(const accc_library_call &call) {
  const accc_convolution &c = call.u.convolution;
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  accc_convolution whole = c; // with its padding, which may have to be part of the input
  for (int32_t i = 0; i < c.spatial_rank; ++i) {
    if (std::max({c.stride[i], c.dilation[i], c.pad_low[i], c.pad_high[i]}) > most)
      return "a stride, dilation or padding of more than 32 bits";
    whole.in_size[i] += std::max<int64_t>(c.pad_low[i], 0) + std::max<int64_t>(c.pad_high[i], 0);
  }
  for (int64_t elements : elementsOf(whole))
    if (elements > most)
      return "a tensor of " + std::to_string(elements) + " elements, more than cuDNN counts";
  // TF32's kernels take all tensors in one layout, and none of f64 takes filters channels last.
  bool filterLast = c.filter_layout == ACCC_CHANNELS_LAST, last = c.layout == ACCC_CHANNELS_LAST;
  if (filterLast ? !last || call.dtypes[0] == ACCC_F64 : last && call.compute == ACCC_COMPUTE_TF32)
    return std::string("activations channels ") + (last ? "last" : "first") +
           " with a filter channels " + (filterLast ? "last" : "first");
  std::string why;
  return CudnnFunctions::find(why) ? std::nullopt : std::optional("cuDNN: " + why);
}

static const CudnnFunctions &requireFunctions() {
  std::string why;
  if (const CudnnFunctions *functions = CudnnFunctions::find(why))
    return *functions;
  throw Error(ErrorKind::machine, "convolutions need cuDNN: " + why);
}

Cudnn::Cudnn(const Context &context) : context(context), functions(requireFunctions()) {
  cudnnHandle_t made = nullptr;
  functions.check(functions.cudnnCreate(&made), "starting");
  handle = made;
  functions.check(functions.cudnnSetStream(made, reinterpret_cast<cudaStream_t>(context.stream)),
                  "taking the session's stream");
}

Cudnn::~Cudnn() { functions.cudnnDestroy(static_cast<cudnnHandle_t>(handle)); }

std::unique_ptr<LibraryCall> Cudnn::createConvolution(const accc_library_call &call) {
  auto *cudnn = static_cast<cudnnHandle_t>(handle);
  if (isEmpty(call.u.convolution))
    return std::make_unique<EmptyConvolution>(context, call);
  switch (call.kind) {
  case ACCC_CALL_CONVOLUTION:
    return std::make_unique<Forward>(context, functions, cudnn, call);
  case ACCC_CALL_CONVOLUTION_BACKWARD_DATA:
    return std::make_unique<BackwardData>(context, functions, cudnn, call);
  default:
    return std::make_unique<BackwardWeights>(context, functions, cudnn, call);
  }
}

} // namespace accc::detail
