// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "SpreadPixels.h"

#include "accc/tensor.h"

namespace accc::detail {

bool SpreadPixels::isPossible(const accc_library_call &call) {
  const accc_convolution &c = call.u.convolution;
  if (call.kind != ACCC_CALL_CONVOLUTION_BACKWARD_DATA || c.layout != ACCC_CHANNELS_FIRST)
    return false;
  bool isStrided = false;
  for (int32_t i = 0; i < c.spatial_rank; ++i) {
    if (c.kernel[i] != 1 || c.pad_low[i] != 0 || c.pad_high[i] != 0)
      return false;
    isStrided |= c.stride[i] != 1;
  }
  return isStrided;
}

accc_library_call SpreadPixels::denseOf(const accc_library_call &call) {
  accc_library_call dense = call;
  accc_convolution &c = dense.u.convolution;
  for (int32_t i = 0; i < c.spatial_rank; ++i)
    c.in_size[i] = c.out_size[i], c.stride[i] = 1;
  return dense;
}

static CudnnTensorDescriptor describeApart(const CudnnSession &session,
                                           const accc_library_call &call) {
  CudnnConvolutionShape shape(call.u.convolution);
  CudnnTensor places = shape.x;
  CudnnExtents strides = places.strides();
  for (int i = 0; i < shape.spatial; ++i) {
    places.extents[2 + i] = shape.y.extents[2 + i];
    strides[2 + i] *= shape.stride[i];
  }
  return describeTensor(session.functions, call.dtypes[2], places, strides);
}

SpreadPixels::SpreadPixels(const CudnnSession &session, const accc_library_call &call,
                           std::unique_ptr<LibraryCall> dense)
    : session(session), dtype(call.dtypes[2]), dense(std::move(dense)),
      together(describeTensor(session.functions, dtype, cudnnBuffersOf(denseOf(call))[2])),
      apart(describeApart(session, call)) {
  uint64_t size = size_of(static_cast<DType>(dtype));
  bytes = uint64_t(cudnnBuffersOf(call)[2].elements()) * size;
  denseBytes = (uint64_t(cudnnBuffersOf(denseOf(call))[2].elements()) * size + 255) / 256 * 256;
}

void SpreadPixels::enqueue(std::span<const CUdeviceptr> buffers, CUdeviceptr scratch) {
  dense->enqueue(std::array{buffers[0], buffers[1], scratch}, scratch + denseBytes);
  const Context &context = session.context;
  context.driver.check(context.driver.cuMemsetD8Async(buffers[2], 0, bytes, context.stream),
                       "clearing the gradient of a convolution's input");
  const CudnnFunctions &functions = session.functions;
  functions.check(functions.cudnnTransformTensor(session.handle, cudnnFactor(dtype, true),
                                                 together.get(), reinterpret_cast<void *>(scratch),
                                                 cudnnFactor(dtype, false), apart.get(),
                                                 reinterpret_cast<void *>(buffers[2])),
                  "spreading the gradient of a convolution's input");
}

} // namespace accc::detail
