// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One node test: a model and, in numbered folders, inputs and the outputs they must give.
#ifndef ACCC_TEST_CONFORMANCE_NODETESTCASE_H
#define ACCC_TEST_CONFORMANCE_NODETESTCASE_H

#include "frontend/common/ImportResult.h"
#include "ir/interfaces/ReferenceValues.h"

#include "mlir/IR/BuiltinAttributes.h"

#include <filesystem>
#include <string>
#include <vector>

struct NodeTestCase {
  std::vector<std::string> inputNames, outputNames;
  std::vector<mlir::DenseElementsAttr> inputs, outputs;
};

/// The folders of the tests below `folder`, at any depth, whose names begin with `prefix`, in
/// order.
std::vector<std::filesystem::path> findNodeTests(const std::filesystem::path &folder,
                                                 const std::string &prefix);
/// The data sets of a test.
std::vector<std::string> dataSetsOf(const std::filesystem::path &test);

/// Reads the model's signature and one data set. Gives a reason if it holds something other than
/// tensors of the element types that accc has.
std::string readNodeTest(const std::string &model, const std::string &dataSet,
                         mlir::MLIRContext &context, NodeTestCase &test);

/// Imports the model with as few of the test's inputs as constants as it takes: shapes and axes
/// must be known to the compiler, and the tests feed them like data.
accc::ImportResult importNodeTest(const std::string &model, const NodeTestCase &test,
                                  mlir::MLIRContext &context);
/// The same for the bytes of a model.
accc::ImportResult importNodeTestBytes(const std::string &bytes, const NodeTestCase &test,
                                       mlir::MLIRContext &context);
/// What @forward takes in the test: its inputs, initial values of variables, and some random key.
llvm::SmallVector<accc::ReferenceArray> argumentsOf(const accc::ImportResult &model,
                                                    const NodeTestCase &test);
/// All of them in one line.
std::string joined(const std::vector<accc::Problem> &problems);

/// A reason if `actual`, of the given type, is not `expected`: floats within 1e-7 + 1e-3
/// |expected|, NaN and infinities alike, everything else exactly.
std::string compare(mlir::DenseElementsAttr expected, mlir::Type actualType,
                    const accc::ReferenceArray &actual);

#endif
