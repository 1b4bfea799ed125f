// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A test case: one module that says all there is to say of it.
#ifndef ACCC_TEST_RANDOM_CASE_H
#define ACCC_TEST_RANDOM_CASE_H

#include "ir/interfaces/ReferenceArray.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <string>
#include <vector>

namespace accc::test {

/// Arrays by name. Ordered, so that the first difference found is always the same one.
using Values = std::map<std::string, ReferenceArray>;

/// How the module's @forward (docs/function-contract.md) is to be trained and with which numbers:
/// attributes of the module, so that its text is the whole case.
struct CaseOptions {
  std::string loss, optimizer, lossScale, average, precision;
  std::vector<std::string> freeze;
  double learningRate = 0.05;
  int64_t seed = 0; ///< of the values that arguments have
  std::string arch = "x86-64-v3";
  int threads = 1;
  int ranks = 0;                        ///< with --data-parallel, so many; 0: without
  bool accumulates = false;             ///< with --accumulate-gradients
  double targetLow = 0, targetHigh = 1; ///< the range of `target`
  int64_t sizeDivisor = 1;              ///< what size thresholds are divided by
  double memory = 0;                    ///< --memory-budget, in the least that will do; 0: none

  static CaseOptions of(mlir::ModuleOp module);
  void write(mlir::ModuleOp module) const;
};

/// The range that an argument's values come from, [low, high); integers are rounded down. Kept as
/// an attribute of the argument.
struct Range {
  double low = -1, high = 1;
};
inline constexpr const char kRangeAttr[] = "random.range";
mlir::ArrayAttr rangeAttr(mlir::MLIRContext *context, Range range);
Range rangeOf(mlir::func::FuncOp function, unsigned argument);

/// Values for a tensor, a function of seed, name and type alone. They are numbers that the element
/// type can hold.
ReferenceArray sampleValues(mlir::RankedTensorType type, Range range, llvm::StringRef name,
                            int64_t seed);

/// The values of all arguments of @forward by name, and the random key.
Values argumentValues(mlir::func::FuncOp forward, int64_t seed);

} // namespace accc::test

#endif
