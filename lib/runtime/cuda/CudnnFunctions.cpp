// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudnnFunctions.h"

#include "accc/error.h"

namespace accc::detail {

void CudnnFunctions::check(cudnnStatus_t status, const char *doing) const {
  if (status != CUDNN_STATUS_SUCCESS)
    throw Error(ErrorKind::machine,
                std::string("cuDNN failed in ") + doing + ": " + cudnnGetErrorString(status));
}

} // namespace accc::detail
