// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library's code is many functions that know nothing of each other: all cores optimise some of
// them.
#include "codegen/cpu/Cpu.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/ThreadPool.h"
#include "llvm/Transforms/Utils/SplitModule.h"

#include <atomic>

using namespace mlir;
using namespace accc;

/// How many functions a part has. The parts depend on the module alone, so that the same input
/// gives the same bytes wherever it is compiled.
static constexpr size_t kFunctions = 16;
static constexpr size_t kMostParts = 16;

/// Names that no other CPU's code in the library has: the parts see each other's by them.
static void makeLocalNamesUnique(llvm::Module &module, StringRef prefix) {
  for (llvm::GlobalValue &value : module.global_values())
    if (value.hasLocalLinkage())
      value.setName(prefix + "." + (value.hasName() ? value.getName() : "constant"));
}

LogicalResult codegen::emitObjects(std::unique_ptr<llvm::Module> module, const CpuArch &arch,
                                   StringRef prefix, Location loc,
                                   llvm::function_ref<FailureOr<std::string>()> newFile) {
  auto isDefined = [](const llvm::Function &function) { return !function.isDeclaration(); };
  size_t count = llvm::count_if(module->functions(), isDefined) / kFunctions;
  count = std::clamp<size_t>(count, 1, kMostParts);
  makeLocalNamesUnique(*module, prefix);

  struct Part {
    SmallVector<char, 0> bitcode;
    std::string path;
    std::unique_ptr<llvm::TargetMachine> machine = nullptr; // used by one thread, too
  };
  std::vector<Part> parts;
  // A context belongs to one thread: each part goes to its own as bitcode.
  llvm::SplitModule(
      *module, count,
      [&](std::unique_ptr<llvm::Module> part) {
        llvm::raw_svector_ostream stream(parts.emplace_back().bitcode);
        llvm::WriteBitcodeToFile(*part, stream);
      },
      /*PreserveLocals=*/false, /*RoundRobin=*/true);
  module.reset();

  for (Part &part : parts) {
    FailureOr<std::string> path = newFile();
    if (failed(path))
      return failure();
    part.path = *path;
    part.machine = arch.createMachine();
  }
  std::atomic<bool> good = true;
  llvm::DefaultThreadPool pool;
  for (Part &part : parts)
    pool.async([&, &part = part] {
      llvm::LLVMContext context;
      llvm::MemoryBufferRef bytes({part.bitcode.data(), part.bitcode.size()}, part.path);
      llvm::Expected<std::unique_ptr<llvm::Module>> own = llvm::parseBitcodeFile(bytes, context);
      if (!own) {
        emitError(loc) << "bug in accc: " << llvm::toString(own.takeError());
        good = false;
      } else if (failed(emitObject(**own, *part.machine, part.path, loc))) {
        good = false;
      }
    });
  pool.wait();
  return success(good);
}
