// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/cuda/Cuda.h"
#include "codegen/cuda/CudaKernels.h"
#include "codegen/host/Host.h"
#include "codegen/kernel/Lower.h"
#include "support/CompileLog.h"
#include "support/Fault.h"
#include "target/cpu/CpuArch.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Support/ThreadPool.h"

#include <atomic>
#include <map>

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

/// A block of so many threads leaves each a quarter of the registers that it can have, or less.
static constexpr int64_t kThreadsOfFewRegisters = 1024;
static constexpr StringLiteral kFewRegistersAttr = "few-registers";

/// Kernels as LLVM IR for one kind of GPU.
static std::unique_ptr<llvm::Module> translate(ModuleOp kernels, llvm::LLVMContext &context,
                                               llvm::TargetMachine &machine) {
  std::unique_ptr<llvm::Module> result = translateModuleToLLVMIR(kernels, context, "kernels");
  if (!result)
    return nullptr;
  result->setDataLayout(machine.createDataLayout());
  result->setTargetTriple(machine.getTargetTriple().str());
  llvm::NamedMDNode *annotations = result->getOrInsertNamedMetadata("nvvm.annotations");
  llvm::Type *i32 = llvm::Type::getInt32Ty(context);
  for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>()) {
    auto threads = kernel->getAttrOfType<IntegerAttr>(kThreadsAttr);
    llvm::Function *function = result->getFunction(kernel.getSymName());
    StringRef name = kernel.getSymName();
    // As sessions on a CPU do: a subnormal is zero.
    function->addFnAttr("denormal-fp-math-f32", "preserve-sign");
    function->addFnAttr(llvm::Attribute::NoUnwind);
    if (!threads)
      continue; // what kernels call
    name.consume_front(kernelSymbol(""));
    function->setName(deviceSymbol(name));
    function->setCallingConv(llvm::CallingConv::PTX_Kernel);
    if (threads.getInt() >= kThreadsOfFewRegisters)
      function->addFnAttr(kFewRegistersAttr);
    annotations->addOperand(llvm::MDNode::get(
        context, {llvm::ValueAsMetadata::get(function), llvm::MDString::get(context, "reqntidx"),
                  llvm::ConstantAsMetadata::get(
                      llvm::ConstantInt::get(i32, static_cast<uint64_t>(threads.getInt())))}));
  }
  return result;
}

/// Keeps ptxas from unrolling the loops of kernels that have few registers: it would spill.
static void keepLoops(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (!function.hasFnAttribute(kFewRegistersAttr))
      continue;
    llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    for (llvm::Loop *loop : loops.getLoopsInPreorder())
      loop->setLoopAlreadyUnrolled();
  }
}

static FailureOr<std::string> emitPtx(llvm::Module &module, llvm::TargetMachine &machine,
                                      Location loc) {
  SmallString<0> text;
  llvm::raw_svector_ostream stream(text);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::AssemblyFile))
    return emitBug(loc) << "LLVM cannot emit PTX";
  passes.run(module);
  return text.str().str();
}

/// PTX of all kernels for one kind of GPU.
static FailureOr<std::string> generatePtx(ModuleOp kernels, const CudaArch &arch, StringRef dumps) {
  Location loc = kernels.getLoc();
  std::unique_ptr<llvm::TargetMachine> machine = arch.createMachine();
  if (!machine)
    return emitMachineFault(loc) << "this LLVM has no code generator for NVIDIA GPUs (NVPTX)";
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module = translate(kernels, context, *machine);
  if (!module)
    return emitBug(loc) << "the kernels cannot be translated to LLVM IR";
  if (failed(linkDeviceLibrary(*module, loc)))
    return failure();
  if (failed(dump(dumps, "kernels.ll", loc,
                  [&](llvm::raw_ostream &os) { module->print(os, nullptr); })) ||
      failed(optimise(*module, *machine, "default<O2>", loc)))
    return failure();
  computeHalvesInF32(*module);
  keepLoops(*module);
  FailureOr<std::string> ptx = emitPtx(*module, *machine, loc);
  if (succeeded(ptx) &&
      failed(dump(dumps, "kernels.ptx", loc, [&](llvm::raw_ostream &os) { os << *ptx; })))
    return failure();
  return ptx;
}

/// The images of `archs`, side by side. PTX for one capability is written once.
static FailureOr<std::vector<std::string>> emitImages(ModuleOp kernels, ArrayRef<CudaArch> archs,
                                                      const std::optional<std::string> &ptxas,
                                                      StringRef dumpDir) {
  std::map<int, std::vector<size_t>> byCapability;
  for (auto [i, arch] : llvm::enumerate(archs))
    byCapability[arch.capability].push_back(i);
  std::vector<std::string> images(archs.size());
  std::atomic<bool> good = true;
  llvm::DefaultThreadPool pool;
  SmallVector<OwningOpRef<ModuleOp>> copies; // the translation changes what it translates
  for (const auto &[capability, which] : byCapability) {
    copies.push_back(kernels.clone());
    pool.async([&, which = &which, copy = copies.back().get()] {
      const CudaArch &first = archs[which->front()];
      FailureOr<std::string> ptx =
          generatePtx(copy, first, dumpFolder(dumpDir, first.getName(), true));
      for (size_t i : *which) {
        FailureOr<std::string> image = ptx;
        if (succeeded(ptx) && !archs[i].isPtx)
          image = assemble(*ptxas, *ptx, archs[i].capability, kernels.getLoc());
        if (failed(image))
          good = false;
        else
          images[i] = *image;
      }
    });
  }
  pool.wait();
  if (!good)
    return failure();
  return images;
}

