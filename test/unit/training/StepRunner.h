// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs step functions in the reference interpreter, by the names of docs/function-contract.md.
#ifndef ACCC_TEST_UNIT_TRAINING_STEPRUNNER_H
#define ACCC_TEST_UNIT_TRAINING_STEPRUNNER_H

#include "ir/interfaces/ReferenceArray.h"
#include "training/MakeTrainable.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <string>

namespace accc::test {

using Values = std::map<std::string, ReferenceArray>;

/// The context all tests share, with every dialect a model may use.
mlir::MLIRContext &context();

ReferenceArray array(llvm::ArrayRef<int64_t> shape, std::vector<double> values);
inline ReferenceArray scalar(double value) { return array({}, {value}); }

/// A model with a function @forward, made trainable.
class Trainable {
public:
  /// Text that does not parse fails the test.
  explicit Trainable(const std::string &text);

  /// The problems of makeTrainable, one a line: "error: ..." or "warning: ...".
  std::string make(const TrainingOptions &options);
  /// make(), which must find nothing.
  void mustMake(const TrainingOptions &options);

  /// Calls an entry with its arguments by name; optimizer state that is missing is zeros. Results
  /// of role update are stored to `values` under the name of their variable; all results are
  /// returned.
  Values run(const std::string &entry, Values &values);

  bool has(const std::string &entry);
  mlir::ModuleOp get() { return *module; }

private:
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace accc::test

#endif
