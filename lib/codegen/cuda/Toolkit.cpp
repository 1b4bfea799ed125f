// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What of the CUDA toolkit the compiler uses: ptxas and the device library. Without them there is
// PTX, for a driver to compile.
#include "codegen/cuda/Cuda.h"

#include "support/Fault.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <cstdlib>

using namespace mlir;
using namespace accc;

std::optional<std::string> codegen::findToolkit() {
  for (const char *variable : {"CUDA_PATH", "CUDA_HOME"})
    if (const char *folder = std::getenv(variable); folder && *folder)
      return folder;
  if (llvm::ErrorOr<std::string> nvcc = llvm::sys::findProgramByName("nvcc")) {
    SmallString<128> real;
    if (!llvm::sys::fs::real_path(*nvcc, real))
      return llvm::sys::path::parent_path(llvm::sys::path::parent_path(real)).str();
  }
  const char *usual = "/usr/local/cuda";
  return llvm::sys::fs::is_directory(usual) ? std::optional<std::string>(usual) : std::nullopt;
}

std::optional<std::string> codegen::findPtxas() {
  if (llvm::ErrorOr<std::string> found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  if (std::optional<std::string> toolkit = findToolkit())
    if (llvm::ErrorOr<std::string> found =
            llvm::sys::findProgramByName("ptxas", {*toolkit + "/bin"}))
      return *found;
  return std::nullopt;
}

static LogicalResult writeFile(StringRef path, StringRef contents, Location loc) {
  std::error_code code;
  llvm::raw_fd_ostream stream(path, code);
  if (!code) {
    stream << contents;
    stream.close();
    code = stream.error();
    stream.clear_error();
  }
  if (code)
    return emitMachineFault(loc) << "cannot write a file in memory: " << code.message();
  return success();
}

static std::string readFile(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

namespace {
/// A run of ptxas.
struct Assembly {
  int status = -1;
  std::string cubin, said;
};
} // namespace

static FailureOr<Assembly> runPtxas(StringRef ptxas, StringRef ptx, int capability,
                                    ArrayRef<StringRef> options, Location loc) {
  codegen::Objects files;
  FailureOr<std::string> in = files.add(loc), out = files.add(loc), log = files.add(loc);
  if (failed(in) || failed(out) || failed(log) || failed(writeFile(*in, ptx, loc)))
    return failure();
  std::string arch = "--gpu-name=sm_" + std::to_string(capability);
  SmallVector<StringRef> arguments{ptxas, arch, "--output-file", *out, *in};
  arguments.append(options.begin(), options.end());
  std::optional<StringRef> redirects[] = {std::nullopt, StringRef(*log), StringRef(*log)};
  Assembly result;
  result.status =
      llvm::sys::ExecuteAndWait(ptxas, arguments, std::nullopt, redirects, 0, 0, &result.said);
  if (std::string said = readFile(*log); !said.empty())
    result.said = said;
  result.cubin = readFile(*out);
  return result;
}

FailureOr<std::string> codegen::assemble(StringRef ptxas, StringRef ptx, int capability,
                                         Location loc) {
  // On several cores; the bytes depend on the number that is asked for, not on how many there are.
  FailureOr<Assembly> done = runPtxas(ptxas, ptx, capability, {"--split-compile=8"}, loc);
  if (succeeded(done) && done->status > 0 && StringRef(done->said).contains("split-compile"))
    done = runPtxas(ptxas, ptx, capability, {}, loc); // CUDA 12.0 does not know that
  if (failed(done))
    return failure();
  if (done->status < 0) // it did not start, or a signal ended it
    return emitMachineFault(loc) << "cannot run " << ptxas << ": " << done->said;
  if (StringRef(done->said).contains("gpu-name")) // a value that it does not know
    return emitUsageFault(loc) << "--arch sm_" << capability << ": " << ptxas
                               << " does not know it; use a CUDA toolkit that does, or compute_90, "
                                  "which later GPUs run too";
  if (done->status != 0)
    return emitBug(loc) << "ptxas cannot assemble the kernels for sm_" << capability << ": "
                        << done->said;
  return done->cubin;
}

std::string codegen::describeResources(StringRef ptxas, StringRef ptx, int capability) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  FailureOr<Assembly> done =
      runPtxas(ptxas, ptx, capability, {"--verbose"}, UnknownLoc::get(&context));
  return failed(done) ? std::string() : done->said;
}

LogicalResult codegen::linkDeviceLibrary(llvm::Module &module, Location loc) {
  SmallVector<StringRef> wanted;
  for (llvm::Function &function : module)
    if (function.isDeclaration() && function.getName().starts_with("__nv_"))
      wanted.push_back(function.getName());
  if (wanted.empty())
    return success();
  std::optional<std::string> toolkit = findToolkit();
  std::string path = toolkit.value_or("/usr/local/cuda") + "/nvvm/libdevice/libdevice.10.bc";
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return emitMachineFault(loc) << "cannot find CUDA's device library " << path << ", which has "
                                 << wanted.front().drop_front(StringRef("__nv_").size())
                                 << " of f64: install the CUDA toolkit or set CUDA_PATH";
  llvm::Expected<std::unique_ptr<llvm::Module>> library =
      llvm::parseBitcodeFile(**buffer, module.getContext());
  if (!library)
    return emitMachineFault(loc) << path << ": " << llvm::toString(library.takeError());
  (*library)->setDataLayout(module.getDataLayout());
  (*library)->setTargetTriple(module.getTargetTriple());
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    return emitMachineFault(loc) << path << " cannot be linked to the kernels";
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && function.getName().starts_with("__"))
      function.setLinkage(llvm::GlobalValue::InternalLinkage);
  return success();
}
