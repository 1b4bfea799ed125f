// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Generate.h"

#include "codegen/cpu/Cpu.h"
#include "codegen/cuda/Cuda.h"
#include "codegen/host/Host.h"
#include "codegen/host/Objects.h"
#include "support/CompileLog.h"
#include "support/Fault.h"
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

/// What a caller of either program sees: variables and their places, entry points. Each program may
/// have its own order for a variable.
static SmallVector<Attribute> interfaceOf(ModuleOp program) {
  SmallVector<Attribute> all;
  for (auto variable : program.getOps<exec::VariableOp>()) {
    NamedAttrList attributes(variable->getAttrDictionary());
    attributes.erase(variable.getOrderAttrName());
    all.push_back(attributes.getDictionary(program.getContext()));
  }
  for (auto entry : program.getOps<exec::EntryOp>())
    all.append({entry.getSymNameAttr(), entry.getInputs(), entry.getOutputs()});
  return all;
}

LogicalResult accc::generateLibrary(ArrayRef<TargetProgram> programs, const WeightTable &weights,
                                    const GenerateOptions &options, StringRef path) {
  ModuleOp first = programs.front().program;
  for (auto [program, target] : programs)
    if (interfaceOf(program) != interfaceOf(first))
      return emitBug(program.getLoc())
             << "the programs for " << programs.front().target->getName() << " and "
             << target->getName() << " differ in their variables or entry points";
  first.getContext()
      ->loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                    LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  Location loc = first.getLoc();
  Objects objects;
  ConstantBlock constants;
  std::vector<std::string> codes;
  for (auto [program, target] : programs) {
    constants.add(program);
    GenerateOptions own = options;
    own.dumpDir = dumpFolder(options.dumpDir, target->getName(), programs.size() > 1);
    LogicalResult status =
        isa<CudaTarget>(target)
            ? generateCudaCode(program, *cast<CudaTarget>(target), constants, own, objects, codes)
            : generateCpuCode(program, *cast<CpuTarget>(target), constants, own, objects, codes);
    if (failed(status))
      return failure();
  }
  TimedPart part("link");
  llvm::LLVMContext llvmContext;
  llvm::Module description("description", llvmContext);
  std::unique_ptr<llvm::TargetMachine> machine = createHostMachine();
  description.setDataLayout(machine->createDataLayout());
  description.setTargetTriple(machine->getTargetTriple().str());
  addDescription(first, weights, constants, options, codes, description);
  FailureOr<std::string> object = objects.add(loc);
  if (failed(object) || failed(emitObject(description, *machine, *object, loc)))
    return failure();
  return linkLibrary(objects, ACCC_MODEL_SYMBOL, path, loc);
}
