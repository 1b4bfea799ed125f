// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CUDA_BIASAFTERWARDS_H
#define ACCC_RUNTIME_CUDA_BIASAFTERWARDS_H

#include "LibraryCall.h"

#include <functional>

namespace accc::detail {

/// Makes a product without an epilogue.
using CreateProduct = std::function<std::unique_ptr<LibraryCall>(const accc_library_call &)>;

/// A product and then its bias, where the library has no algorithm that adds it.
std::unique_ptr<LibraryCall> addBiasAfterwards(const Context &context,
                                               const accc_library_call &call,
                                               const CreateProduct &create);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CUDA_BIASAFTERWARDS_H
