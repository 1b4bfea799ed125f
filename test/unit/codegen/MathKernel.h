// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop over buffers around one op of the `math` dialect, compiled for this machine.

#ifndef ACCC_TEST_UNIT_CODEGEN_MATHKERNEL_H
#define ACCC_TEST_UNIT_CODEGEN_MATHKERNEL_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <memory>

namespace mlir {
class ExecutionEngine;
}

namespace accc::test {

class MathKernel {
public:
  /// `op` is the op's name, such as "math.exp"; `element` a float type; `lanes` the
  /// shape of the vectors it works on ("16", "2x8"), or empty for scalars. Aborts on an error.
  MathKernel(llvm::StringRef op, unsigned arity, llvm::StringRef element = "f32",
             llvm::StringRef lanes = "16");
  ~MathKernel();

  /// result[i] = op(x[i], y[i]) for i < count, a multiple of the lanes. `y` may be null for a
  /// function of one argument. Elements are of the kernel's type.
  void operator()(const void *x, const void *y, void *result, int64_t count) const;

private:
  std::unique_ptr<mlir::ExecutionEngine> engine;
  void *function;
};

} // namespace accc::test

#endif // ACCC_TEST_UNIT_CODEGEN_MATHKERNEL_H
