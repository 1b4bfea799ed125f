// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/host/MaskedLoads.h"
#include "codegen/host/Objects.h"
#include "codegen/host/VectorDivisions.h"

#include "support/CompileLog.h"
#include "support/Fault.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"

using namespace mlir;
using namespace accc;

/// What LLVM does to a module before it selects instructions. Kernels are loops over vectors
/// already, without calls, in SSA form and over plain indices: that leaves to do what is cheap
/// (invariants out of loops, equal expressions once, small loops unrolled), once. LLVM's -O2
/// repeats most of it, and takes three times as long for steps of equal speed.
static constexpr const char *kPasses =
    "globaldce,function("
    "early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "loop-mssa(loop-instsimplify,loop-rotate,licm),"
    "loop(loop-idiom,loop-deletion,loop-unroll-full),"
    "gvn,correlated-propagation,instcombine<no-verify-fixpoint>,loop-mssa(licm),vector-combine,"
    "loop-unroll<O2>,instcombine<no-verify-fixpoint>,loop-mssa(licm),early-cse,simplifycfg)";

void codegen::setLoopStrengthReduction(bool on) {
  if (llvm::cl::Option *option = llvm::cl::getRegisteredOptions().lookup("disable-lsr"))
    static_cast<llvm::cl::opt<bool> *>(option)->setValue(!on);
}

LogicalResult codegen::optimise(llvm::Module &module, llvm::TargetMachine &machine,
                                StringRef passes, Location loc) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  count(Counter::llvm_instructions, module.getInstructionCount());
  llvm::ModulePassManager pipeline;
  if (llvm::Error error = builder.parsePassPipeline(pipeline, passes))
    return emitBug(loc) << llvm::toString(std::move(error));
  pipeline.run(module, modules);
  return success();
}

LogicalResult codegen::emitObject(llvm::Module &module, llvm::TargetMachine &machine,
                                  StringRef path, Location loc) {
  if (failed(optimise(module, machine, kPasses, loc)))
    return failure();
  hideVectorDivisions(module);
  if (!machine.getMCSubtargetInfo()->checkFeatures("+avx512vl"))
    lowerMaskedLoads(module);
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code, llvm::sys::fs::OF_None);
  if (code)
    return emitMachineFault(loc) << "cannot write an object file: " << code.message();
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    return emitBug(loc) << "LLVM cannot emit object files for this target";
  passes.run(module);
  stream.close();
  if (stream.has_error()) {
    std::string message = stream.error().message();
    stream.clear_error();
    return emitMachineFault(loc) << "cannot write an object file: " << message;
  }
  return success();
}

/// What the linker said, without the traces of its own stack.
static std::string readMessage(StringRef path) {
  auto text = llvm::MemoryBuffer::getFile(path, /*IsText=*/true, /*RequiresNullTerminator=*/false,
                                          /*IsVolatile=*/true);
  std::string message;
  for (StringRef rest = text ? (*text)->getBuffer() : ""; !rest.empty();) {
    auto [line, next] = rest.split('\n');
    rest = next;
    if (line.contains("error:") || line.contains("LLVM ERROR:"))
      message += "\n" + line.str();
  }
  return message;
}

/// Whether the file is as long as its ELF header says: its last part is the table of sections. The
/// linker does not look whether what it writes to its standard output arrives.
static bool isWhole(StringRef path) {
  llvm::ELF::Elf64_Ehdr header;
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!file || (*file)->getBufferSize() < sizeof header)
    return false;
  std::memcpy(&header, (*file)->getBufferStart(), sizeof header);
  return header.e_shoff + uint64_t(header.e_shnum) * header.e_shentsize == (*file)->getBufferSize();
}

/// Where Debian has it, for who has no PATH, as some of what starts programs by itself.
static constexpr StringRef kLinkerFolder = "/usr/lib/llvm-19/bin";

LogicalResult codegen::linkLibrary(Objects &objects, StringRef symbol, StringRef path,
                                   Location loc) {
  llvm::ErrorOr<std::string> linker = llvm::sys::findProgramByName("ld.lld-19");
  if (!linker)
    linker = llvm::sys::findProgramByName("ld.lld", {kLinkerFolder});
  if (!linker)
    linker = llvm::sys::findProgramByName("ld.lld");
  if (!linker)
    return emitMachineFault(loc) << "cannot find the linker ld.lld-19, in PATH or in "
                                 << kLinkerFolder << ": install the package lld-19";
  std::string exported = "--undefined=" + symbol.str();
  // To its standard output, a file in memory: a linker that outlives a killed compile leaves
  // nothing behind, and a full disk is found where we write.
  SmallVector<StringRef> arguments{
      *linker, "-shared", "--build-id=none",  "--gc-sections", "-z", "relro",
      "-z",    "now",     "--hash-style=gnu", exported,        "-o", "-"};
  std::vector<std::string> inputs = objects.paths;
  for (const std::string &object : inputs)
    arguments.push_back(object);
  // The vector paths for f64 and the like call the C library's libm.
  arguments.push_back("--allow-shlib-undefined");
  FailureOr<std::string> library = objects.add(loc), messages = objects.add(loc);
  if (failed(library) || failed(messages))
    return failure();
  std::string message;
  int status = llvm::sys::ExecuteAndWait(*linker, arguments, std::nullopt,
                                         {StringRef(), StringRef(*library), StringRef(*messages)},
                                         300, 0, &message);
  if (status != 0)
    return emitMachineFault(loc) << "the linker failed (" << *linker << ", status " << status
                                 << ") " << message << readMessage(*messages);
  if (!isWhole(*library))
    return emitMachineFault(loc) << "the linker failed (" << *linker
                                 << "): there is no room for the library in memory";
  std::error_code code = llvm::sys::fs::copy_file(*library, path);
  if (!code)
    code = llvm::sys::fs::setPermissions(
        path, static_cast<llvm::sys::fs::perms>(0777 & ~llvm::sys::fs::getUmask()));
  if (code)
    return emitMachineFault(loc) << "cannot write the library: " << code.message();
  return success();
}
