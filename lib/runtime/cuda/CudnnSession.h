// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cuDNN 9 as it is loaded, with a handle for one session. Includes the library's header.
#ifndef ACCC_RUNTIME_CUDA_CUDNNSESSION_H
#define ACCC_RUNTIME_CUDA_CUDNNSESSION_H

#include "DeviceMemory.h"
#include "LibraryFunctions.h"

#include <cudnn.h>

namespace accc::detail {

#define ACCC_CUDNN_FUNCTIONS(F)                                                                    \
  F(cudnnCreate)                                                                                   \
  F(cudnnDestroy)                                                                                  \
  F(cudnnSetStream)                                                                                \
  F(cudnnGetErrorString)                                                                           \
  F(cudnnCreateTensorDescriptor)                                                                   \
  F(cudnnDestroyTensorDescriptor)                                                                  \
  F(cudnnSetTensorNdDescriptor)                                                                    \
  F(cudnnCreateFilterDescriptor)                                                                   \
  F(cudnnDestroyFilterDescriptor)                                                                  \
  F(cudnnSetFilterNdDescriptor)                                                                    \
  F(cudnnCreateConvolutionDescriptor)                                                              \
  F(cudnnDestroyConvolutionDescriptor)                                                             \
  F(cudnnSetConvolutionNdDescriptor)                                                               \
  F(cudnnSetConvolutionGroupCount)                                                                 \
  F(cudnnSetConvolutionMathType)                                                                   \
  F(cudnnGetConvolutionForwardAlgorithm_v7)                                                        \
  F(cudnnGetConvolutionBackwardDataAlgorithm_v7)                                                   \
  F(cudnnGetConvolutionBackwardFilterAlgorithm_v7)                                                 \
  F(cudnnConvolutionForward)                                                                       \
  F(cudnnConvolutionBackwardData)                                                                  \
  F(cudnnConvolutionBackwardFilter)                                                                \
  F(cudnnTransformTensor)

struct CudnnFunctions {
  ACCC_LIBRARY_FUNCTIONS(ACCC_CUDNN_FUNCTIONS)

  /// nullptr where the library is not there; `why` says what is missing.
  static const CudnnFunctions *find(std::string &why) {
    return loadOnce<CudnnFunctions>({"libcudnn.so.9"}, why);
  }

  /// Throws Error (machine) for any status but success.
  void check(cudnnStatus_t status, const char *doing) const;
};

/// The library with a handle whose work runs in the session's stream.
class CudnnSession {
public:
  /// Throws Error (machine) where the library is not there or does not start.
  explicit CudnnSession(const Context &context);
  CudnnSession(const CudnnSession &) = delete;
  ~CudnnSession() { functions.cudnnDestroy(handle); }

  const Context &context;
  const CudnnFunctions &functions;
  cudnnHandle_t handle = nullptr;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDNNSESSION_H
