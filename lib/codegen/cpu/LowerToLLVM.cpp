// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/cpu/Cpu.h"
#include "codegen/kernel/Math.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/ReconcileUnrealizedCasts/ReconcileUnrealizedCasts.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace accc;

LogicalResult codegen::lowerToLLVM(ModuleOp module) {
  // Before the conversion to LLVM would make calls of them.
  RewritePatternSet functions(module.getContext());
  populateElementaryFunctionPatterns(functions);
  populateLibmCallPatterns(functions);
  GreedyRewriteConfig config;
  config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled; // LLVM's work
  if (failed(applyPatternsAndFoldGreedily(module, std::move(functions), config)))
    return failure();
  bool hasHalves = hasHalfFloats(module);
  if (hasHalves)
    computeHalvesInF32(module);
  PassManager pm(module.getContext());
  pm.enableVerifier(false);
  // Rounding to bf16 would call the compiler's library on machines without the instruction.
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  // Before branches exist: the pass simplifies regions, and MLIR 19 merges blocks that differ in
  // which of their values they use.
  ConvertVectorToLLVMPassOptions vectorOptions;
  pm.addPass(createConvertVectorToLLVMPass(vectorOptions));
  pm.addPass(createConvertSCFToCFPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  if (failed(pm.run(module)))
    return failure();
  return hasHalves ? keepBFloatsAsIntegers(module) : success();
}

std::unique_ptr<llvm::Module> codegen::translate(ModuleOp module, llvm::LLVMContext &context,
                                                 const CpuArch &arch) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  std::unique_ptr<llvm::Module> result = translateModuleToLLVMIR(module, context, "kernels");
  if (!result)
    return nullptr;
  std::unique_ptr<llvm::TargetMachine> machine = arch.createMachine();
  result->setDataLayout(machine->createDataLayout());
  result->setTargetTriple(machine->getTargetTriple().str());
  std::string width = std::to_string(arch.vectorBits);
  for (llvm::Function &function : *result) {
    if (function.isDeclaration())
      continue;
    // Without these LLVM splits 512-bit vectors on machines that prefer 256 bits.
    function.addFnAttr("prefer-vector-width", width);
    function.addFnAttr("min-legal-vector-width", width);
    function.addFnAttr("target-cpu", arch.cpu);
    function.addFnAttr("target-features", arch.features);
    function.addFnAttr(llvm::Attribute::NoUnwind);
    function.setLinkage(llvm::GlobalValue::InternalLinkage);
  }
  return result;
}
