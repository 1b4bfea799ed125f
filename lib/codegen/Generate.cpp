// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Generate.h"

#include "codegen/cpu/Cpu.h"
#include "codegen/host/Host.h"
#include "codegen/kernel/Kernel.h"
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
#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

namespace {

/// Writes text for people to look at; failing to is no error of the compile.
void dump(const SmallString<128> &folder, StringRef name,
          llvm::function_ref<void(llvm::raw_ostream &)> print) {
  if (folder.empty())
    return;
  SmallString<128> path(folder);
  llvm::sys::path::append(path, name);
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (!code)
    print(stream);
}

/// Object files in memory, without a name that a killed compile could leave behind: the linker, a
/// child process, inherits their descriptors and opens them by these.
class Objects {
public:
  Objects() = default;
  Objects(const Objects &) = delete;
  Objects &operator=(const Objects &) = delete;
  ~Objects() {
    for (int descriptor : descriptors)
      ::close(descriptor);
  }
  FailureOr<std::string> add(Location loc) {
    int descriptor = ::memfd_create("accc-object", 0);
    if (descriptor < 0) {
      emitError(loc) << "cannot create an object file in memory: " << llvm::sys::StrError();
      return failure();
    }
    descriptors.push_back(descriptor);
    return paths.emplace_back("/proc/self/fd/" + std::to_string(descriptor));
  }
  std::vector<std::string> paths;

private:
  std::vector<int> descriptors;
};

/// The machine code of all kernels and entry points for one CPU.
LogicalResult generateCode(ModuleOp program, const CpuArch &arch, StringRef symbol,
                           const SmallString<128> &dumps, Objects &objects) {
  MLIRContext *context = program.getContext();
  Location loc = program.getLoc();
  OwningOpRef<ModuleOp> kernels = ModuleOp::create(loc);
  KernelOptions kernelOptions{arch.vectorBits};
  ErrorTable errors;
  KernelShapes shapes;
  bool good = true;
  {
    TimedPart part("emit-kernels");
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
        shapes[kernel.getSymName()] = function->launch;
    }
  }
  if (!good)
    return failure();
  dump(dumps, "kernels.mlir", [&](llvm::raw_ostream &os) { kernels->print(os); });
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> module;
  {
    TimedPart part("lower-kernels");
    if (failed(lowerToLLVM(*kernels)))
      return failure();
    module = translate(*kernels, llvmContext, arch);
  }
  if (!module)
    return emitError(loc) << "bug in accc: the kernels cannot be translated to LLVM IR";
  {
    TimedPart part("add-entries");
    if (failed(addCode(program, shapes, errors, {"cpu", arch.description}, /*image=*/{}, symbol,
                       *module)))
      return failure();
  }
  dump(dumps, "library.ll", [&](llvm::raw_ostream &os) { module->print(os, nullptr); });
  TimedPart part("emit-objects");
  return emitObjects(std::move(module), arch, symbol, loc, [&] { return objects.add(loc); });
}
} // namespace

LogicalResult accc::generateLibrary(ModuleOp program, const WeightTable &weights,
                                    const Target &target, const GenerateOptions &options,
                                    StringRef path) {
  program.getContext()
      ->loadDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                    LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
  Location loc = program.getLoc();
  const std::vector<CpuArch> &archs = cast<CpuTarget>(target).getArchs();
  Objects objects;
  std::vector<std::string> codes;
  for (const CpuArch &arch : archs) {
    SmallString<128> dumps(options.dumpDir);
    if (!dumps.empty() && archs.size() > 1) {
      llvm::sys::path::append(dumps, arch.name);
      llvm::sys::fs::create_directories(dumps);
    }
    codes.push_back("code." + std::to_string(codes.size()));
    if (failed(generateCode(program, arch, codes.back(), dumps, objects)))
      return failure();
  }
  TimedPart part("link");
  llvm::LLVMContext llvmContext;
  llvm::Module description("description", llvmContext);
  std::unique_ptr<llvm::TargetMachine> machine = archs.back().createMachine();
  description.setDataLayout(machine->createDataLayout());
  description.setTargetTriple(machine->getTargetTriple().str());
  addDescription(program, weights, options, codes, description);
  FailureOr<std::string> object = objects.add(loc);
  if (failed(object) || failed(emitObject(description, *machine, *object, loc)))
    return failure();
  return linkLibrary(objects.paths, ACCC_MODEL_SYMBOL, path, loc);
}
