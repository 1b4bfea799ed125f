// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an entry point runs, as constant data, and the function that runs it. Straight-line code for
// thousands of steps would take LLVM long; the data takes no time.
#ifndef ACCC_CODEGEN_HOST_STEPTABLE_H
#define ACCC_CODEGEN_HOST_STEPTABLE_H

#include "codegen/host/Host.h"

#include "llvm/ADT/MapVector.h"

namespace accc::codegen {

/// Steps in order, each with the buffers that it is given.
class StepTable {
public:
  // ---- buffers, as words of the table ----
  static int64_t stateBuffer(int64_t offset) { return word(kState, offset); }
  static int64_t arenaBuffer(int64_t offset) { return word(kArena, offset); }
  /// Number `index` of the entry's inputs and outputs.
  static int64_t argumentBuffer(int64_t index) { return word(kArguments, index * kPointerBytes); }
  int64_t constantBuffer(llvm::Constant *address) {
    return word(kConstants, indexOf(constants, address) * kPointerBytes);
  }

  // ---- steps ----
  void addLaunch(llvm::Function *kernel, int64_t tasks, llvm::ArrayRef<int64_t> buffers) {
    add(kLaunch, indexOf(kernels, kernel), tasks, buffers);
  }
  /// Number `call` of the entry's library calls; one that fails ends the entry with its status.
  void addLibraryCall(int64_t call, llvm::ArrayRef<int64_t> buffers) {
    add(kLibraryCall, call, 0, buffers);
  }
  /// Ends the entry if a kernel has found an error in the data.
  void addCheck() { add(kCheck, 0, 0, {}); }

  /// The accc_entry_function that runs the table.
  llvm::Function *emit(llvm::Module &module, llvm::StringRef name, ConstantWriter &writer) const;

private:
  enum Base { kState, kArena, kArguments, kConstants }; // of a buffer: the word's low bits
  enum Kind { kLaunch, kLibraryCall, kCheck };
  enum Field { kKind, kTarget, kTasks, kFirstBuffer, kNumBuffers, kNumFields }; // of a step
  static constexpr int64_t kPointerBytes = 8, kBaseBits = 2;
  using Pointers = llvm::MapVector<llvm::Constant *, int64_t>;

  static int64_t word(Base base, int64_t offset) { return offset << kBaseBits | base; }
  static int64_t indexOf(Pointers &pointers, llvm::Constant *pointer) {
    return pointers.insert({pointer, static_cast<int64_t>(pointers.size())}).first->second;
  }
  void add(Kind kind, int64_t target, int64_t tasks, llvm::ArrayRef<int64_t> stepBuffers);
  static llvm::Function *getRunner(llvm::Module &module);

  std::vector<int64_t> steps;   // kNumFields a step
  std::vector<int64_t> buffers; // of all steps
  Pointers kernels, constants;
  size_t mostBuffers = 1; // that a step has
};

} // namespace accc::codegen

#endif
