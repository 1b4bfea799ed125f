// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What every importer takes and gives, whatever the file format.
#ifndef ACCC_FRONTEND_COMMON_IMPORTRESULT_H
#define ACCC_FRONTEND_COMMON_IMPORTRESULT_H

#include "support/Problem.h"
#include "support/WeightTable.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace accc {

/// What the options say of an input of which the file says nothing: "int64[batch,128]".
struct InputType {
  /// As PyTorch calls it.
  std::string elementType;
  /// Sizes, or names of open dimensions.
  std::vector<std::string> dimensions;
  /// Among the inputs that are given: the keys of a dict are in this order.
  size_t position = 0;
};

struct ImportOptions {
  /// Values of dimensions that the exporter left open: by the dimension's name (`batch`), or by
  /// position (`input.0`).
  std::map<std::string, int64_t> dimensions;
  /// What open dimensions without a value are taken as, with a warning; by default they are an
  /// error.
  std::optional<int64_t> openDimension;
  /// By the input's name.
  std::map<std::string, InputType> inputTypes;
  /// Parameters in whose name one of these regular expressions is found are not trained.
  std::vector<std::string> frozen;
  /// The module will be trained: warnings about what was exported for inference are wanted.
  bool training = true;
  /// A dropout without a training flag drops (trap: exporters of attention leave the flag out).
  bool assumeDropoutTraining = false;
  /// A batch normalisation in inference mode is taken as one in training mode (trap: PyTorch's
  /// dynamo exporter writes inference mode whatever the module's mode).
  bool assumeBatchNormTraining = false;
  /// Whether running variances are updated with the unbiased variance, as PyTorch does. By default:
  /// yes if the file was written by PyTorch.
  std::optional<bool> unbiasedRunningVar;
  /// A file that lost a part of what its module trains is trained as it stands.
  bool acceptDamage = false;
  /// Composite operators that the exporter took apart are put together again (Raise.h).
  bool raise = true;
  /// Inputs that always have the same value: they become constants, and shapes may depend on them.
  std::map<std::string, mlir::DenseElementsAttr> inputs;
};

/// What is wrong with ImportOptions::dimensions, by name or position; each is a problem, too.
struct WrongSizes {
  /// Open dimensions without a size.
  std::vector<std::string> missing = {};
  /// Those that have a size and are not there, or not open.
  std::vector<std::string> unknown = {};
};

/// `module` holds the function @forward (docs/function-contract.md), verified, or is null if there
/// are problems; `weights` holds the initial value of each of its parameters and buffers.
struct ImportResult {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  WeightTable weights;
  /// If not null, a module whose function @forward gives the initial values of variables, by name:
  /// they stand in place of those in `weights`. It takes a random key or nothing.
  mlir::OwningOpRef<mlir::ModuleOp> initialization = nullptr;
  /// Errors: without a module.
  std::vector<Problem> problems;
  /// Warnings and notes.
  std::vector<Problem> remarks = {};
  /// The names of the model's outputs, with problems too.
  std::vector<std::string> outputs = {};
  WrongSizes wrongSizes = {};
  /// The files beside the model that were read.
  std::vector<std::string> dataFiles = {};
  /// A line for each parameter that the exporter changed and the importer restored.
  std::vector<std::string> recovered = {};
  /// Other names of one tensor, by the variable's name.
  std::map<std::string, std::vector<std::string>> aliases = {};
  /// What the export lost, where that was accepted or nothing is trained; empty: nothing.
  std::string damage = {};

  /// Of a model with problems nothing is left but these.
  void dropIfWrong() {
    if (problems.empty())
      return;
    module = nullptr;
    weights.clear();
  }
};

} // namespace accc

#endif
