// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PixelConvolution.h"

#include "Ones.h"

#include <algorithm>
#include <array>
#include <utility>

namespace accc::detail {

namespace {

/// Elements of an image of one channel.
int64_t pixelsOf(const accc_convolution &c) {
  int64_t pixels = 1;
  for (int32_t i = 0; i < c.spatial_rank; ++i)
    pixels *= c.in_size[i];
  return pixels;
}

/// Of rows x depth and depth x columns, for each image.
accc_library_call productOfImages(const accc_library_call &call, int64_t m, int64_t n, int64_t k) {
  accc_library_call product{};
  product.kind = ACCC_CALL_MATMUL;
  product.compute = call.compute;
  std::ranges::copy(call.dtypes, product.dtypes);
  accc_matmul &p = product.u.matmul;
  p.m = m, p.n = n, p.k = k;
  p.batch_rank = 1;
  p.batch[0] = call.u.convolution.batch;
  p.c_row_stride = n, p.c_column_stride = 1, p.c_batch_strides[0] = m * n;
  return product;
}

} // namespace

bool PixelConvolution::isFaster(const accc_library_call &call) {
  const accc_convolution &c = call.u.convolution;
  bool isOfWeights = call.kind == ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS;
  if (!isOfWeights && call.kind != ACCC_CALL_CONVOLUTION_BACKWARD_DATA)
    return false;
  if (call.dtypes[0] != ACCC_F32 || call.compute != ACCC_COMPUTE_FULL ||
      c.layout != ACCC_CHANNELS_FIRST || c.groups != 1)
    return false;
  for (int32_t i = 0; i < c.spatial_rank; ++i)
    if (c.kernel[i] != 1 || c.stride[i] != 1 || c.pad_low[i] != 0 || c.pad_high[i] != 0)
      return false;
  int64_t weights = c.in_channels * c.out_channels, pixels = pixelsOf(c);
  if (c.batch == 0 || weights == 0 || pixels == 0)
    return false;
  constexpr int64_t aligned = 16 / sizeof(float);
  return isOfWeights ? weights <= 2 * (c.in_channels + c.out_channels) * pixels
                     : pixels % aligned == 0;
}

static accc_library_call productOf(const accc_library_call &call) {
  const accc_convolution &c = call.u.convolution;
  int64_t in = c.in_channels, out = c.out_channels, pixels = pixelsOf(c);
  if (call.kind == ACCC_CALL_CONVOLUTION_BACKWARD_DATA) { // dx = transposed w, dy
    accc_library_call product = productOfImages(call, in, pixels, out);
    accc_matmul &p = product.u.matmul;
    p.a_row_stride = 1, p.a_column_stride = in;
    p.b_row_stride = pixels, p.b_column_stride = 1, p.b_batch_strides[0] = out * pixels;
    return product;
  }
  accc_library_call product = productOfImages(call, out, in, pixels); // dw = dy, transposed x
  accc_matmul &p = product.u.matmul;
  p.a_row_stride = pixels, p.a_column_stride = 1, p.a_batch_strides[0] = out * pixels;
  p.b_row_stride = 1, p.b_column_stride = pixels, p.b_batch_strides[0] = in * pixels;
  return product;
}

/// A row of ones by the results of `product`, one row for each image.
static accc_library_call sumOfImages(const accc_library_call &product) {
  accc_library_call sum = product;
  accc_matmul &p = sum.u.matmul;
  int64_t images = p.batch[0], elements = p.m * p.n;
  p = {};
  p.m = 1, p.n = elements, p.k = images;
  p.a_row_stride = images, p.a_column_stride = 1;
  p.b_row_stride = elements, p.b_column_stride = 1;
  p.c_row_stride = elements, p.c_column_stride = 1;
  return sum;
}

std::unique_ptr<LibraryCall> PixelConvolution::create(const Context &context, CublasLt &library,
                                                      const accc_library_call &call,
                                                      uint64_t alignment) {
  std::unique_ptr<PixelConvolution> made(new PixelConvolution(productOf(call)));
  made->multiply = library.findMatmul(made->product, alignment);
  const accc_matmul &p = made->product.u.matmul;
  if (made->multiply && call.kind == ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS && p.batch[0] != 1) {
    made->sum = sumOfImages(made->product);
    made->sumBytes = (uint64_t(p.batch[0] * p.m * p.n) * sizeof(float) + 255) / 256 * 256;
    made->ones = makeOnes(context, DType::f32, uint64_t(p.batch[0]));
    made->add = library.findMatmul(*made->sum, alignment);
    if (!made->add)
      return nullptr;
  }
  return made->multiply ? std::move(made) : nullptr;
}

uint64_t PixelConvolution::scratchBytes() const {
  return sumBytes + std::max(multiply->scratchBytes(), add ? add->scratchBytes() : 0);
}

/// A, B and C from the buffers of a gradient (accc_call_kind).
PixelConvolution::Buffers PixelConvolution::ofProduct(std::span<const CUdeviceptr> buffers) {
  return {buffers[1], buffers[0], buffers[2]};
}

void PixelConvolution::prepare(std::span<const CUdeviceptr> buffers) {
  multiply->prepare(ofProduct(buffers));
}

void PixelConvolution::enqueue(std::span<const CUdeviceptr> buffers, CUdeviceptr scratch) {
  Buffers used = ofProduct(buffers);
  if (!add) {
    multiply->enqueue(used, scratch);
    return;
  }
  CUdeviceptr result = std::exchange(used[2], scratch);
  multiply->enqueue(used, scratch + sumBytes);
  add->enqueue(Buffers{ones.address(), scratch, result}, scratch + sumBytes);
}

} // namespace accc::detail
