// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Calls.h"
#include "Support.h"

#include <array>
#include <cmath>
#include <tuple>

using namespace accc;
using namespace accc::test;

namespace {

using Extents = std::array<int64_t, 3>;

Extents extents(const int64_t *values, int32_t rank, int64_t fill) {
  Extents result = {fill, fill, fill};
  for (int32_t i = 0; i < rank; ++i)
    result[static_cast<size_t>(3 - rank + i)] = values[i];
  return result;
}

/// A convolution as three spatial dimensions, whatever it has, and its tensors' elements.
struct Naive {
  explicit Naive(const accc_convolution &c)
      : c(c), in(extents(c.in_size, c.spatial_rank, 1)),
        out(extents(c.out_size, c.spatial_rank, 1)), kernel(extents(c.kernel, c.spatial_rank, 1)),
        stride(extents(c.stride, c.spatial_rank, 1)),
        dilation(extents(c.dilation, c.spatial_rank, 1)),
        low(extents(c.pad_low, c.spatial_rank, 0)) {}

  size_t activation(int64_t n, int64_t channel, int64_t channels, const Extents &at,
                    const Extents &size) const {
    int64_t spatial = (at[0] * size[1] + at[1]) * size[2] + at[2];
    int64_t area = size[0] * size[1] * size[2];
    return static_cast<size_t>(c.layout == ACCC_CHANNELS_LAST
                                   ? (n * area + spatial) * channels + channel
                                   : (n * channels + channel) * area + spatial);
  }

  /// Calls visit(x index, w index, y index) for every product of the convolution.
  template <typename Visit> void forEachProduct(Visit &&visit) const {
    int64_t perGroupIn = c.in_channels / c.groups, perGroupOut = c.out_channels / c.groups;
    Extents o, k, i;
    for (int64_t n = 0; n < c.batch; ++n)
      for (int64_t oc = 0; oc < c.out_channels; ++oc)
        for (int64_t ic = 0; ic < perGroupIn; ++ic)
          for (o[0] = 0; o[0] < out[0]; ++o[0])
            for (o[1] = 0; o[1] < out[1]; ++o[1])
              for (o[2] = 0; o[2] < out[2]; ++o[2])
                for (k[0] = 0; k[0] < kernel[0]; ++k[0])
                  for (k[1] = 0; k[1] < kernel[1]; ++k[1])
                    for (k[2] = 0; k[2] < kernel[2]; ++k[2]) {
                      bool inside = true;
                      for (size_t d = 0; d < 3; ++d) {
                        i[d] = o[d] * stride[d] + k[d] * dilation[d] - low[d];
                        inside &= i[d] >= 0 && i[d] < in[d];
                      }
                      if (!inside)
                        continue;
                      int64_t w = ((oc * perGroupIn + ic) * kernel[0] + k[0]) * kernel[1] + k[1];
                      visit(activation(n, oc / perGroupOut * perGroupIn + ic, c.in_channels, i, in),
                            static_cast<size_t>(w * kernel[2] + k[2]),
                            activation(n, oc, c.out_channels, o, out));
                    }
  }

