// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CheckCall.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

namespace accc::detail {

namespace {

std::optional<std::string> whyEpilogueIsWrong(const accc_library_call &call) {
  bool isMatmul = call.kind == ACCC_CALL_MATMUL;
  if (call.epilogue < ACCC_EPILOGUE_NONE ||
      call.epilogue > (isMatmul ? ACCC_EPILOGUE_BIAS : ACCC_EPILOGUE_NONE))
    return "number " + std::to_string(call.epilogue) + " of accc_epilogue";
  if (isMatmul && call.epilogue == ACCC_EPILOGUE_BIAS && call.u.matmul.accumulate)
    return "it accumulates and adds a bias";
  return std::nullopt;
}

std::optional<std::string> whyMatmulIsWrong(const accc_matmul &call) {
  if (call.m < 0 || call.n < 0 || call.k < 0)
    return "a size is negative";
  if (call.a_offset < 0 || call.b_offset < 0)
    return "an offset is negative";
  if (call.batch_rank < 0 || call.batch_rank > ACCC_MAX_BATCH_DIMS)
    return "it has " + std::to_string(call.batch_rank) + " batch dimensions, at most " +
           std::to_string(ACCC_MAX_BATCH_DIMS) + " are possible";
  return std::nullopt;
}

std::optional<std::string> whyConvolutionIsWrong(const accc_convolution &call) {
  if (call.spatial_rank < 1 || call.spatial_rank > ACCC_MAX_SPATIAL_DIMS)
    return "it has " + std::to_string(call.spatial_rank) + " spatial dimensions, 1 to " +
           std::to_string(ACCC_MAX_SPATIAL_DIMS) + " are possible";
  for (int32_t layout : {call.layout, call.filter_layout})
    if (layout != ACCC_CHANNELS_FIRST && layout != ACCC_CHANNELS_LAST)
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

std::vector<const accc_head_view *> viewsOf(const accc_attention &call, bool isBackward) {
  std::vector<const accc_head_view *> views = {&call.q, &call.k, &call.v, &call.y};
  if (isBackward)
    views.insert(views.end(), {&call.dy, &call.dq, &call.dk, &call.dv});
  return views;
}

std::optional<std::string> whyAttentionIsWrong(const accc_attention &call, bool isBackward) {
  for (int64_t extent : {call.batch, call.heads, call.key_heads, call.queries, call.keys,
                         call.features, call.value_features})
    if (extent < 1)
      return "an extent is not positive";
  if (call.heads % call.key_heads)
    return "its " + std::to_string(call.heads) + " heads do not divide among " +
           std::to_string(call.key_heads) + " of keys";
  for (const accc_head_view *view : viewsOf(call, isBackward)) {
    if (view->offset < 0)
      return "an offset is negative";
    if (std::any_of(std::begin(view->strides), std::end(view->strides),
                    [](int64_t stride) { return stride < 1; }))
      return "a stride is not positive";
  }
  for (int64_t stride : call.bias_strides)
    if (stride < 0)
      return "a stride of its bias is negative";
  if (!std::isfinite(call.scale))
    return "its scale is not finite";
  if (call.causal != 0 && call.causal != 1)
    return "causal is " + std::to_string(call.causal) + ", which is neither 0 nor 1";
  if (call.has_bias != 0 && call.has_bias != 1)
    return "has_bias is " + std::to_string(call.has_bias) + ", which is neither 0 nor 1";
  return std::nullopt;
}

std::optional<std::string> whyContentIsWrong(const accc_library_call &call) {
  if (call.kind == ACCC_CALL_MATMUL)
    return whyMatmulIsWrong(call.u.matmul);
  if (isAttention(call))
    return whyAttentionIsWrong(call.u.attention, call.kind == ACCC_CALL_ATTENTION_BACKWARD);
  return whyConvolutionIsWrong(call.u.convolution);
}

} // namespace

std::string kindName(const accc_library_call &call) {
  switch (call.kind) {
  case ACCC_CALL_MATMUL:
    return "matmul";
  case ACCC_CALL_CONVOLUTION:
    return "convolution";
  case ACCC_CALL_CONVOLUTION_BACKWARD_DATA:
    return "convolution's gradient of its input";
  case ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS:
    return "convolution's gradient of its weights";
  case ACCC_CALL_ATTENTION:
    return "attention";
  case ACCC_CALL_ATTENTION_BACKWARD:
    return "attention's gradients";
  default:
    return "library call of kind " + std::to_string(call.kind);
  }
}

int32_t countBuffers(const accc_library_call &call) {
  if (isAttention(call))
    return (call.kind == ACCC_CALL_ATTENTION ? 5 : 9) + call.u.attention.has_bias;
  return call.epilogue == ACCC_EPILOGUE_BIAS ? 4 : 3;
}

std::optional<std::string> whyCallIsWrong(const accc_library_call &call) {
  if (call.kind < ACCC_CALL_MATMUL || call.kind > ACCC_CALL_ATTENTION_BACKWARD)
    return kindName(call) + " is unknown";
  auto wrong = whyContentIsWrong(call);
  if (!wrong)
    wrong = whyEpilogueIsWrong(call);
  return wrong ? std::optional(kindName(call) + ": " + *wrong) : std::nullopt;
}

} // namespace accc::detail
