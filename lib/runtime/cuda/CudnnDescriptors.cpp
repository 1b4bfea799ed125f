// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudnnDescriptors.h"

#include "accc/tensor.h"

namespace accc::detail {

namespace {

constexpr const char *describing = "describing a convolution";

template <typename Pointer>
CudnnDescriptor<Pointer> create(const CudnnFunctions &functions, cudnnStatus_t (*make)(Pointer *),
                                cudnnStatus_t (*destroy)(Pointer)) {
  Pointer made = nullptr;
  functions.check(make(&made), describing);
  return {made, destroy};
}

} // namespace

cudnnDataType_t cudnnTypeOf(int32_t dtype) {
  switch (dtype) {
  case ACCC_F64:
    return CUDNN_DATA_DOUBLE;
  case ACCC_F16:
    return CUDNN_DATA_HALF;
  case ACCC_BF16:
    return CUDNN_DATA_BFLOAT16;
  default:
    return CUDNN_DATA_FLOAT;
  }
}

CudnnExtents CudnnTensor::strides() const {
  CudnnExtents strides{};
  int stride = 1;
  if (channelsLast)
    strides[1] = 1, stride = extents[1];
  for (int i = rank - 1; i >= 0; --i)
    if (i != 1 || !channelsLast)
      strides[i] = stride, stride *= extents[i];
  return strides;
}

int64_t CudnnTensor::elements() const {
  int64_t elements = 1;
  for (int i = 0; i < rank; ++i)
    elements *= extents[i];
  return elements;
}

CudnnConvolutionShape::CudnnConvolutionShape(const accc_convolution &c) {
  int missing = c.spatial_rank == 1;
  spatial = c.spatial_rank + missing;
  bool last = c.layout == ACCC_CHANNELS_LAST, filterLast = c.filter_layout == ACCC_CHANNELS_LAST;
  x = {spatial + 2, {int(c.batch), int(c.in_channels)}, last};
  w = {spatial + 2, {int(c.out_channels), int(c.in_channels / c.groups)}, filterLast};
  y = {spatial + 2, {int(c.batch), int(c.out_channels)}, last};
  for (int i = 0; i < spatial; ++i) {
    int from = i - missing;
    x.extents[2 + i] = from < 0 ? 1 : int(c.in_size[from]);
    w.extents[2 + i] = from < 0 ? 1 : int(c.kernel[from]);
    y.extents[2 + i] = from < 0 ? 1 : int(c.out_size[from]);
    padding[i] = from < 0 ? 0 : int(c.pad_low[from]);
    paddingBehind[i] = from < 0 ? 0 : int(c.pad_high[from]);
    stride[i] = from < 0 ? 1 : int(c.stride[from]);
    dilation[i] = from < 0 ? 1 : int(c.dilation[from]);
  }
}

std::array<CudnnTensor, 3> cudnnBuffersOf(const accc_library_call &call) {
  CudnnConvolutionShape shape(call.u.convolution);
  switch (call.kind) {
  case ACCC_CALL_CONVOLUTION:
    return {shape.x, shape.w, shape.y};
  case ACCC_CALL_CONVOLUTION_BACKWARD_DATA:
    return {shape.y, shape.w, shape.x};
  default:
    return {shape.x, shape.y, shape.w};
  }
}

std::array<uint64_t, 3> cudnnBufferBytesOf(const accc_library_call &call) {
  auto buffers = cudnnBuffersOf(call);
  std::array<uint64_t, 3> bytes{};
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] =
        static_cast<uint64_t>(buffers[i].elements()) * size_of(static_cast<DType>(call.dtypes[i]));
  return bytes;
}

CudnnTensorDescriptor describeTensor(const CudnnFunctions &functions, int32_t dtype,
                                     const CudnnTensor &tensor) {
  return describeTensor(functions, dtype, tensor, tensor.strides());
}

CudnnTensorDescriptor describeTensor(const CudnnFunctions &functions, int32_t dtype,
                                     const CudnnTensor &tensor, const CudnnExtents &strides) {
  auto made = create(functions, functions.cudnnCreateTensorDescriptor,
                     functions.cudnnDestroyTensorDescriptor);
  functions.check(functions.cudnnSetTensorNdDescriptor(made.get(), cudnnTypeOf(dtype), tensor.rank,
                                                       tensor.extents.data(), strides.data()),
                  describing);
  return made;
}

CudnnFilterDescriptor describeFilter(const CudnnFunctions &functions, int32_t dtype,
                                     const CudnnTensor &tensor) {
  auto made = create(functions, functions.cudnnCreateFilterDescriptor,
                     functions.cudnnDestroyFilterDescriptor);
  functions.check(functions.cudnnSetFilterNdDescriptor(made.get(), cudnnTypeOf(dtype),
                                                       tensor.channelsLast ? CUDNN_TENSOR_NHWC
                                                                           : CUDNN_TENSOR_NCHW,
                                                       tensor.rank, tensor.extents.data()),
                  describing);
  return made;
}

CudnnConvolutionDescriptor describeConvolution(const CudnnFunctions &functions, int32_t dtype,
                                               const CudnnConvolutionShape &shape, int64_t groups) {
  auto made = create(functions, functions.cudnnCreateConvolutionDescriptor,
                     functions.cudnnDestroyConvolutionDescriptor);
  functions.check(functions.cudnnSetConvolutionNdDescriptor(
                      made.get(), shape.spatial, shape.padding.data(), shape.stride.data(),
                      shape.dilation.data(), CUDNN_CROSS_CORRELATION,
                      dtype == ACCC_F64 ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT),
                  describing);
  functions.check(functions.cudnnSetConvolutionGroupCount(made.get(), int(groups)), describing);
  return made;
}

const void *cudnnFactor(int32_t dtype, bool one) {
  static constexpr float single[] = {0, 1};
  static constexpr double twice[] = {0, 1};
  return dtype == ACCC_F64 ? static_cast<const void *>(twice + one) : single + one;
}

} // namespace accc::detail
