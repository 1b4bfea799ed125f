// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DepthwiseWeights.h"

#include <algorithm>

namespace accc::detail {

namespace {

constexpr int lanes = 16;  // of one vector: channels, which lie side by side
constexpr int vectors = 2; // side by side, so that additions do not wait for each other

/// As unaligned loads and stores of any pixel need it.
typedef float Vector __attribute__((vector_size(lanes * sizeof(float)), aligned(sizeof(float))));

/// By reference: vectors as results of functions depend on the instruction set.
[[gnu::always_inline]] inline const Vector &load(const float *address) {
  return *reinterpret_cast<const Vector *>(address);
}

/// The columns [first, second) of the output whose input column for kernel column `k` is inside.
std::pair<int64_t, int64_t> inside(const accc_convolution &c, int dim, int64_t k) {
  int64_t offset = k * c.dilation[dim] - c.pad_low[dim]; // input = output * stride + offset
  int64_t first = offset >= 0 ? 0 : (-offset + c.stride[dim] - 1) / c.stride[dim];
  int64_t last = (c.in_size[dim] - 1 - offset);
  int64_t end = last < 0 ? 0 : last / c.stride[dim] + 1;
  return {std::min(first, c.out_size[dim]), std::min(end, c.out_size[dim])};
}

/// sum[kw][lane] += x[ow + kw][lane] * g[ow][lane] for the output columns [begin, end).
template <int Columns, int N>
[[gnu::always_inline]] inline void
multiplyColumns(const float *x, const float *g, int64_t step, int64_t dilation, int64_t channels,
                int64_t begin, int64_t end, Vector (&sum)[Columns][N]) {
  for (int64_t ow = begin; ow < end; ++ow)
    for (int v = 0; v < N; ++v) {
      Vector gradient = load(g + ow * channels + v * lanes);
      const float *pixel = x + ow * step + v * lanes;
      for (int k = 0; k < Columns; ++k)
        sum[k][v] += load(pixel + k * dilation) * gradient;
    }
}

constexpr int64_t maxArea = 1024;     // of a kernel
constexpr int mostColumns = 8;        // of a kernel, whose sums stay in registers
constexpr int64_t blockColumns = 512; // of the output, that are a sum of their own

/// Adds the sums for the kernel columns [left, left + Columns) of lanes * N channels from `channel`
/// on to sums[kh][kw][lane]. Always inlined, into functions that are compiled for different
/// instruction sets.
template <int Columns, int N>
[[gnu::always_inline]] inline void sumColumns(const accc_convolution &c, const float *x,
                                              const float *dy, int64_t channel, int64_t left,
                                              Vector *sums) {
  const int64_t channels = c.in_channels, rows = c.kernel[0];
  // The columns where these of the kernel are all inside, which is nearly all of them.
  int64_t begin = 0, end = c.out_size[1];
  for (int k = 0; k < Columns; ++k) {
    begin = std::max(begin, inside(c, 1, left + k).first);
    end = std::min(end, inside(c, 1, left + k).second);
  }
  if (begin >= end)
    begin = end = 0;
  const int64_t step = c.stride[1] * channels, dilation = c.dilation[1] * channels;
  for (int64_t n = 0; n < c.batch; ++n)
    for (int64_t oh = 0; oh < c.out_size[0]; ++oh)
      for (int64_t kh = 0; kh < rows; ++kh) {
        int64_t ih = oh * c.stride[0] + kh * c.dilation[0] - c.pad_low[0];
        if (ih < 0 || ih >= c.in_size[0])
          continue;
        const float *g = dy + (n * c.out_size[0] + oh) * c.out_size[1] * channels + channel;
        // Where the first column of input, these of the kernel and output would be: maybe before
        // the row.
        const int64_t row = ((n * c.in_size[0] + ih) * c.in_size[1] - c.pad_low[1]) * channels +
                            left * dilation + channel;
        Vector sum[Columns][N];
        Vector *target = sums + (kh * c.kernel[1] + left) * N;
        for (int i = 0; i < Columns * N; ++i)
          sum[i / N][i % N] = target[i];
        int64_t from = begin;
        // Of a long row blocks, so that no small number is added to a very large sum.
        for (; end - from > blockColumns; from += blockColumns) {
          Vector block[Columns][N] = {};
          multiplyColumns<Columns, N>(x + row, g, step, dilation, channels, from,
                                      from + blockColumns, block);
          for (int i = 0; i < Columns * N; ++i)
            sum[i / N][i % N] += block[i / N][i % N];
        }
        multiplyColumns<Columns, N>(x + row, g, step, dilation, channels, from, end, sum);
        for (int k = 0; k < Columns; ++k) {
          auto [first, last] = inside(c, 1, left + k);
          for (int64_t ow = first; ow < last; ++ow) {
            if (ow == begin && begin < end)
              ow = end; // done above
            if (ow >= last)
              break;
            for (int v = 0; v < N; ++v)
              sum[k][v] += load(x + row + ow * step + k * dilation + v * lanes) *
                           load(g + ow * channels + v * lanes);
          }
        }
        for (int i = 0; i < Columns * N; ++i)
          target[i] = sum[i / N][i % N];
      }
}

/// The sums of lanes * N channels from `channel` on, into sums[kh][kw][lane].
template <int N>
[[gnu::always_inline]] inline void sumChannels(const accc_convolution &c, const float *x,
                                               const float *dy, int64_t channel, Vector *sums) {
  for (int64_t i = 0; i < c.kernel[0] * c.kernel[1] * N; ++i)
    sums[i] = Vector{};
  int64_t left = 0, rest = c.kernel[1];
  for (; rest > mostColumns; left += 7, rest -= 7)
    sumColumns<7, N>(c, x, dy, channel, left, sums);
  switch (rest) {
  case 1:
    return sumColumns<1, N>(c, x, dy, channel, left, sums);
  case 2:
    return sumColumns<2, N>(c, x, dy, channel, left, sums);
  case 3:
    return sumColumns<3, N>(c, x, dy, channel, left, sums);
  case 4:
    return sumColumns<4, N>(c, x, dy, channel, left, sums);
  case 5:
    return sumColumns<5, N>(c, x, dy, channel, left, sums);
  case 6:
    return sumColumns<6, N>(c, x, dy, channel, left, sums);
  case 7:
    return sumColumns<7, N>(c, x, dy, channel, left, sums);
  default:
    return sumColumns<mostColumns, N>(c, x, dy, channel, left, sums);
  }
}

/// Tasks [begin, end): each lanes * vectors channels, the last ones maybe fewer.
[[gnu::always_inline]] inline void someChannels(const accc_convolution &c, const float *x,
                                                const float *dy, float *dw, int64_t begin,
                                                int64_t end) {
  Vector sums[maxArea * vectors];
  const int64_t area = c.kernel[0] * c.kernel[1];
  for (int64_t task = begin; task < end; ++task) {
    int64_t fresh = task * lanes * vectors; // the first channel that is this task's
    int64_t stop = std::min(fresh + lanes * vectors, c.in_channels);
    while (fresh < stop) {
      bool wide = stop - fresh == lanes * vectors;
      // A last vector that is not full goes back over channels that are done already.
      int64_t first = wide ? fresh : std::min(fresh, c.in_channels - lanes);
      int64_t past = std::min(stop, first + (wide ? lanes * vectors : lanes));
      if (wide)
        sumChannels<vectors>(c, x, dy, first, sums);
      else
        sumChannels<1>(c, x, dy, first, sums);
      const int count = wide ? vectors : 1;
      for (int64_t channel = fresh; channel < past; ++channel)
        for (int64_t k = 0; k < area; ++k) {
          int64_t at = channel - first;
          dw[channel * area + k] = sums[k * count + at / lanes][at % lanes];
        }
      fresh = past;
    }
  }
}

using Function = void (*)(const accc_convolution &, const float *, const float *, float *, int64_t,
                          int64_t);

[[gnu::target("avx512f,fma")]] void withAvx512(const accc_convolution &c, const float *x,
                                               const float *dy, float *dw, int64_t begin,
                                               int64_t end) {
  someChannels(c, x, dy, dw, begin, end);
}

[[gnu::target("avx2,fma")]] void withAvx2(const accc_convolution &c, const float *x,
                                          const float *dy, float *dw, int64_t begin, int64_t end) {
  someChannels(c, x, dy, dw, begin, end);
}

void withAny(const accc_convolution &c, const float *x, const float *dy, float *dw, int64_t begin,
             int64_t end) {
  someChannels(c, x, dy, dw, begin, end);
}

Function forThisCpu() {
  if (__builtin_cpu_supports("avx512f"))
    return withAvx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return withAvx2;
  return withAny;
}

} // namespace

bool isDepthwiseForWeights(const accc_convolution &c) {
  return c.spatial_rank == 2 && c.groups == c.in_channels && c.groups == c.out_channels &&
         c.groups >= lanes && c.kernel[1] > 3 && c.kernel[0] * c.kernel[1] <= maxArea;
}

void depthwiseWeights(const accc_convolution &call, const float *x, const float *dy, float *dw,
                      const Team &team) {
  static const Function function = forThisCpu();
  const int64_t tasks = (call.in_channels + lanes * vectors - 1) / (lanes * vectors);
  team.run([&](int thread, int threads) {
    auto [begin, end] = share(tasks, thread, threads);
    function(call, x, dy, dw, begin, end);
  });
}

} // namespace accc::detail
