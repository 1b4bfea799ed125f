// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Generate.h"

#include "codegen/cpu/Cpu.h"
#include "codegen/host/Host.h"
#include "codegen/kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {
/// Writes text for people to look at; failing to is no error of the compile.
void dump(const GenerateOptions &options, StringRef name, llvm::function_ref<void(llvm::raw_ostream &)> print) {
  if (options.dumpDir.empty())
    return;
  SmallString<128> path(options.dumpDir);
  llvm::sys::path::append(path, name);
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (!code)
    print(stream);
}
} // namespace

LogicalResult accc::generateLibrary(ModuleOp program, const WeightTable &weights,
                                    const GenerateOptions &options, StringRef path) {
  MLIRContext *context = program.getContext();
  context->loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, LLVM::LLVMDialect,
                       math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  Location loc = program.getLoc();
  FailureOr<CpuTarget> target = createCpuTarget(options.arch, loc);
  if (failed(target))
    return failure();

  OwningOpRef<ModuleOp> kernels = ModuleOp::create(loc);
  KernelOptions kernelOptions{target->vectorBits};
  ErrorTable errors;
  KernelTasks tasks;
  bool good = true;
  {
    // A rule that goes wrong says so with a diagnostic: count those too.
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
      good &= diagnostic.getSeverity() != DiagnosticSeverity::Error;
      return failure(); // let the outer handler print it
    });
    for (auto kernel : program.getOps<exec::KernelOp>()) {
      FailureOr<KernelFunction> function = emitKernel(kernel, *kernels, kernelOptions, errors);
      if (failed(function))
        good = false;
      else
        tasks[kernel.getSymName()] = function->tasks;
    }
  }
  if (!good)
    return failure();
  dump(options, "kernels.mlir", [&](llvm::raw_ostream &os) { kernels->print(os); });
  if (failed(lowerToLLVM(*kernels)))
    return failure();
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> module = translate(*kernels, llvmContext, *target);
  if (!module)
    return emitError(loc) << "bug in accc: the kernels cannot be translated to LLVM IR";
  if (failed(addHost(program, weights, options, tasks, errors, target->level, *module)))
    return failure();
  dump(options, "library.ll", [&](llvm::raw_ostream &os) { module->print(os, nullptr); });

  SmallString<128> object;
  if (std::error_code code = llvm::sys::fs::createTemporaryFile("accc", "o", object))
    return emitError(loc) << "cannot create a temporary file: " << code.message();
  llvm::FileRemover remove(object);
  if (failed(emitObject(*module, *target, object, loc)))
    return failure();
  return linkLibrary({object.str().str()}, ACCC_MODEL_SYMBOL, path, loc);
}
