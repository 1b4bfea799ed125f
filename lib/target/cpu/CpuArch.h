// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_TARGET_CPU_CPUARCH_H
#define ACCC_TARGET_CPU_CPUARCH_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <string>

namespace accc {

/// A kind of CPU to generate code for.
struct CpuArch {
  std::string name;          // as the user wrote it
  std::string cpu, features; // as LLVM takes them
  int64_t vectorBits;        // of its widest registers
  std::string description;   // accc_code.arch
  int numFeatures;           // how many of ACCC_CPU_FEATURES code for it may use

  /// LLVM's code generator for it; any number can be made.
  std::unique_ptr<llvm::TargetMachine> createMachine() const;
};

/// LLVM's code generator for what runs before anybody has looked at the CPU, and for data.
std::unique_ptr<llvm::TargetMachine> createHostMachine();

/// Whether `name` is "native" or a CPU of LLVM.
bool isCpuArch(llvm::StringRef name);

/// Looks up `name`: "native" or a CPU of LLVM. An error says what is wrong with it.
llvm::Expected<CpuArch> findCpuArch(llvm::StringRef name);

} // namespace accc

#endif
