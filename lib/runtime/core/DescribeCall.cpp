// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DescribeCall.h"

#include "CheckCall.h"

#include <algorithm>

/// "2x3x4"
static std::string join(const int64_t *values, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += (i ? "x" : "") + std::to_string(values[i]);
  return text;
}

/// "b 8 h 12 q 1024 k 1024 d 64"
static std::string join(const accc_attention &a) {
  auto pair = [](int64_t first, int64_t second) {
    return std::to_string(first) + (first == second ? "" : "/" + std::to_string(second));
  };
  return "b " + std::to_string(a.batch) + " h " + pair(a.heads, a.key_heads) + " q " +
         std::to_string(a.queries) + " k " + std::to_string(a.keys) + " d " +
         pair(a.features, a.value_features) + (a.has_bias ? " + bias" : "") +
         (a.causal ? " causal" : "");
}

std::string accc::detail::describe(const accc_library_call &call) {
  if (call.kind == ACCC_CALL_MATMUL) {
    const accc_matmul &m = call.u.matmul;
    std::string batch = join(m.batch, m.batch_rank);
    // As BLAS has it: t for a factor that lies transposed.
    std::string layout = {m.a_column_stride == 1 ? 'n' : 't', m.b_column_stride == 1 ? 'n' : 't'};
    return "matmul " + layout + (m.accumulate ? " += " : " ") +
           (batch.empty() ? "" : batch + " times ") + "m " + std::to_string(m.m) + " n " +
           std::to_string(m.n) + " k " + std::to_string(m.k) +
           (call.epilogue == ACCC_EPILOGUE_BIAS ? " + bias" : "");
  }
  if (isAttention(call))
    return (call.kind == ACCC_CALL_ATTENTION ? "attention " : "attention backward ") +
           join(call.u.attention);
  const accc_convolution &c = call.u.convolution;
  const char *kind = call.kind == ACCC_CALL_CONVOLUTION                 ? "conv"
                     : call.kind == ACCC_CALL_CONVOLUTION_BACKWARD_DATA ? "conv dgrad"
                                                                        : "conv wgrad";
  const char *layout = c.layout == ACCC_CHANNELS_LAST ? " nhwc n " : " nchw n ";
  int rank = c.spatial_rank;
  auto all = [rank](const int64_t *values, int64_t value) {
    return std::all_of(values, values + rank, [&](int64_t each) { return each == value; });
  };
  std::string more;
  if (!all(c.pad_low, 0) || !all(c.pad_high, 0))
    more += " p " + join(c.pad_low, rank);
  if (!std::equal(c.pad_low, c.pad_low + rank, c.pad_high))
    more += "+" + join(c.pad_high, rank);
  if (!all(c.dilation, 1))
    more += " d " + join(c.dilation, rank);
  if (c.groups > 1)
    more += " g " + std::to_string(c.groups);
  if (c.filter_layout != c.layout)
    more += c.filter_layout == ACCC_CHANNELS_LAST ? " filter ohwi" : " filter oihw";
  return std::string(kind) + layout + std::to_string(c.batch) + " " +
         std::to_string(c.in_channels) + "->" + std::to_string(c.out_channels) + " " +
         join(c.in_size, c.spatial_rank) + " k " + join(c.kernel, c.spatial_rank) + " s " +
         join(c.stride, c.spatial_rank) + more;
}
