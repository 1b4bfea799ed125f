// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions of f64, which oneDNN has none of: the definitions of abi.h as loops.
#include "LibraryCall.h"
#include "MatmulShape.h"

#include <algorithm>
#include <array>

namespace accc::detail {

namespace {

class DoubleMatmul : public LibraryCall {
public:
  DoubleMatmul(const accc_matmul &call, const Team &team)
      : p(call), accumulate(call.accumulate != 0), team(team) {}

  void run(char *const *buffers, char *) override {
    const auto *a = reinterpret_cast<const double *>(buffers[p.swapped ? 1 : 0]);
    const auto *b = reinterpret_cast<const double *>(buffers[p.swapped ? 0 : 1]);
    auto *c = reinterpret_cast<double *>(buffers[2]);
    team.run([&](int thread, int threads) {
      auto [begin, end] = share(p.products * p.m, thread, threads);
      for (int64_t i = begin; i < end; ++i)
        row(a, b, c, i);
    });
  }

private:
  /// Row `index` of all products' rows.
  void row(const double *a, const double *b, double *c, int64_t index) const {
    int64_t i = index % p.m, product = index / p.m;
    for (size_t d = p.loops.size(); d-- > 0;) {
      const BatchLoop &loop = p.loops[d];
      int64_t at = product % loop.extent;
      product /= loop.extent;
      a += at * loop.a, b += at * loop.b, c += at * loop.c;
    }
    a += i * p.aRow, c += i * p.cRow;
    if (!accumulate)
      for (int64_t j = 0; j < p.n; ++j)
        c[j * p.cColumn] = 0;
    for (int64_t k = 0; k < p.k; ++k)
      for (int64_t j = 0; j < p.n; ++j)
        c[j * p.cColumn] += a[k * p.aColumn] * b[k * p.bRow + j * p.bColumn];
  }

  MatmulShape p;
  bool accumulate;
  const Team &team;
};

/// Three spatial dimensions, the missing ones of extent 1 first.
using Spatial = std::array<int64_t, 3>;

Spatial spatial(const int64_t *values, int32_t rank, int64_t fill) {
  Spatial result = {fill, fill, fill};
  std::copy_n(values, rank, result.end() - rank);
  return result;
}

/// Where the elements of an activation lie: its strides.
struct Activation {
  int64_t batch, channel;
  Spatial place;

  Activation(int64_t channels, const Spatial &size, bool channelsLast) {
    int64_t area = size[0] * size[1] * size[2], step = channelsLast ? channels : 1;
    batch = channels * area;
    channel = channelsLast ? 1 : area;
    place = {size[1] * size[2] * step, size[2] * step, step};
  }
};

/// All three kinds: the sum of products x * w * y, of which one factor is the result.
class DoubleConvolution : public LibraryCall {
public:
  DoubleConvolution(accc_call_kind kind, const accc_convolution &c)
      : kind(kind), c(c), in(spatial(c.in_size, c.spatial_rank, 1)),
        out(spatial(c.out_size, c.spatial_rank, 1)), kernel(spatial(c.kernel, c.spatial_rank, 1)),
        stride(spatial(c.stride, c.spatial_rank, 1)),
        dilation(spatial(c.dilation, c.spatial_rank, 1)),
        low(spatial(c.pad_low, c.spatial_rank, 0)),
        x(c.in_channels, in, c.layout == ACCC_CHANNELS_LAST),
        y(c.out_channels, out, c.layout == ACCC_CHANNELS_LAST) {}

