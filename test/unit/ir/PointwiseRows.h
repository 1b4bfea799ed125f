// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Samples of every pointwise op: the interpreter and the element rules are both held to them.
#ifndef ACCC_TEST_UNIT_IR_POINTWISEROWS_H
#define ACCC_TEST_UNIT_IR_POINTWISEROWS_H

#include <string>
#include <vector>

namespace accc::test {

/// `op` with what stands before its operands ("compare lt"); element types of the operands ("f32",
/// or "i1,f32,f32" where they differ) and, where it is another, of the result.
struct PointwiseRow {
  std::string op, types;
  std::vector<std::vector<double>> operands;
  std::vector<double> expected;
  std::string resultType = "";

  int64_t count() const { return static_cast<int64_t>(expected.size()); }
  std::vector<std::string> operandTypes() const;
  std::string result() const { return resultType.empty() ? operandTypes().back() : resultType; }
  /// A module with @f(operands) -> the op's result, on tensors of one dimension.
  std::string text() const;
};

const std::vector<PointwiseRow> &pointwiseRows();

} // namespace accc::test

#endif
