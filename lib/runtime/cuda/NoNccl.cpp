// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In place of Nccl.cpp where NCCL's header was not found.
#include "Nccl.h"

#include "accc/error.h"

namespace accc::detail {

void Nccl::Leave::operator()(void *) const { static_cast<void>(functions); }

Nccl::Nccl(const Context &context, Group &) : context(context) {
  throw Error(ErrorKind::machine,
              "training on the GPUs of several processes needs NCCL, whose header (nccl.h) this "
              "runtime was built without");
}

void Nccl::enqueue(const accc_collective &, std::span<const accc_buffer>,
                   std::span<const CUdeviceptr>) const {
  // Of the class that Nccl.cpp implements.
  static_cast<void>(context), static_cast<void>(functions);
}
void Nccl::enqueueMaximum(CUdeviceptr) const {}

} // namespace accc::detail
