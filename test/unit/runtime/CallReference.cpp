// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CallReference.h"

#include <array>

namespace accc::test {

std::vector<double> expectedMatmul(const accc_matmul &p, const std::vector<float> &a,
                                   const std::vector<float> &b, const std::vector<float> &c,
                                   const std::vector<float> &bias) {
  std::vector<double> result(c.begin(), c.end());
  int64_t batches = 1;
  for (int32_t d = 0; d < p.batch_rank; ++d)
    batches *= p.batch[d];
  for (int64_t flat = 0; flat < batches; ++flat) {
    int64_t ia = p.a_offset, ib = p.b_offset, ic = 0, rest = flat;
    for (int32_t d = p.batch_rank; d-- > 0;) {
      int64_t i = rest % p.batch[d];
      rest /= p.batch[d];
      ia += i * p.a_batch_strides[d], ib += i * p.b_batch_strides[d];
      ic += i * p.c_batch_strides[d];
    }
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j) {
        auto at = static_cast<size_t>(ic + i * p.c_row_stride + j * p.c_column_stride);
        double sum = p.accumulate ? c[at] : bias.empty() ? 0 : bias[static_cast<size_t>(j)];
        for (int64_t k = 0; k < p.k; ++k)
          sum += double(a[static_cast<size_t>(ia + i * p.a_row_stride + k * p.a_column_stride)]) *
                 b[static_cast<size_t>(ib + k * p.b_row_stride + j * p.b_column_stride)];
        result[at] = sum;
      }
  }
  return result;
}

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

  size_t weight(int64_t out, int64_t in, const Extents &at) const {
    int64_t spatial = (at[0] * kernel[1] + at[1]) * kernel[2] + at[2];
    int64_t area = kernel[0] * kernel[1] * kernel[2], channels = c.in_channels / c.groups;
    return static_cast<size_t>(c.filter_layout == ACCC_CHANNELS_LAST
                                   ? (out * area + spatial) * channels + in
                                   : (out * channels + in) * area + spatial);
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
                      visit(activation(n, oc / perGroupOut * perGroupIn + ic, c.in_channels, i, in),
                            weight(oc, ic, k), activation(n, oc, c.out_channels, o, out));
                    }
  }

  accc_convolution c;
  Extents in, out, kernel, stride, dilation, low;
};

} // namespace

std::tuple<size_t, size_t, size_t> operandSizes(const accc_library_call &call) {
  const accc_convolution &c = call.u.convolution;
  auto x = size_t(sizeOfX(c)), w = size_t(sizeOfW(c)), y = size_t(sizeOfY(c));
  switch (call.kind) {
  case ACCC_CALL_CONVOLUTION:
    return {x, w, y};
  case ACCC_CALL_CONVOLUTION_BACKWARD_DATA:
    return {y, w, x};
  default:
    return {x, y, w};
  }
}

std::vector<double> expectedConvolution(const accc_library_call &call,
                                        const std::vector<float> &first,
                                        const std::vector<float> &second) {
  std::vector<double> result(std::get<2>(operandSizes(call)));
  Naive(call.u.convolution).forEachProduct([&](size_t x, size_t w, size_t y) {
    switch (call.kind) {
    case ACCC_CALL_CONVOLUTION:
      result[y] += double(first[x]) * second[w];
      break;
    case ACCC_CALL_CONVOLUTION_BACKWARD_DATA:
      result[x] += double(first[y]) * second[w];
      break;
    default:
      result[w] += double(first[x]) * second[y];
    }
  });
  return result;
}

const std::vector<ConvolutionSpec> convolutionSpecs = {
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
    {"depthwise 1-D", 2, 20, 20, 20, {15}, {4}, {1}, {1}, {3}, {0}},
    {"depthwise 1-D, strided and dilated", 1, 35, 35, 35, {40}, {9}, {2}, {2}, {8}, {8}},
    {"depthwise 1-D of a long row", 1, 16, 16, 16, {1700}, {31}, {1}, {1}, {15}, {15}},
    {"depthwise of many columns",
     1,
     33,
     33,
     33,
     {6, 30},
     {3, 26},
     {1, 1},
     {1, 1},
     {1, 13},
     {1, 12}},
    {"depthwise of too many columns",
     1,
     16,
     16,
     16,
     {33, 33},
     {33, 33},
     {1, 1},
     {1, 1},
     {16, 16},
     {16, 16}},
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

const std::vector<MatmulExtents> matmulExtents = {{1, 5, 7, 3}, {4, 33, 17, 20}, {2, 1, 9, 4},
                                                  {3, 6, 1, 5}, {1, 1, 1, 1},    {1, 64, 48, 1},
                                                  {2, 1, 1, 70}};
const std::vector<MatmulExtents> emptyMatmulExtents = {
    {1, 3, 4, 0}, {2, 0, 4, 5}, {2, 3, 0, 5}, {0, 3, 4, 5}, {3, 2, 2, 0}};

accc_library_call attentionMatmul() {
  accc_library_call call = matmul(1, 3, 3, 5);
  accc_matmul &p = call.u.matmul;
  p.batch_rank = 2;
  p.batch[0] = 2, p.batch[1] = 4;
  p.a_batch_strides[0] = p.b_batch_strides[0] = 60, p.a_batch_strides[1] = p.b_batch_strides[1] = 5;
  p.a_row_stride = 20, p.a_column_stride = 1;
  p.b_row_stride = 1, p.b_column_stride = 20;
  p.c_batch_strides[0] = 36, p.c_batch_strides[1] = 9;
  return call;
}

} // namespace accc::test
