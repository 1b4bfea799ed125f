// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Calls.h"

#include <cmath>
#include <cstring>

namespace accc::test {

std::vector<float> randomFloats(size_t count, uint32_t seed) {
  std::vector<float> values(count);
  uint32_t state = seed * 2654435761u + 1;
  for (float &value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / static_cast<float>(1 << 23) - 1;
  }
  return values;
}

PreparedCall::PreparedCall(const accc_library_call &call, int threads,
                           std::initializer_list<std::vector<float>> contents)
    : team(threads) {
  for (const std::vector<float> &values : contents) {
    memory.emplace_back(values.size() * sizeof(float) + 1, "a buffer");
    if (!values.empty())
      std::memcpy(memory.back().data(), values.data(), values.size() * sizeof(float));
    pointers.push_back(memory.back().data());
  }
  detail::Team::Scope scope(team);
  // Not createLibraryCall, which would leave calls as small as a test's to one thread.
  prepared = call.kind == ACCC_CALL_MATMUL
                 ? detail::createMatmul(call.u.matmul, team)
                 : detail::createConvolution(static_cast<accc_call_kind>(call.kind),
                                             call.u.convolution, team);
  scratch = detail::Memory(prepared->scratchBytes(), "scratch");
}

void PreparedCall::run() {
  detail::Team::Scope scope(team);
  prepared->run(pointers.data(), scratch.data());
}

accc_library_call matmul(int64_t batch, int64_t m, int64_t n, int64_t k, bool aTransposed,
                         bool bTransposed, bool cTransposed) {
  accc_library_call call = {
      ACCC_CALL_MATMUL, ACCC_COMPUTE_FULL, {ACCC_F32, ACCC_F32, ACCC_F32}, 0, {}};
  accc_matmul &p = call.u.matmul;
  p.m = m, p.n = n, p.k = k;
  p.batch_rank = 1;
  p.batch[0] = batch;
  p.a_batch_strides[0] = m * k, p.b_batch_strides[0] = k * n, p.c_batch_strides[0] = m * n;
  p.a_row_stride = aTransposed ? 1 : k, p.a_column_stride = aTransposed ? m : 1;
  p.b_row_stride = bTransposed ? 1 : n, p.b_column_stride = bTransposed ? k : 1;
  p.c_row_stride = cTransposed ? 1 : n, p.c_column_stride = cTransposed ? m : 1;
  return call;
}

accc_library_call convolution(accc_call_kind kind, accc_layout layout, const ConvolutionSpec &spec,
                              accc_layout filterLayout) {
  accc_library_call call = {kind, ACCC_COMPUTE_FULL, {ACCC_F32, ACCC_F32, ACCC_F32}, 0, {}};
  accc_convolution &c = call.u.convolution;
  c.spatial_rank = static_cast<int32_t>(spec.in.size());
  c.layout = layout;
  c.filter_layout = filterLayout;
  c.batch = spec.batch;
  c.in_channels = spec.inChannels, c.out_channels = spec.outChannels, c.groups = spec.groups;
  for (size_t i = 0; i < spec.in.size(); ++i) {
    c.in_size[i] = spec.in[i], c.kernel[i] = spec.kernel[i], c.stride[i] = spec.stride[i];
    c.dilation[i] = spec.dilation[i], c.pad_low[i] = spec.low[i], c.pad_high[i] = spec.high[i];
    c.out_size[i] =
        (spec.in[i] + spec.low[i] + spec.high[i] - ((spec.kernel[i] - 1) * spec.dilation[i] + 1)) /
            spec.stride[i] +
        1;
  }
  return call;
}

static int64_t product(const int64_t *extents, int32_t count) {
  int64_t result = 1;
  for (int32_t i = 0; i < count; ++i)
    result *= extents[i];
  return result;
}

accc_library_call attention(accc_call_kind kind, const AttentionSpec &spec) {
  accc_library_call call{kind, ACCC_COMPUTE_FULL, {ACCC_BF16, ACCC_BF16, ACCC_BF16}, 0, {}};
  call.u.attention = {};
  accc_attention &a = call.u.attention;
  a.batch = spec.batch, a.heads = spec.heads, a.key_heads = spec.keyHeads;
  a.queries = spec.queries, a.keys = spec.keys;
  a.features = spec.features, a.value_features = spec.valueFeatures;
  auto lay = [&](int64_t heads, int64_t positions, int64_t features) -> accc_head_view {
    return {0,
            {heads * positions * features, spec.headsInside ? features : positions * features,
             spec.headsInside ? heads * features : features}};
  };
  a.q = lay(a.heads, a.queries, a.features);
  a.k = lay(a.key_heads, a.keys, a.features);
  a.v = lay(a.key_heads, a.keys, a.value_features);
  a.y = lay(a.heads, a.queries, a.value_features);
  if (spec.packed) {
    int64_t q = a.heads * a.features, k = a.key_heads * a.features,
            row = q + k + a.key_heads * a.value_features;
    a.q = {0, {a.queries * row, a.features, row}};
    a.k = {q, {a.queries * row, a.features, row}};
    a.v = {q + k, {a.queries * row, a.value_features, row}};
  }
  if (kind == ACCC_CALL_ATTENTION_BACKWARD)
    a.dy = a.y, a.dq = a.q, a.dk = a.k, a.dv = a.v;
  a.scale = 1 / std::sqrt(double(a.features));
  a.causal = spec.causal;
  a.has_bias = spec.bias != nullptr;
  if (spec.bias) {
    int64_t stride = a.keys;
    const int64_t extents[] = {a.batch, a.heads, a.queries};
    for (int d = 2; d >= 0; --d)
      if (std::strchr(spec.bias, "bhq"[d])) {
        a.bias_strides[d] = stride;
        stride *= extents[d];
      }
  }
  return call;
}

int64_t sizeOfX(const accc_convolution &c) {
  return c.batch * c.in_channels * product(c.in_size, c.spatial_rank);
}
int64_t sizeOfW(const accc_convolution &c) {
  return c.out_channels * (c.in_channels / c.groups) * product(c.kernel, c.spatial_rank);
}
int64_t sizeOfY(const accc_convolution &c) {
  return c.batch * c.out_channels * product(c.out_size, c.spatial_rank);
}

} // namespace accc::test
