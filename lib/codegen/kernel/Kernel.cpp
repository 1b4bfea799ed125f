// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/kernel/Kernel.h"

#include "codegen/kernel/Emitters.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

FailureOr<KernelFunction> codegen::emitKernel(exec::KernelOp kernel, ModuleOp module,
                                              const KernelOptions &options, ErrorTable &errors) {
  Emitter *emit = llvm::StringSwitch<Emitter *>(kernel.getKind())
                      .Case("loop", emitLoopKernel)
                      .Case("reduce", emitReduceKernel)
                      .Case("scatter", emitScatterKernel)
                      .Case("window_scatter", emitWindowScatterKernel)
                      .Case("scan", emitScanKernel)
                      .Case("sort", emitSortKernel)
                      .Case("each", emitEachKernel)
                      .Default(nullptr);
  if (!emit)
    return kernel.emitError("no emitter for kernels of kind '") << kernel.getKind() << "'";
  return emit(kernel, module, options, errors);
}
