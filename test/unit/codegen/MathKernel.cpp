// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "MathKernel.h"

#include "codegen/math/Math.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVMPass.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <cstdlib>

using namespace mlir;

namespace accc::test {

static void require(bool condition, const llvm::Twine &what) {
  if (!condition)
    llvm::report_fatal_error("the kernel under test: " + what);
}

/// The loop, with an unregistered stand-in `"test.function"(x, y)` for the function.
static std::string loopText(StringRef element, StringRef lanes) {
  SmallVector<StringRef> sizes;
  lanes.split(sizes, 'x', -1, /*KeepEmpty=*/false);
  int64_t step = 1;
  for (StringRef size : sizes)
    step *= std::atoi(size.str().c_str());
  std::string flat = ("vector<" + Twine(step) + "x" + element + ">").str();
  std::string shaped = ("vector<" + lanes + "x" + element + ">").str();
  std::string type = lanes.empty() ? element.str() : shaped;
  std::string memref = ("memref<?x" + element + ">").str();
  auto load = [&](StringRef to, StringRef from) {
    if (lanes.empty())
      return ("  " + to + " = memref.load " + from + "[%i] : " + memref + "\n").str();
    return ("  " + to + "_flat = vector.load " + from + "[%i] : " + memref + ", " + flat + "\n  " +
            to + " = vector.shape_cast " + to + "_flat : " + flat + " to " + shaped + "\n")
        .str();
  };
  std::string store =
      lanes.empty() ? "  memref.store %r, %result[%i] : " + memref + "\n"
                    : "  %r_flat = vector.shape_cast %r : " + shaped + " to " + flat +
                          "\n  vector.store %r_flat, %result[%i] : " + memref + ", " + flat + "\n";
  return ("func.func @kernel(%a: " + memref + ", %b: " + memref + ", %result: " + memref +
          ", %n: index) {\n  %zero = arith.constant 0 : index\n  %step = arith.constant " +
          Twine(step) + " : index\n  scf.for %i = %zero to %n step %step {\n" + load("%x", "%a") +
          load("%y", "%b") + "  %r = \"test.function\"(%x, %y) : (" + type + ", " + type + ") -> " +
          type + "\n" + store + "  }\n  return\n}\n")
      .str();
}

static void insertFunction(ModuleOp module, StringRef name, unsigned arity) {
  Operation *standIn = nullptr;
  module.walk([&](Operation *op) {
    if (op->getName().getStringRef() == "test.function")
      standIn = op;
  });
  OpBuilder builder(standIn);
  OperationState state(standIn->getLoc(), name);
  state.addOperands(standIn->getOperands().take_front(arity));
  state.addTypes(standIn->getResultTypes());
  Value result = builder.create(state)->getResult(0);
  standIn->getResult(0).replaceAllUsesWith(result);
  standIn->erase();
}

static void lower(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  codegen::populateElementaryFunctionPatterns(patterns);
  codegen::populateHostPatterns(patterns);
  arith::populateExpandBFloat16Patterns(patterns);
  require(succeeded(applyPatternsAndFoldGreedily(module, std::move(patterns))), "patterns");
  PassManager passes(module.getContext());
  passes.addPass(createConvertSCFToCFPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createConvertMathToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createFinalizeMemRefToLLVMConversionPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createConvertControlFlowToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  require(succeeded(passes.run(module)), "lowering");
}

MathKernel::MathKernel(StringRef op, unsigned arity, StringRef element, StringRef lanes) {
  static const bool initialized =
      !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  require(initialized, "no native target");
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                      LLVM::LLVMDialect, math::MathDialect, memref::MemRefDialect, scf::SCFDialect,
                      vector::VectorDialect>();
  registerBuiltinDialectTranslation(context);
  registerLLVMDialectTranslation(context);
  context.allowUnregisteredDialects();
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(loopText(element, lanes), ParserConfig(&context));
  require(bool(module), "text");
  insertFunction(*module, op, arity);
  lower(*module);

  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  require(bool(builder), "host");
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Aggressive);
  builder->getOptions().AllowFPOpFusion = llvm::FPOpFusion::Fast; // as for kernels
  // As in a library: the default for code in memory spends an instruction on each constant's
  // address.
  builder->setCodeModel(llvm::CodeModel::Small);
  // The narrowest machine that kernels are generated for, on request.
  if (const char *cpu = std::getenv("ACCC_TEST_CPU")) {
    builder->setCPU(cpu);
    builder->getFeatures() = llvm::SubtargetFeatures();
  }
  auto machine = builder->createTargetMachine();
  require(bool(machine), "target machine");
  ExecutionEngineOptions options;
  auto optimize = makeOptimizingTransformer(3, 0, machine->get());
  options.transformer = optimize;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  auto created = ExecutionEngine::create(*module, options, std::move(*machine));
  require(bool(created), "code generation");
  engine = std::move(*created);
  auto symbol = engine->lookup("kernel");
  require(bool(symbol), "no symbol");
  function = *symbol;
}

MathKernel::~MathKernel() = default;

void MathKernel::operator()(const void *x, const void *y, void *result, int64_t count) const {
  // A memref<?xT> is passed as (base, aligned, offset, size, stride).
  if (!y)
    y = x;
  using Function =
      void (*)(const void *, const void *, int64_t, int64_t, int64_t, const void *, const void *,
               int64_t, int64_t, int64_t, void *, void *, int64_t, int64_t, int64_t, int64_t);
  reinterpret_cast<Function>(function)(x, x, 0, count, 1, y, y, 0, count, 1, result, result, 0,
                                       count, 1, count);
}

} // namespace accc::test
