// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// For every op with a derivative: inputs at which it is held against finite differences.
#ifndef ACCC_TEST_UNIT_IR_GRADIENTROWS_H
#define ACCC_TEST_UNIT_IR_GRADIENTROWS_H

#include "ir/interfaces/ReferenceArray.h"

#include <string>
#include <vector>

namespace accc::test {

/// One operand: its type ("2x3xf64"), and the interval its values are drawn from, or the values.
struct Input {
  std::string type;
  double low = -2, high = 2;
  std::vector<double> values = {};
};

struct GradientRow {
  /// With what stands before the operands: "exp", "reduce sum".
  std::string op;
  std::vector<Input> inputs;
  /// Result types, and the attribute dictionary.
  std::vector<std::string> results;
  std::string attributes = "";

  std::string mnemonic() const { return op.substr(0, op.find(' ')); }
  /// A module with @f(inputs) -> the op's results.
  std::string text() const;
  /// Values for the inputs, the same each time.
  std::vector<ReferenceArray> arguments() const;
};

const std::vector<GradientRow> &gradientRows();

} // namespace accc::test

#endif
