// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In place of Nccl.cpp where NCCL's header was not found.
#include "Nccl.h"

#include "accc/error.h"

namespace accc::detail {

Nccl::Nccl(const Context &context, Group &)
    : context(context), functions(nullptr), communicator(nullptr) {
  throw Error(ErrorKind::machine,
              "training on the GPUs of several processes needs NCCL, whose header (nccl.h) this "
              "runtime was built without");
}
Nccl::~Nccl() {
  // Of the class that Nccl.cpp implements.
  static_cast<void>(context), static_cast<void>(functions), static_cast<void>(communicator);
}

void Nccl::enqueue(const accc_collective &, std::span<const accc_buffer>,
                   std::span<const CUdeviceptr>) const {}
void Nccl::enqueueMaximum(CUdeviceptr) const {}

} // namespace accc::detail
