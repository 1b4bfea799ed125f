// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How PyTorch declares the operators of the table: for calls that do not name their overload.
#ifndef ACCC_FRONTEND_ATEN_SCHEMAS_H
#define ACCC_FRONTEND_ATEN_SCHEMAS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace accc::aten {

/// One overload: "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor".
struct Schema {
  struct Parameter {
    /// "Tensor", "int[2]", "Scalar?".
    std::string type, name;
    bool hasDefault = false, isKeywordOnly = false;
  };
  std::string overload;
  std::vector<Parameter> parameters;
  size_t results = 1;
};

/// The overloads of "add", in the order in which PyTorch tries them; for "add_", which writes its
/// result into its first argument, those of "add" where it has none of its own.
llvm::ArrayRef<Schema> schemasOf(llvm::StringRef name);

} // namespace accc::aten

#endif
