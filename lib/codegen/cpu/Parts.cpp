// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A library's code is many functions that know nothing of each other: all cores translate and
// optimise some of them.
#include "codegen/cpu/Cpu.h"

#include "codegen/kernel/Lower.h"
#include "support/Fault.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/ThreadPool.h"

#include <atomic>

using namespace mlir;
using namespace accc;

/// How many kernels a part has, unless that makes more parts than the most. The parts depend on the
/// kernels alone, so that the same input gives the same bytes wherever it is compiled.
static constexpr size_t kKernels = 8;
static constexpr size_t kMostParts = 64;

SmallVector<ModuleOp> codegen::splitKernels(ModuleOp kernels) {
  auto count = static_cast<size_t>(llvm::range_size(kernels.getOps<func::FuncOp>()));
  size_t each = std::max(kKernels, llvm::divideCeil(count, kMostParts)), kernelsInPart = each;
  SmallVector<Operation *> ops;
  for (Operation &op : *kernels.getBody())
    ops.push_back(&op);
  SmallVector<ModuleOp> parts;
  OpBuilder b = OpBuilder::atBlockEnd(kernels.getBody());
  for (Operation *op : ops) { // constants stand before the kernel that reads them
    if (kernelsInPart == each) {
      parts.push_back(b.create<ModuleOp>(kernels.getLoc()));
      kernelsInPart = 0;
    }
    op->moveBefore(parts.back().getBody(), parts.back().getBody()->end());
    kernelsInPart += isa<func::FuncOp>(op);
  }
  return parts;
}

LogicalResult
codegen::emitObjects(ArrayRef<ModuleOp> parts, llvm::Module &entries, const CpuArch &arch,
                     StringRef prefix, Location loc,
                     llvm::function_ref<FailureOr<std::string>()> newFile,
                     llvm::function_ref<LogicalResult(llvm::Module &, StringRef)> inspect) {
  struct Job {
    std::string path;
    std::unique_ptr<llvm::TargetMachine> machine; // used by one thread
  };
  std::vector<Job> jobs;
  for (size_t i = 0; i <= parts.size(); ++i) {
    FailureOr<std::string> path = newFile();
    if (failed(path))
      return failure();
    jobs.push_back({*path, arch.createMachine()});
  }
  std::atomic<bool> good = true;
  auto emitPart = [&](ModuleOp part, Job &job, size_t number) {
    llvm::LLVMContext context; // belongs to one thread, too
    std::unique_ptr<llvm::Module> module = translate(part, context, arch, *job.machine, prefix);
    part.getBody()->clear(); // by the thread that has it in its cache
    if (!module) {
      emitBug(loc) << "the kernels cannot be translated to LLVM IR";
      good = false;
      return;
    }
    if (failed(inspect(*module, "kernels-" + std::to_string(number))) ||
        failed(emitObject(*module, *job.machine, job.path, loc)))
      good = false;
  };
  registerTranslations(*loc.getContext()); // not by several threads
  llvm::DefaultThreadPool pool;
  for (auto [i, part] : llvm::enumerate(parts))
    pool.async([&emitPart, part = part, &job = jobs[i], i] { emitPart(part, job, i); });
  pool.async([&, &job = jobs.back()] {
    entries.setDataLayout(job.machine->createDataLayout());
    entries.setTargetTriple(job.machine->getTargetTriple().str());
    if (failed(inspect(entries, "entries")) ||
        failed(emitObject(entries, *job.machine, job.path, loc)))
      good = false;
  });
  pool.wait();
  return success(good);
}
