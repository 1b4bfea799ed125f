// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions and their tensors as cuDNN describes them.
#ifndef ACCC_RUNTIME_CUDA_CUDNNDESCRIPTORS_H
#define ACCC_RUNTIME_CUDA_CUDNNDESCRIPTORS_H

#include "CudnnFunctions.h"
#include "accc/abi.h"

#include <array>
#include <memory>

namespace accc::detail {

constexpr int mostCudnnDims = ACCC_MAX_SPATIAL_DIMS + 2;
using CudnnExtents = std::array<int, mostCudnnDims>;

/// A dense tensor of a convolution. Its dimensions are N C and the spatial ones (O I and those of
/// the kernel, of a filter), however it lies in memory.
struct CudnnTensor {
  int rank;
  CudnnExtents extents;
  bool channelsLast;

  CudnnExtents strides() const;
  int64_t elements() const;
};

/// A convolution as cuDNN's arrays say it. It knows two and three spatial dimensions: one is two of
/// which the first has the extent 1.
struct CudnnConvolutionShape {
  explicit CudnnConvolutionShape(const accc_convolution &c);

  int spatial;
  CudnnTensor x, w, y;
  std::array<int, ACCC_MAX_SPATIAL_DIMS> padding{}, stride{}, dilation{};
  std::array<int, ACCC_MAX_SPATIAL_DIMS> paddingBehind{}; ///< padding is that in front
};

/// The buffers of a convolution or of one of its gradients, in the order of accc_call_kind.
std::array<CudnnTensor, 3> cudnnBuffersOf(const accc_library_call &call);

std::array<uint64_t, 3> cudnnBufferBytesOf(const accc_library_call &call);

template <typename Pointer>
using CudnnDescriptor = std::unique_ptr<std::remove_pointer_t<Pointer>, cudnnStatus_t (*)(Pointer)>;
using CudnnTensorDescriptor = CudnnDescriptor<cudnnTensorDescriptor_t>;
using CudnnFilterDescriptor = CudnnDescriptor<cudnnFilterDescriptor_t>;
using CudnnConvolutionDescriptor = CudnnDescriptor<cudnnConvolutionDescriptor_t>;

/// `dtype` is one of accc_dtype.
cudnnDataType_t cudnnTypeOf(int32_t dtype);

/// Each throws Error (machine) where the library refuses.
CudnnTensorDescriptor describeTensor(const CudnnFunctions &functions, int32_t dtype,
                                     const CudnnTensor &tensor);
/// With such strides, in elements.
CudnnTensorDescriptor describeTensor(const CudnnFunctions &functions, int32_t dtype,
                                     const CudnnTensor &tensor, const CudnnExtents &strides);
CudnnFilterDescriptor describeFilter(const CudnnFunctions &functions, int32_t dtype,
                                     const CudnnTensor &tensor);
CudnnConvolutionDescriptor describeConvolution(const CudnnFunctions &functions, int32_t dtype,
                                               const CudnnConvolutionShape &shape, int64_t groups);

/// 0 or 1 as the library takes factors of tensors of the type.
const void *cudnnFactor(int32_t dtype, bool one);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDNNDESCRIPTORS_H
