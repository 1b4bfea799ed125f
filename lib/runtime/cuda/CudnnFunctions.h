// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cuDNN 9 as it is loaded. Includes the library's header.
#ifndef ACCC_RUNTIME_CUDA_CUDNNFUNCTIONS_H
#define ACCC_RUNTIME_CUDA_CUDNNFUNCTIONS_H

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
  F(cudnnTransformTensor)                                                                          \
  F(cudnnBackendCreateDescriptor)                                                                  \
  F(cudnnBackendDestroyDescriptor)                                                                 \
  F(cudnnBackendSetAttribute)                                                                      \
  F(cudnnBackendGetAttribute)                                                                      \
  F(cudnnBackendFinalize)                                                                          \
  F(cudnnBackendExecute)

struct CudnnFunctions {
  ACCC_LIBRARY_FUNCTIONS(ACCC_CUDNN_FUNCTIONS)

  /// nullptr where the library is not there; `why` says what is missing.
  static const CudnnFunctions *find(std::string &why) {
    return loadOnce<CudnnFunctions>({"libcudnn.so.9"}, why);
  }

  /// Throws Error (machine) for any status but success.
  void check(cudnnStatus_t status, const char *doing) const;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_CUDNNFUNCTIONS_H
