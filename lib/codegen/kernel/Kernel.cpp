// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/kernel/Kernel.h"

#include "codegen/element/KernelTarget.h"
#include "codegen/kernel/Emitters.h"
#include "support/CompileLog.h"
#include "support/Fault.h"
#include "support/WorkScope.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

FailureOr<KernelFunction> codegen::emitKernel(exec::KernelOp kernel, ModuleOp module,
                                              const KernelTarget &target, ErrorTable &errors) {
  Emitter *emit = nullptr;
  bool needsSpec = false;
  switch (kernel.getKind()) {
  case prim::KernelKind::loop:
    emit = emitLoopKernel;
    needsSpec = true;
    break;
  case prim::KernelKind::reduce:
    emit = emitReduceKernel;
    needsSpec = true;
    break;
  case prim::KernelKind::scatter:
    emit = emitScatterKernel;
    break;
  case prim::KernelKind::scan:
    emit = emitScanKernel;
    break;
  case prim::KernelKind::sort:
    emit = emitSortKernel;
    break;
  case prim::KernelKind::matrix:
    emit = emitMatrixKernel;
    break;
  case prim::KernelKind::each:
    emit = emitEachKernel;
    break;
  }
  if (needsSpec && !kernel.getSpec())
    return emitBug(kernel.getLoc()) << "fusion has not described the kernel";
  return emit(kernel, module, target, errors);
}

FailureOr<KernelModule> codegen::emitKernels(ModuleOp program, const KernelTarget &target,
                                             ErrorTable &errors) {
  TimedPart part("emit-kernels");
  KernelModule result{ModuleOp::create(program.getLoc()), {}};
  bool good = true;
  // A rule that goes wrong says so with a diagnostic: count those too.
  ScopedDiagnosticHandler handler(program.getContext(), [&](Diagnostic &diagnostic) {
    good &= diagnostic.getSeverity() != DiagnosticSeverity::Error;
    return failure(); // let the outer handler print it
  });
  for (auto kernel : program.getOps<exec::KernelOp>()) {
    WorkScope scope(kernel);
    FailureOr<KernelFunction> function = emitKernel(kernel, *result.module, target, errors);
    if (failed(function))
      good = false;
    else
      result.shapes[kernel.getSymName()] = function->launch;
  }
  if (!good)
    return failure();
  return result;
}
