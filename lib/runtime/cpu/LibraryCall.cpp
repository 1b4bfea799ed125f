// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LibraryCall.h"

#include "accc/tensor.h"

#include <algorithm>

namespace accc::detail {

namespace {

std::string kindName(int32_t kind) {
  switch (kind) {
  case ACCC_CALL_MATMUL:
    return "matmul";
  case ACCC_CALL_CONVOLUTION:
    return "convolution";
  case ACCC_CALL_CONVOLUTION_BACKWARD_DATA:
    return "convolution's gradient of its input";
  case ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS:
    return "convolution's gradient of its weights";
  default:
    return "library call of kind " + std::to_string(kind);
  }
}

std::optional<std::string> whyMatmulIsWrong(const accc_matmul &call) {
  if (call.m < 0 || call.n < 0 || call.k < 0)
    return "a size is negative";
  if (call.batch_rank < 0 || call.batch_rank > ACCC_MAX_BATCH_DIMS)
    return "it has " + std::to_string(call.batch_rank) + " batch dimensions, at most " +
           std::to_string(ACCC_MAX_BATCH_DIMS) + " are possible";
  return std::nullopt;
}

std::optional<std::string> whyConvolutionIsWrong(const accc_convolution &call) {
  if (call.spatial_rank < 1 || call.spatial_rank > ACCC_MAX_SPATIAL_DIMS)
    return "it has " + std::to_string(call.spatial_rank) + " spatial dimensions, 1 to " +
           std::to_string(ACCC_MAX_SPATIAL_DIMS) + " are possible";
  if (call.layout != ACCC_CHANNELS_FIRST && call.layout != ACCC_CHANNELS_LAST)
    return "its layout is unknown";
  if (call.groups < 1 || call.in_channels % call.groups || call.out_channels % call.groups)
    return "its channels do not divide into " + std::to_string(call.groups) + " groups";
  for (int32_t i = 0; i < call.spatial_rank; ++i) {
    if (call.stride[i] < 1 || call.dilation[i] < 1 || call.kernel[i] < 1)
      return "a stride, dilation or kernel size is not positive";
    int64_t padded = call.in_size[i] + call.pad_low[i] + call.pad_high[i];
    int64_t reach = (call.kernel[i] - 1) * call.dilation[i] + 1;
    int64_t size = padded < reach ? 0 : (padded - reach) / call.stride[i] + 1;
    if (size != call.out_size[i])
      return "its output has extent " + std::to_string(call.out_size[i]) + " where " +
             std::to_string(size) + " follows from the input";
  }
  return std::nullopt;
}

/// Below this a single core is done in some 8 us. Waking the team saves half of that at best, costs
/// about 1 us, and a time slice of some ms where another process has one of the cores.
constexpr double worthSharing = 2e6;

double flops(const accc_library_call &call) {
  double product = 2;
  if (call.kind == ACCC_CALL_MATMUL) {
    const accc_matmul &p = call.u.matmul;
    for (int32_t i = 0; i < p.batch_rank; ++i)
      product *= double(p.batch[i]);
    return product * double(p.m) * double(p.n) * double(p.k);
  }
  const accc_convolution &c = call.u.convolution;
  for (int32_t i = 0; i < c.spatial_rank; ++i)
    product *= double(c.out_size[i] * c.kernel[i]);
  return product * double(c.batch * c.out_channels) * double(c.in_channels / c.groups);
}

/// As if the operands were f32.
std::unique_ptr<LibraryCall> createInF32(const accc_library_call &call, const Team &team) {
  if (call.kind == ACCC_CALL_MATMUL)
    return createMatmul(call.u.matmul, team);
  return createConvolution(static_cast<accc_call_kind>(call.kind), call.u.convolution, team);
}

std::unique_ptr<LibraryCall> create(const accc_library_call &call, const Team &team) {
  if (dtypeOf(call) == ACCC_F64)
    return createDoubleCall(call, team);
  if (dtypeOf(call) == ACCC_F16 || dtypeOf(call) == ACCC_BF16)
    return createHalfCall(call, createInF32(call, team), team);
  return createInF32(call, team);
}

/// A call that the calling thread does alone.
class OnOneThread : public LibraryCall {
public:
  explicit OnOneThread(const accc_library_call &call) {
    Team::Scope scope(one); // oneDNN fixes the number of threads when it generates its code
    inner = create(call, one);
  }
  uint64_t scratchBytes() const override { return inner->scratchBytes(); }
  void run(char *const *buffers, char *scratch) override {
    Team::Scope scope(one);
    inner->run(buffers, scratch);
  }

private:
  Team one{1};
  std::unique_ptr<LibraryCall> inner;
};

} // namespace

std::optional<std::string> whyCpuCannot(const accc_library_call &call) {
  std::string kind = kindName(call.kind);
  if (call.kind < ACCC_CALL_MATMUL || call.kind > ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS)
    return kind + " is unknown";
  if (std::ranges::any_of(call.dtypes, [&](int32_t type) { return type != dtypeOf(call); }))
    return kind + " of operands of different types";
  if (call.compute != ACCC_COMPUTE_FULL)
    return kind + " with reduced precision";
  auto type = dtype_of(dtypeOf(call));
  if (type != DType::f32 && type != DType::f64 && type != DType::f16 && type != DType::bf16)
    return kind + " of " + (type ? std::string(to_string(*type)) : "an unknown type") +
           " (floats are supported)";
  auto wrong = call.kind == ACCC_CALL_MATMUL ? whyMatmulIsWrong(call.u.matmul)
                                             : whyConvolutionIsWrong(call.u.convolution);
  return wrong ? std::optional(kind + ": " + *wrong) : std::nullopt;
}

std::unique_ptr<LibraryCall> createLibraryCall(const accc_library_call &call, const Team &team) {
  if (team.threads() > 1 && flops(call) < worthSharing)
    return std::make_unique<OnOneThread>(call);
  return create(call, team);
}

} // namespace accc::detail
