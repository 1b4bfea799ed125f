// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudnnSession.h"

#include "accc/error.h"

namespace accc::detail {

static const CudnnFunctions &requireFunctions() {
  std::string why;
  if (const CudnnFunctions *functions = CudnnFunctions::find(why))
    return *functions;
  throw Error(ErrorKind::machine, "convolutions and attentions need cuDNN: " + why);
}

CudnnSession::CudnnSession(const Context &context)
    : context(context), functions(requireFunctions()) {
  functions.check(functions.cudnnCreate(&handle), "starting");
  functions.check(functions.cudnnSetStream(handle, reinterpret_cast<cudaStream_t>(context.stream)),
                  "taking the session's stream");
}

void CudnnSession::execute(const CudnnPlan &plan, std::span<const CudnnOperand> operands,
                           CUdeviceptr workspace, const char *doing) const {
  std::vector<int64_t> ids;
  std::vector<void *> addresses;
  for (const CudnnOperand &each : operands) {
    ids.push_back(each.id);
    addresses.push_back(each.address);
  }
  CudnnNode pack(functions, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.setAll(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, ids);
  pack.setAll(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, addresses);
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, reinterpret_cast<void *>(workspace));
  functions.check(pack.finalize(), doing);
  functions.check(functions.cudnnBackendExecute(handle, plan.node.raw(), pack.raw()), doing);
}

} // namespace accc::detail
