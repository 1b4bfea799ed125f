// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudnnConvolution.h"

#include "CudnnDescriptors.h"
#include "PaddedCopy.h"
#include "Tuning.h"
#include "accc/tensor.h"

namespace accc::detail {

namespace {

/// Algorithms that want more than this beside their operands are passed over.
constexpr size_t mostWorkspace = size_t(1) << 30;

/// What the three kinds share.
class Convolution : public LibraryCall {
public:
  Convolution(const CudnnSession &session, const accc_library_call &given)
      : context(session.context), functions(session.functions), handle(session.handle),
        call(given) {
    const accc_convolution &c = call.u.convolution;
    if (PaddedCopy::isNeeded(c))
      padded.emplace(session.context, c, size_of(static_cast<DType>(call.dtypes[0])));
    CudnnConvolutionShape shape(padded ? padded->convolution() : c);
    x = describeTensor(functions, call.dtypes[0], shape.x);
    w = describeFilter(functions, call.dtypes[0], shape.w);
    y = describeTensor(functions, call.dtypes[0], shape.y);
    convolution = describeConvolution(functions, call.dtypes[0], shape, c.groups);
    setMathType(mathType());
  }

  /// Once, before anything else. False where no algorithm will do; see findCudnnConvolution().
  virtual bool choose(std::string &offers) = 0;

  /// First the padded copy, then the library's.
  uint64_t scratchBytes() const override {
    return workspaceBytes + (padded ? paddedBytesAligned() : 0);
  }

protected:
  static void *at(CUdeviceptr address) { return reinterpret_cast<void *>(address); }
  CUdeviceptr paddedAt(CUdeviceptr scratch) const { return scratch; }
  void *workspaceAt(CUdeviceptr scratch) const {
    return at(scratch + (padded ? paddedBytesAligned() : 0));
  }
  const void *factor(bool one) const { return cudnnFactor(call.dtypes[0], one); }

  /// Asks `get`, one of the library's, for algorithms, and takes one that will do.
  template <typename Performance, typename Get>
  bool take(decltype(Performance::algo) &algorithm, std::string &offers, Get get) {
    std::array<Performance, 16> found{};
    int count = 0;
    cudnnStatus_t status = get(int(found.size()), &count, found.data());
    if (CUDNN_STATUS_CATEGORY(status) == CUDNN_STATUS_NOT_SUPPORTED)
      count = 0;
    else
      functions.check(status, choosing);
    offers.clear();
    std::vector<Performance> good;
    for (const Performance &candidate : std::span(found).first(size_t(count))) {
      std::string wrong = whatIsWrong(candidate);
      if (wrong.empty())
        good.push_back(candidate);
      else
        offers +=
            (offers.empty() ? "" : ", ") + std::to_string(candidate.algo) + " (" + wrong + ")";
    }
    if (offers.empty())
      offers = "none";
    if (good.empty())
      return false;
    auto use = [&](const Performance &chosen) {
      setMathType(chosen.mathType);
      workspaceBytes = chosen.memory;
      algorithm = chosen.algo;
    };
    use(isTuningOn() && good.size() > 1 ? good[fastestOf(good, use)] : good.front());
    return true;
  }

  const Context &context;
  const CudnnFunctions &functions;
  cudnnHandle_t handle;
  const accc_library_call call;
  std::optional<PaddedCopy> padded;
  CudnnTensorDescriptor x{nullptr, nullptr}, y{nullptr, nullptr};
  CudnnFilterDescriptor w{nullptr, nullptr};
  CudnnConvolutionDescriptor convolution{nullptr, nullptr};
  size_t workspaceBytes = 0;

private:
  static constexpr const char *choosing = "choosing an algorithm for a convolution";

  uint64_t paddedBytesAligned() const { return (padded->bytes() + 255) / 256 * 256; }

