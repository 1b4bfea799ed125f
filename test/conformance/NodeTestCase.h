// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One node test: a model and, in numbered folders, inputs and the outputs they must give.
#ifndef ACCC_TEST_CONFORMANCE_NODETESTCASE_H
#define ACCC_TEST_CONFORMANCE_NODETESTCASE_H

#include "ir/interfaces/ReferenceValues.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <string>
#include <vector>

struct NodeTestCase {
  std::vector<std::string> inputNames, outputNames;
  std::vector<mlir::DenseElementsAttr> inputs, outputs;
};

/// Reads the model's signature and one data set. Gives a reason if it holds something other than
/// tensors of the element types that accc has.
std::string readNodeTest(const std::string &model, const std::string &dataSet,
                         mlir::MLIRContext &context, NodeTestCase &test);

/// A reason if `actual`, of the given type, is not `expected`: floats within 1e-7 + 1e-3
/// |expected|, NaN and infinities alike, everything else exactly.
std::string compare(mlir::DenseElementsAttr expected, mlir::Type actualType,
                    const accc::ReferenceArray &actual);

#endif
