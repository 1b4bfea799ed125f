// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models in ONNX's text syntax, imported.
#ifndef ACCC_TEST_UNIT_FRONTEND_MODELTEXT_H
#define ACCC_TEST_UNIT_FRONTEND_MODELTEXT_H

#include "frontend/onnx/Import.h"

#include "ir/interfaces/ReferenceArray.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <map>
#include <string>

namespace accc::test {

/// As many values as the shape has elements.
ReferenceArray array(std::vector<int64_t> shape, std::vector<double> values);

/// The bytes of a model whose graph is given as text, for an operator set; `functions` follow the
/// graph. Text that does not parse fails the test. `a__b` stands for the name `a.b`, which the
/// syntax lacks.
std::string modelBytes(const std::string &graph, int opset = 17, const std::string &producer = "",
                       const std::string &functions = "");

/// A model, imported, with the context that it lives in.
struct Imported {
  std::unique_ptr<mlir::MLIRContext> context;
  ImportResult result;

  mlir::func::FuncOp forward();
  /// The module as text; fails the test if there is none.
  std::string text();
  /// All problems, or all warnings, one a line.
  std::string problems() const;
  std::string warnings() const;
  /// The attribute of the argument of this name, as text without quotes; "none" if there is no such
  /// argument.
  std::string argument(const std::string &name, const std::string &attribute);
  /// The role of the argument of this name.
  std::string role(const std::string &name) { return argument(name, "accc.role"); }
  /// The role of the result of this name, or "none".
  std::string outputRole(const std::string &name);
  /// Interprets @forward: inputs by name, parameters from the weights; results by name (updates as
  /// "update <name>").
  std::map<std::string, ReferenceArray> run(const std::map<std::string, ReferenceArray> &inputs);
};

Imported importBytes(const std::string &bytes, const ImportOptions &options = {},
                     const std::string &folder = "");
Imported importText(const std::string &graph, const ImportOptions &options = {}, int opset = 17,
                    const std::string &producer = "");

} // namespace accc::test

#endif