  cudnnMathType_t mathType() const {
    if (call.dtypes[0] == ACCC_F16 || call.dtypes[0] == ACCC_BF16)
      return CUDNN_TENSOR_OP_MATH;
    bool mayRound = call.compute == ACCC_COMPUTE_TF32 || call.dtypes[0] == ACCC_F64;
    return mayRound ? CUDNN_DEFAULT_MATH : CUDNN_FMA_MATH; // the default takes f32 as TF32
  }
  void setMathType(cudnnMathType_t type) {
    functions.check(functions.cudnnSetConvolutionMathType(convolution.get(), type), choosing);
  }

  /// `use` makes one of them the call's.
  template <typename Performance, typename Use>
  size_t fastestOf(const std::vector<Performance> &good, const Use &use) {
    uint64_t scratch = 0;
    for (const Performance &each : good) {
      use(each);
      scratch = std::max(scratch, scratchBytes());
    }
    return findFastest(context, good.size(), cudnnBufferBytesOf(call), scratch,
                       [&](size_t i, std::span<const CUdeviceptr> buffers, CUdeviceptr at) {
                         use(good[i]);
                         enqueue(buffers, at);
                       });
  }

  /// With one of the library's algorithms; empty where it will do.
  template <typename Performance> std::string whatIsWrong(const Performance &candidate) const {
    if (candidate.status != CUDNN_STATUS_SUCCESS)
      return functions.cudnnGetErrorString(candidate.status);
    if (candidate.determinism != CUDNN_DETERMINISTIC)
      return "other bits in every run";
    if (candidate.memory > mostWorkspace)
      return "needs " + std::to_string(candidate.memory) + " bytes";
    if (mathType() == CUDNN_FMA_MATH && candidate.mathType != CUDNN_FMA_MATH)
      return "rounds its operands";
    return "";
  }
};

class Forward final : public Convolution {
public:
  using Convolution::Convolution;
  bool choose(std::string &offers) override {
    return take<cudnnConvolutionFwdAlgoPerf_t>(
        algorithm, offers, [&](int most, int *count, auto *found) {
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
  cudnnConvolutionFwdAlgo_t algorithm{};
};

class BackwardData final : public Convolution {
public:
  using Convolution::Convolution;
  bool choose(std::string &offers) override {
    return take<cudnnConvolutionBwdDataAlgoPerf_t>(
        algorithm, offers, [&](int most, int *count, auto *found) {
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
  cudnnConvolutionBwdDataAlgo_t algorithm{};
};

class BackwardWeights final : public Convolution {
public:
  using Convolution::Convolution;
  bool choose(std::string &offers) override {
    return take<cudnnConvolutionBwdFilterAlgoPerf_t>(
        algorithm, offers, [&](int most, int *count, auto *found) {
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
  cudnnConvolutionBwdFilterAlgo_t algorithm{};
};

std::unique_ptr<Convolution> create(const CudnnSession &session, const accc_library_call &call) {
  switch (call.kind) {
  case ACCC_CALL_CONVOLUTION:
    return std::make_unique<Forward>(session, call);
  case ACCC_CALL_CONVOLUTION_BACKWARD_DATA:
    return std::make_unique<BackwardData>(session, call);
  default:
    return std::make_unique<BackwardWeights>(session, call);
  }
}

} // namespace

std::array<int64_t, 3> elementsOf(const accc_convolution &c) {
  int64_t x = c.batch * c.in_channels, w = c.out_channels * (c.in_channels / c.groups),
          y = c.batch * c.out_channels;
  for (int32_t i = 0; i < c.spatial_rank; ++i)
    x *= c.in_size[i], w *= c.kernel[i], y *= c.out_size[i];
  return {x, w, y};
}

std::unique_ptr<LibraryCall> findCudnnConvolution(const CudnnSession &session,
                                                  const accc_library_call &call,
                                                  std::string &offers) {
  std::unique_ptr<Convolution> made = create(session, call);
  if (!made->choose(offers))
    return nullptr;
  return made;
}

} // namespace accc::detail