  void run(char *const *buffers, char *) override {
    const auto *a = reinterpret_cast<const double *>(buffers[0]);
    const auto *b = reinterpret_cast<const double *>(buffers[1]);
    auto *result = reinterpret_cast<double *>(buffers[2]);
    std::fill_n(result, resultSize(), 0.0);
    if (kind == ACCC_CALL_CONVOLUTION)
      forEachProduct([&](int64_t x, int64_t w, int64_t y) { result[y] += a[x] * b[w]; });
    else if (kind == ACCC_CALL_CONVOLUTION_BACKWARD_DATA)
      forEachProduct([&](int64_t x, int64_t w, int64_t y) { result[x] += a[y] * b[w]; });
    else
      forEachProduct([&](int64_t x, int64_t w, int64_t y) { result[w] += a[x] * b[y]; });
  }

private:
  static int64_t area(const Spatial &size) { return size[0] * size[1] * size[2]; }

  int64_t resultSize() const {
    if (kind == ACCC_CALL_CONVOLUTION)
      return c.batch * c.out_channels * area(out);
    if (kind == ACCC_CALL_CONVOLUTION_BACKWARD_DATA)
      return c.batch * c.in_channels * area(in);
    return c.out_channels * (c.in_channels / c.groups) * area(kernel);
  }

  /// Calls body(offset in x, in w, in y) for each product that the convolution adds up. One weight
  /// is multiplied with a whole row at a time: the innermost loop has no condition and few strides.
  template <typename Body> void forEachProduct(Body body) const {
    int64_t inPerGroup = c.in_channels / c.groups, outPerGroup = c.out_channels / c.groups;
    for (int64_t n = 0; n < c.batch; ++n)
      for (int64_t o = 0; o < c.out_channels; ++o)
        for (int64_t i = 0; i < inPerGroup; ++i)
          forEachWeight(n * x.batch + (o / outPerGroup * inPerGroup + i) * x.channel,
                        (o * inPerGroup + i) * area(kernel), n * y.batch + o * y.channel, body);
  }

  /// The same for one plane of each of the three, which begin at these offsets.
  template <typename Body>
  void forEachWeight(int64_t xAt, int64_t wAt, int64_t yAt, Body &body) const {
    Spatial q;
    for (q[0] = 0; q[0] < kernel[0]; ++q[0])
      for (q[1] = 0; q[1] < kernel[1]; ++q[1])
        for (q[2] = 0; q[2] < kernel[2]; ++q[2], ++wAt)
          forEachPlace(q, xAt, wAt, yAt, body);
  }

  /// The same for the weight at `q` of the window: where that meets the input and not its padding.
  template <typename Body>
  void forEachPlace(const Spatial &q, int64_t xAt, int64_t wAt, int64_t yAt, Body &body) const {
    Spatial first, end, xStep;
    for (size_t d = 0; d < in.size(); ++d) {
      int64_t at = q[d] * dilation[d] - low[d]; // of the first output
      first[d] = at >= 0 ? 0 : (-at + stride[d] - 1) / stride[d];
      end[d] = at >= in[d] ? 0 : std::min(out[d], (in[d] - 1 - at) / stride[d] + 1);
      xStep[d] = stride[d] * x.place[d];
      xAt += at * x.place[d];
    }
    for (int64_t p0 = first[0]; p0 < end[0]; ++p0)
      for (int64_t p1 = first[1]; p1 < end[1]; ++p1) {
        int64_t xRow = xAt + p0 * xStep[0] + p1 * xStep[1];
        int64_t yRow = yAt + p0 * y.place[0] + p1 * y.place[1];
        for (int64_t p2 = first[2]; p2 < end[2]; ++p2)
          body(xRow + p2 * xStep[2], wAt, yRow + p2 * y.place[2]);
      }
  }

  accc_call_kind kind;
  const accc_convolution &c;
  Spatial in, out, kernel, stride, dilation, low;
  Activation x, y;
};

} // namespace

std::unique_ptr<LibraryCall> createDoubleCall(const accc_library_call &call, const Team &team) {
  if (call.kind == ACCC_CALL_MATMUL)
    return std::make_unique<DoubleMatmul>(call.u.matmul, team);
  return std::make_unique<DoubleConvolution>(static_cast<accc_call_kind>(call.kind),
                                             call.u.convolution);
}

} // namespace accc::detail
