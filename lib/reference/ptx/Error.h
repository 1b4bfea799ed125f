// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a PTX text, a call of this library or a running kernel did wrong.
#ifndef ACCC_REFERENCE_PTX_ERROR_H
#define ACCC_REFERENCE_PTX_ERROR_H

#include <cstdint>
#include <string>

namespace accc::ptx {

/// An extent or a position in up to three dimensions, x innermost.
struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;

  uint64_t count() const { return uint64_t(x) * y * z; }
  bool operator==(const Dim3 &) const = default;
};

enum class ErrorKind {
  Syntax,        ///< the text is not PTX
  Unsupported,   ///< PTX that this interpreter does not know
  Usage,         ///< a call of this library with arguments that do not fit
  OutOfBounds,   ///< an address outside of any allocation, or of the variable's space
  Misaligned,    ///< an address that is no multiple of the access's size
  Uninitialized, ///< a read of bytes that nobody has written
  Race,          ///< two accesses that nothing orders, one of them a write
  ReadOnly,      ///< a write to `.const`, or `ld.global.nc` of bytes that the launch writes
  Divergence,    ///< a barrier or a warp operation that some of its threads never reach
  Deadlock,      ///< threads that wait for each other at different barriers
  StepLimit,     ///< more instructions than LaunchOptions::stepLimit
  Trap,          ///< `trap`
};

/// One error. `message` is complete: it names kernel, line, instruction, block and thread, where
/// there are such; the other fields are for programs.
struct Error {
  ErrorKind kind = ErrorKind::Usage;
  std::string message;
  unsigned line = 0;       ///< in the PTX text, from 1; 0 where no line is to blame
  std::string kernel;      ///< empty outside of a launch
  std::string instruction; ///< its text in the PTX
  std::string op;          ///< what the nearest `// accc: NAME` comment above says
  Dim3 block, thread;      ///< of the first thread at fault
};

} // namespace accc::ptx

#endif
