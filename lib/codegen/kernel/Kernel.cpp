// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/kernel/Kernel.h"

#include "codegen/kernel/Emitters.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

FailureOr<KernelFunction> codegen::emitKernel(exec::KernelOp kernel, ModuleOp module,
                                              const KernelOptions &options, ErrorTable &errors) {
  Emitter *emit = nullptr;
  switch (kernel.getKind()) {
  case prim::KernelKind::loop:
    emit = emitLoopKernel;
    break;
  case prim::KernelKind::reduce:
    emit = emitReduceKernel;
    break;
  case prim::KernelKind::scatter:
    emit = emitScatterKernel;
    break;
  case prim::KernelKind::window_scatter:
    emit = emitWindowScatterKernel;
    break;
  case prim::KernelKind::scan:
    emit = emitScanKernel;
    break;
  case prim::KernelKind::sort:
    emit = emitSortKernel;
    break;
  case prim::KernelKind::each:
    emit = emitEachKernel;
    break;
  }
  return emit(kernel, module, options, errors);
}