  accc_convolution c;
  Extents in, out, kernel, stride, dilation, low;
};

const std::vector<ConvolutionSpec> specs = {
    {"3x3", 2, 5, 7, 1, {6, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"3x3 of 32", 2, 32, 48, 1, {9, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"stem", 2, 3, 16, 1, {23, 23}, {7, 7}, {2, 2}, {1, 1}, {3, 3}, {3, 3}},
    {"1x1", 3, 16, 24, 1, {5, 4}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {0, 0}},
    {"1x1 strided, a row left over", 2, 16, 8, 1, {6, 7}, {1, 1}, {2, 2}, {1, 1}, {0, 0}, {0, 0}},
    {"3x3 strided, a row left over", 2, 4, 6, 1, {8, 8}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}},
    {"one channel", 4, 1, 8, 1, {8, 8}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"groups", 2, 12, 8, 4, {7, 7}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"depthwise", 2, 32, 32, 32, {9, 9}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"depthwise 5x5 strided, odd channels",
     2,
     10,
     10,
     10,
     {9, 9},
     {5, 5},
     {2, 2},
     {1, 1},
     {2, 2},
     {2, 2}},
    {"depthwise 5x5", 2, 48, 48, 48, {7, 7}, {5, 5}, {1, 1}, {1, 1}, {2, 2}, {2, 2}},
    {"depthwise 5x5, 50 channels", 2, 50, 50, 50, {8, 9}, {5, 5}, {2, 2}, {1, 1}, {1, 2}, {2, 1}},
    {"depthwise 7x7, 16 channels", 1, 16, 16, 16, {9, 6}, {7, 7}, {1, 1}, {1, 1}, {3, 3}, {3, 3}},
    {"depthwise 3x5 dilated", 1, 33, 33, 33, {9, 11}, {3, 5}, {1, 3}, {2, 2}, {2, 3}, {1, 5}},
    {"depthwise wider than the image",
     2,
     32,
     32,
     32,
     {3, 2},
     {5, 5},
     {1, 1},
     {1, 1},
     {2, 2},
     {2, 2}},
    {"depthwise times 2", 2, 6, 12, 6, {6, 6}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
    {"dilated", 2, 4, 8, 1, {11, 12}, {3, 3}, {1, 1}, {2, 3}, {2, 3}, {2, 3}},
    {"asymmetric padding", 2, 8, 8, 1, {7, 7}, {4, 3}, {1, 2}, {1, 1}, {0, 2}, {3, 1}},
    {"padding on one side", 1, 3, 5, 1, {7, 9}, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 1}},
    {"valid patches", 2, 3, 32, 1, {16, 16}, {4, 4}, {4, 4}, {1, 1}, {0, 0}, {0, 0}},
    {"1-D", 2, 8, 16, 1, {20}, {5}, {2}, {1}, {2}, {1}},
    {"1-D depthwise, dilated", 2, 16, 16, 16, {20}, {3}, {1}, {2}, {4}, {0}},
    {"3-D", 1, 4, 8, 1, {5, 6, 7}, {3, 2, 3}, {1, 2, 1}, {1, 1, 2}, {1, 0, 2}, {1, 1, 2}},
    {"3-D groups", 2, 4, 4, 2, {4, 4, 4}, {2, 2, 2}, {1, 1, 1}, {1, 1, 1}, {0, 0, 0}, {0, 0, 0}},
};

void check(const accc_library_call &call) {
  REQUIRE_FALSE(detail::whyCpuCannot(call));
  const accc_convolution &c = call.u.convolution;
  auto x = randomFloats(size_t(sizeOfX(c)), 1), w = randomFloats(size_t(sizeOfW(c)), 2),
       y = randomFloats(size_t(sizeOfY(c)), 3);
  std::vector<double> dx(x.size()), dw(w.size()), out(y.size());
  Naive(c).forEachProduct([&](size_t ix, size_t iw, size_t iy) {
    out[iy] += double(x[ix]) * w[iw];
    dx[ix] += double(y[iy]) * w[iw];
    dw[iw] += double(x[ix]) * y[iy];
  });
  auto [first, second, result] = call.kind == ACCC_CALL_CONVOLUTION ? std::tie(x, w, out)
                                 : call.kind == ACCC_CALL_CONVOLUTION_BACKWARD_DATA
                                     ? std::tie(y, w, dx)
                                     : std::tie(x, y, dw);
  // What the result's buffer held before must not show.
  std::vector<float> garbage(result.size(), NAN);
  PreparedCall prepared(call, 2, {first, second, garbage});
  for (int repeat = 0; repeat < 2; ++repeat) {
    prepared.run();
    double worst = 0, scale = 1;
    for (size_t i = 0; i < result.size(); ++i) {
      double error = std::abs(prepared.buffer(2)[i] - result[i]);
      worst = std::isnan(error) ? INFINITY : std::max(worst, error);
      scale = std::max(scale, std::abs(result[i]));
    }
    CHECK(worst < 1e-5 * scale);
  }
}

} // namespace

TEST_CASE("convolution: forward and both gradients, both layouts") {
  auto spec = GENERATE(from_range(specs));
  auto layout = GENERATE(ACCC_CHANNELS_FIRST, ACCC_CHANNELS_LAST);
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                       ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  INFO(spec.name << ", layout " << layout << ", kind " << kind);
  check(convolution(kind, layout, spec));
}

TEST_CASE("convolution: empty batches") {
  auto kind = GENERATE(ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                       ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS);
  ConvolutionSpec spec = specs[0];
  spec.batch = 0;
  check(convolution(kind, ACCC_CHANNELS_FIRST, spec));
}

TEST_CASE("library calls: what cannot be done says why") {
  using Catch::Matchers::Contains;
  accc_library_call call = matmul(1, 2, 2, 2);
  call.dtypes[1] = ACCC_F64;
  CHECK_THAT(*detail::whyCpuCannot(call), Contains("matmul of operands of different types"));
  std::ranges::fill(call.dtypes, ACCC_I32);
  CHECK_THAT(*detail::whyCpuCannot(call), Contains("matmul of i32"));
  call.kind = 17;
  CHECK_THAT(*detail::whyCpuCannot(call), Contains("kind 17 is unknown"));
  call = convolution(ACCC_CALL_CONVOLUTION, ACCC_CHANNELS_FIRST, specs[0]);
  call.u.convolution.out_size[1] = 99;
  CHECK_THAT(*detail::whyCpuCannot(call), Contains("extent 99 where 8 follows"));
  call = convolution(ACCC_CALL_CONVOLUTION, ACCC_CHANNELS_FIRST, specs[0]);
  call.u.convolution.groups = 3;
  CHECK_THAT(*detail::whyCpuCannot(call), Contains("3 groups"));
}
