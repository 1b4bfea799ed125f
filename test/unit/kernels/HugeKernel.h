// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs some tasks of a kernel whose tensors are larger than the machine's memory.
#ifndef ACCC_TEST_UNIT_KERNELS_HUGEKERNEL_H
#define ACCC_TEST_UNIT_KERNELS_HUGEKERNEL_H

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace accc::test {

/// An input: an element's value by its number in row-major order.
using ElementAt = std::function<double(int64_t)>;

struct HugeCase {
  /// What the first result holds at the element; never zero, which stands for what no task wrote.
  std::function<double(llvm::ArrayRef<ElementAt> inputs, int64_t element)> expected;
  std::vector<int64_t> indices = {}; // the last input, where there are any
  double tolerance = 2e-6;           // relative
  int64_t mostChecked = 1 << 20;
};

/// `text` is a `func.func @f(...) -> ...` of prim ops that become one kernel. The values of its
/// inputs are in [1, 2) if they are floats and in [1, 128) if they are integers, and repeat after a
/// million elements. Compiles for the test's target (createTestTarget), runs the first, the last
/// and some tasks in between, and compares what they wrote; "" where all of it is right, and there
/// is some at both ends of the result.
std::string runHugeCase(const std::string &text, const HugeCase &test);

} // namespace accc::test

#endif
