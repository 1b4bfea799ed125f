// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Cudnn.h"

#include "ChannelsFirst.h"
#include "CudnnAttention.h"
#include "CudnnConvolution.h"
#include "CudnnPlannedConvolution.h"
#include "Environment.h"
#include "SpreadPixels.h"
#include "accc/tensor.h"
#include "core/CheckCall.h"
#include "core/DescribeCall.h"

#include <algorithm>
#include <limits>

namespace accc::detail {

namespace {

bool isEmpty(const accc_convolution &c) {
  auto elements = elementsOf(c);
  return std::ranges::find(elements, 0) != elements.end();
}

/// TF32's kernels take all tensors in one layout, none takes a filter channels last with
/// activations channels first, and none of f64 one at all.
bool hasKernelsFor(const accc_library_call &call) {
  const accc_convolution &c = call.u.convolution;
  bool last = c.layout == ACCC_CHANNELS_LAST;
  if (c.filter_layout == ACCC_CHANNELS_LAST)
    return last && call.dtypes[0] != ACCC_F64;
  return !last || call.compute != ACCC_COMPUTE_TF32;
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

/// cuDNN's older interface counts in 32 bits.
std::optional<std::string> whyTooLarge(const accc_convolution &c) {
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
  return std::nullopt;
}

} // namespace

std::optional<std::string> Cudnn::whyNot(const accc_library_call &call) {
  if (!isAttention(call))
    if (auto tooLarge = whyTooLarge(call.u.convolution))
      return tooLarge;
  std::string why;
  return CudnnFunctions::find(why) ? std::nullopt : std::optional("cuDNN: " + why);
}

Cudnn::Cudnn(const Context &context) : session(std::make_unique<CudnnSession>(context)) {}
Cudnn::~Cudnn() = default;

std::unique_ptr<LibraryCall> Cudnn::spread(const accc_library_call &call,
                                           std::unique_ptr<LibraryCall> dense) {
  return std::make_unique<SpreadPixels>(*session, call, std::move(dense));
}

/// Plans are cuDNN's own way, which knows more kernels than its older interface, and all layouts.
std::unique_ptr<LibraryCall> Cudnn::createConvolution(const accc_library_call &call,
                                                      uint64_t alignment) {
  if (isEmpty(call.u.convolution))
    return std::make_unique<EmptyConvolution>(session->context, call);
  std::string plans = "not asked";
  if (environmentFlag("ACCC_CUDA_PLANS", true))
    if (auto planned = planCudnnConvolution(*session, call, alignment, plans))
      return planned;
  std::string offers = "none";
  if (hasKernelsFor(call))
    if (auto found = findCudnnConvolution(*session, call, offers))
      return found;
  if (ChannelsFirst::isPossible(call)) {
    std::string offersFirst;
    if (auto found =
            findCudnnConvolution(*session, ChannelsFirst::convolutionOf(call), offersFirst))
      return std::make_unique<ChannelsFirst>(*session, call, std::move(found));
    offers += "; channels first, " + offersFirst;
  }
  throw Error(ErrorKind::machine, "cuDNN has no reproducible algorithm for a convolution (" +
                                      describe(call) + ", " +
                                      std::string(to_string(static_cast<DType>(call.dtypes[0]))) +
                                      "; it offers " + offers + "; plans, " + plans + ")");
}

std::unique_ptr<LibraryCall> Cudnn::createAttention(const accc_library_call &call,
                                                    uint64_t alignment) {
  std::string offers;
  if (auto planned = planCudnnAttention(*session, call, alignment, offers))
    return planned;
  throw Error(ErrorKind::machine,
              "cuDNN has no reproducible plan for an attention (" + describe(call) + ", " +
                  std::string(to_string(static_cast<DType>(call.dtypes[0]))) + "; it offers " +
                  offers + "); compile the model with --no-library-attention");
}

} // namespace accc::detail
