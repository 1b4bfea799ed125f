// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX's node tests with other shapes and values: every operator, forward and backward, where few
// look.
#ifndef ACCC_TEST_PITFALLS_OPERATORVARIANTS_H
#define ACCC_TEST_PITFALLS_OPERATORVARIANTS_H

#include "ir/interfaces/ReferenceArray.h"

#include "mlir/IR/BuiltinTypes.h"

#include <functional>
#include <string>
#include <vector>

namespace accc::test {

/// An input of a node test.
struct OperatorInput {
  mlir::RankedTensorType type;
  ReferenceArray value;
};
using OperatorInputs = std::vector<OperatorInput>;

/// Other inputs in place of a test's: none, one set or several.
using Variation = std::function<std::vector<OperatorInputs>(const OperatorInputs &)>;

struct VariantCounts {
  int operators = 0, compared = 0, refused = 0;
};

/// Varies the inputs of every node test of ONNX that is imported (of tests with the same operator,
/// attributes, and ranks and types of inputs the first). What the importer does not refuse is
/// differentiated, compiled, run, and held against the interpreter; each failure is a failed check.
VariantCounts checkVariants(const Variation &variation);

} // namespace accc::test

#endif