/// The object with one accc_code.
static LogicalResult emitCode(ModuleOp program, const ConstantBlock &constants,
                              const KernelModule &kernels, const ErrorTable &errors,
                              const CodeLabel &label, ArrayRef<char> image, StringRef symbol,
                              Objects &objects) {
  Location loc = program.getLoc();
  std::unique_ptr<llvm::TargetMachine> machine = createHostMachine();
  llvm::LLVMContext context;
  llvm::Module module("entries", context);
  module.setDataLayout(machine->createDataLayout());
  module.setTargetTriple(machine->getTargetTriple().str());
  if (failed(addCode(program, constants, kernels.shapes, errors, label, image, symbol, module)))
    return failure();
  FailureOr<std::string> object = objects.add(loc);
  return failed(object) ? failure() : emitObject(module, *machine, *object, loc);
}

/// After a check only kernels write to the state (calls give what a copy puts there): they look at
/// the status, calls do not.
static LogicalResult checkCalls(ModuleOp program) {
  for (auto entry : program.getOps<exec::EntryOp>()) {
    bool checked = false;
    for (Operation &op : entry.getBody().front()) {
      checked |= isa<exec::CheckOp>(op);
      ValueRange outputs;
      if (auto call = dyn_cast<exec::LibraryCallOp>(op))
        outputs = call.getOutputs();
      else if (auto call = dyn_cast<exec::CustomCallOp>(op))
        outputs = call.getOutputs();
      for (Value output : checked ? outputs : ValueRange())
        if (output.getDefiningOp<exec::SliceOp>().getSpace() == exec::Space::state)
          return emitBug(op.getLoc()) << "a call changes the state";
    }
  }
  return success();
}

LogicalResult codegen::generateCudaCode(ModuleOp program, const CudaTarget &target,
                                        const ConstantBlock &constants,
                                        const GenerateOptions &options, Objects &objects,
                                        std::vector<std::string> &codes) {
  Location loc = program.getLoc();
  MLIRContext *context = program.getContext();
  setLoopStrengthReduction(true);
  context->loadDialect<NVVM::NVVMDialect>();
  if (failed(checkCalls(program)))
    return failure();
  ErrorTable errors;
  FailureOr<KernelModule> kernels = emitKernels(program, CudaKernels(program), errors);
  if (failed(kernels))
    return failure();
  if (failed(dump(options.dumpDir, "kernels.mlir", loc,
                  [&](llvm::raw_ostream &os) { kernels->module->print(os); })))
    return failure();
  // lowerToLLVM takes modules within one: here one for all.
  OwningOpRef<ModuleOp> all = ModuleOp::create(loc);
  ModuleOp part = kernels->module.release();
  all->getBody()->push_back(part);
  {
    TimedPart lower("lower-kernels");
    if (failed(lowerToLLVM(*all, populateDevicePatterns)))
      return failure();
  }
  registerTranslations(*context);
  registerNVVMDialectTranslation(*context);
  std::optional<std::string> ptxas = findPtxas();
  bool cubins = llvm::any_of(target.getArchs(), [](const CudaArch &arch) { return !arch.isPtx; });
  if (cubins && !ptxas)
    emitWarning(loc)
        << "no ptxas in PATH, CUDA_PATH or /usr/local/cuda: the library holds PTX only, "
           "which the driver compiles each time it is loaded";
  SmallVector<CudaArch> archs;
  for (const CudaArch &arch : target.getArchs())
    if (arch.isPtx || ptxas)
      archs.push_back(arch);
  TimedPart time("emit-images");
  FailureOr<std::vector<std::string>> images = emitImages(part, archs, ptxas, options.dumpDir);
  if (failed(images))
    return failure();
  accc_compute compute = options.tf32 && target.hasTf32() ? ACCC_COMPUTE_TF32 : ACCC_COMPUTE_FULL;
  for (auto [arch, image] : llvm::zip(archs, *images)) {
    codes.push_back("code.cuda." + std::to_string(codes.size()));
    if (failed(emitCode(program, constants, *kernels, errors, {"cuda", arch.getName(), compute},
                        ArrayRef(image.data(), image.size() + 1), codes.back(), objects)))
      return failure(); // PTX ends with a NUL; a cubin knows its end
  }
  return success();
}
