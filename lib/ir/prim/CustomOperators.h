// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The user's own operators, as the libraries of one compilation give them.
#ifndef ACCC_IR_PRIM_CUSTOMOPERATORS_H
#define ACCC_IR_PRIM_CUSTOMOPERATORS_H

#include "accc/custom_op.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringMap.h"

#include <string>

namespace accc::prim {

struct CustomOperator {
  /// Valid as long as the process runs.
  const accc_custom_operator *functions = nullptr;
  /// The file name of the library, without a folder.
  std::string library;
};

/// By name, "domain::name". The dialect `prim` of a context holds those of its compilation.
using CustomOperators = llvm::StringMap<CustomOperator>;

/// The operator of that name; null if no library gives it.
const CustomOperator *findCustomOperator(mlir::MLIRContext *context, llvm::StringRef name);

/// What its library says the operator's results are. `config` holds i64, f64 and strings, and
/// arrays of them (array<i64>, array<f64>, [strings]). Fails with a diagnostic where the library
/// refuses the inputs, or gives types that no tensor has.
mlir::FailureOr<llvm::SmallVector<mlir::Type>> inferCustomResults(mlir::Location loc,
                                                                  const CustomOperator &op,
                                                                  mlir::TypeRange inputs,
                                                                  mlir::DictionaryAttr config);

} // namespace accc::prim

#endif
