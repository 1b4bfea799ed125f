// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Generate.h"

#include "codegen/cpu/Cpu.h"
#include "codegen/cuda/Cuda.h"
#include "codegen/host/Host.h"
#include "codegen/host/Objects.h"
#include "support/CompileLog.h"
#include "target/cpu/CpuTarget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/IR/LLVMContext.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

LogicalResult accc::generateLibrary(ModuleOp program, const WeightTable &weights,
                                    const Target &target, const GenerateOptions &options,
                                    StringRef path) {
  program.getContext()
      ->loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                    LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  Location loc = program.getLoc();
  Objects objects;
  std::vector<std::string> codes;
  auto generate = [&] {
    if (auto *cuda = dyn_cast<CudaTarget>(&target))
      return generateCudaCode(program, *cuda, options, objects, codes);
    return generateCpuCode(program, cast<CpuTarget>(target), options, objects, codes);
  };
  if (failed(generate()))
    return failure();
  TimedPart part("link");
  llvm::LLVMContext llvmContext;
  llvm::Module description("description", llvmContext);
  std::unique_ptr<llvm::TargetMachine> machine = createHostMachine();
  description.setDataLayout(machine->createDataLayout());
  description.setTargetTriple(machine->getTargetTriple().str());
  addDescription(program, weights, options, codes, description);
  FailureOr<std::string> object = objects.add(loc);
  if (failed(object) || failed(emitObject(description, *machine, *object, loc)))
    return failure();
  return linkLibrary(objects.paths, ACCC_MODEL_SYMBOL, path, loc);
}
