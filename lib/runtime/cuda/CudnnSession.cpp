// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CudnnSession.h"

#include "accc/error.h"

namespace accc::detail {

static const CudnnFunctions &requireFunctions() {
  std::string why;
  if (const CudnnFunctions *functions = CudnnFunctions::find(why))
    return *functions;
  throw Error(ErrorKind::machine, "convolutions need cuDNN: " + why);
}

CudnnSession::CudnnSession(const Context &context)
    : context(context), functions(requireFunctions()) {
  functions.check(functions.cudnnCreate(&handle), "starting");
  functions.check(functions.cudnnSetStream(handle, reinterpret_cast<cudaStream_t>(context.stream)),
                  "taking the session's stream");
}

} // namespace accc::detail
