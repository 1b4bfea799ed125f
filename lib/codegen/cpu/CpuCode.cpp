// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/cpu/Cpu.h"
#include "codegen/cpu/CpuKernels.h"
#include "codegen/host/Host.h"
#include "codegen/kernel/Lower.h"
#include "support/CompileLog.h"

#include "llvm/IR/LLVMContext.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

/// The code for one CPU.
static LogicalResult generateCode(ModuleOp program, const ConstantBlock &constants,
                                  const CpuArch &arch, StringRef symbol, StringRef dumps,
                                  Objects &objects) {
  Location loc = program.getLoc();
  CpuKernels target(arch.vectorBits);
  ErrorTable errors;
  FailureOr<KernelModule> kernels = emitKernels(program, target, errors);
  if (failed(kernels))
    return failure();
  if (failed(dump(dumps, "kernels.mlir", loc,
                  [&](llvm::raw_ostream &os) { kernels->module->print(os); })))
    return failure();
  SmallVector<ModuleOp> parts = splitKernels(*kernels->module);
  {
    TimedPart part("lower-kernels");
    if (failed(lowerToLLVM(*kernels->module, populateHostPatterns)))
      return failure();
  }
  llvm::LLVMContext llvmContext;
  llvm::Module entries("entries", llvmContext);
  {
    TimedPart part("add-entries");
    if (failed(addCode(program, constants, kernels->shapes, errors, {"cpu", arch.description},
                       /*image=*/{}, symbol, entries)))
      return failure();
  }
  TimedPart part("emit-objects");
  return emitObjects(
      parts, entries, arch, symbol, loc, [&] { return objects.add(loc); },
      [&](llvm::Module &module, StringRef name) {
        return dump(dumps, (name + ".ll").str(), loc,
                    [&](llvm::raw_ostream &os) { module.print(os, nullptr); });
      });
}

LogicalResult codegen::generateCpuCode(ModuleOp program, const CpuTarget &target,
                                       const ConstantBlock &constants,
                                       const GenerateOptions &options, Objects &objects,
                                       std::vector<std::string> &codes) {
  // It was a third of code generation; addresses of kernels are a base and a scaled index, which
  // x86 adds for nothing.
  setLoopStrengthReduction(false);
  for (const CpuArch &arch : target.getArchs()) {
    codes.push_back("code.cpu." + std::to_string(codes.size()));
    std::string dumps = dumpFolder(options.dumpDir, arch.name, target.getArchs().size() > 1);
    if (failed(generateCode(program, constants, arch, codes.back(), dumps, objects)))
      return failure();
  }
  return success();
}
