// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "PaddedCopy.h"

#include <algorithm>

namespace accc::detail {

bool PaddedCopy::isNeeded(const accc_convolution &convolution) {
  for (int32_t i = 0; i < convolution.spatial_rank; ++i)
    if (convolution.pad_low[i] != convolution.pad_high[i] || convolution.pad_low[i] < 0)
      return true;
  return false;
}

PaddedCopy::PaddedCopy(const Context &context, const accc_convolution &convolution,
                       uint64_t elementBytes)
    : context(context), plainConvolution(convolution) {
  plain.size.fill(1), padded.size.fill(1), common.fill(1);
  plain.first.fill(0), padded.first.fill(0);
  for (int32_t i = 0; i < convolution.spatial_rank; ++i) {
    size_t dim = dims - static_cast<size_t>(convolution.spatial_rank - i);
    int64_t low = convolution.pad_low[i], high = convolution.pad_high[i];
    plain.size[dim] = convolution.in_size[i];
    padded.size[dim] = std::max<int64_t>(convolution.in_size[i] + low + high, 0);
    plain.first[dim] = std::max<int64_t>(-low, 0);
    padded.first[dim] = std::max<int64_t>(low, 0);
    common[dim] = std::max<int64_t>(
        convolution.in_size[i] + std::min<int64_t>(low, 0) + std::min<int64_t>(high, 0), 0);
  }
  bool channelsLast = convolution.layout == ACCC_CHANNELS_LAST;
  images = convolution.batch * (channelsLast ? 1 : convolution.in_channels);
  pixelBytes = static_cast<int64_t>(elementBytes) * (channelsLast ? convolution.in_channels : 1);
}

accc_convolution PaddedCopy::convolution() const {
  accc_convolution result = plainConvolution;
  for (int32_t i = 0; i < result.spatial_rank; ++i) {
    result.in_size[i] += result.pad_low[i] + result.pad_high[i];
    result.pad_low[i] = result.pad_high[i] = 0;
  }
  return result;
}

uint64_t PaddedCopy::bytesOf(const Box &box) const {
  return static_cast<uint64_t>(images * pixelBytes * box.size[0] * box.size[1] * box.size[2]);
}

uint64_t PaddedCopy::bytes() const { return bytesOf(padded); }

void PaddedCopy::clear(const Box &box, CUdeviceptr memory) const {
  if (uint64_t bytes = bytesOf(box))
    context.driver.check(context.driver.cuMemsetD8Async(memory, 0, bytes, context.stream),
                         "padding the input of a convolution");
}

void PaddedCopy::copy(const Box &from, CUdeviceptr source, const Box &to,
                      CUdeviceptr target) const {
  if (std::min({common[0], common[1], common[2], images, pixelBytes}) == 0)
    return;
  // What is three-dimensional for the driver are the rows and columns of all images at one depth.
  for (int64_t depth = 0; depth < common[0]; ++depth) {
    CUDA_MEMCPY3D part{};
    part.srcMemoryType = part.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    part.srcDevice = source, part.dstDevice = target;
    part.srcXInBytes = static_cast<size_t>(from.first[2] * pixelBytes);
    part.dstXInBytes = static_cast<size_t>(to.first[2] * pixelBytes);
    part.srcY = static_cast<size_t>((from.first[0] + depth) * from.size[1] + from.first[1]);
    part.dstY = static_cast<size_t>((to.first[0] + depth) * to.size[1] + to.first[1]);
    part.srcPitch = static_cast<size_t>(from.size[2] * pixelBytes);
    part.dstPitch = static_cast<size_t>(to.size[2] * pixelBytes);
    part.srcHeight = static_cast<size_t>(from.size[0] * from.size[1]);
    part.dstHeight = static_cast<size_t>(to.size[0] * to.size[1]);
    part.WidthInBytes = static_cast<size_t>(common[2] * pixelBytes);
    part.Height = static_cast<size_t>(common[1]);
    part.Depth = static_cast<size_t>(images);
    context.driver.check(context.driver.cuMemcpy3DAsync(&part, context.stream),
                         "padding the input of a convolution");
  }
}

void PaddedCopy::pad(CUdeviceptr from, CUdeviceptr to) const {
  clear(padded, to);
  copy(plain, from, padded, to);
}

void PaddedCopy::cut(CUdeviceptr from, CUdeviceptr to) const {
  if (common != plain.size)
    clear(plain, to);
  copy(padded, from, plain, to);
}

} // namespace accc::detail
