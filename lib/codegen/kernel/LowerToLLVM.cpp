// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/kernel/Lower.h"

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
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace accc;

namespace {
/// Before the conversion to LLVM would make calls of them.
struct ExpandFunctionsPass : PassWrapper<ExpandFunctionsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandFunctionsPass)
  explicit ExpandFunctionsPass(codegen::PopulateFunctions *populateFunctions)
      : populateFunctions(populateFunctions) {}

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    codegen::populateElementaryFunctionPatterns(set);
    populateFunctions(set);
    patterns = std::move(set);
    return success();
  }
  void runOnOperation() override {
    GreedyRewriteConfig config;
    config.enableRegionSimplification = GreedySimplifyRegionLevel::Disabled; // LLVM's work
    auto expand = [&] {
      if (failed(applyPatternsAndFoldGreedily(getOperation(), patterns, config)))
        signalPassFailure();
    };
    expand();
    if (codegen::hasHalfFloats(getOperation())) {
      codegen::computeHalvesInF32(getOperation());
      expand(); // what has become arithmetic of f32
    }
  }
  codegen::PopulateFunctions *populateFunctions;
  FrozenRewritePatternSet patterns;
};

struct KeepBFloatsPass : PassWrapper<KeepBFloatsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(KeepBFloatsPass)

  void runOnOperation() override {
    if (codegen::hasHalfFloats(getOperation()) &&
        failed(codegen::keepBFloatsAsIntegers(getOperation())))
      signalPassFailure();
  }
};
} // namespace

LogicalResult codegen::lowerToLLVM(ModuleOp kernels, PopulateFunctions *populateFunctions) {
  PassManager all(kernels.getContext());
  all.enableVerifier(false);
  OpPassManager &pm = all.nest<ModuleOp>();
  pm.addPass(std::make_unique<ExpandFunctionsPass>(populateFunctions));
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
  pm.addPass(std::make_unique<KeepBFloatsPass>());
  return all.run(kernels);
}

void codegen::registerTranslations(MLIRContext &context) {
  registerBuiltinDialectTranslation(context);
  registerLLVMDialectTranslation(context);
}
