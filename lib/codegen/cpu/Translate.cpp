// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/cpu/Cpu.h"
#include "codegen/kernel/Kernel.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"

using namespace mlir;
using namespace accc;

std::unique_ptr<llvm::Module> codegen::translate(ModuleOp part, llvm::LLVMContext &context,
                                                 const CpuArch &arch, llvm::TargetMachine &machine,
                                                 StringRef prefix) {
  std::unique_ptr<llvm::Module> result = translateModuleToLLVMIR(part, context, "kernels");
  if (!result)
    return nullptr;
  result->setDataLayout(machine.createDataLayout());
  result->setTargetTriple(machine.getTargetTriple().str());
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
    function.setName(objectSymbol(prefix, function.getName()));
    function.setVisibility(llvm::GlobalValue::HiddenVisibility);
  }
  return result;
}
