// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arguments of an ATen operator, as PyTorch writes them.
#ifndef ACCC_FRONTEND_ATEN_SIGNATURE_H
#define ACCC_FRONTEND_ATEN_SIGNATURE_H

#include "frontend/aten/Argument.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <vector>

namespace accc::aten {

/// "conv2d(input, weight, bias=None, stride=1)": the name, and for each argument, by position, its
/// name and its default value, if it has one.
struct Signature {
  struct Parameter {
    std::string name;
    std::optional<Argument> otherwise;
  };
  std::string name;
  std::vector<Parameter> parameters;

  /// Parses the text of a table. Defaults are None, True, False, numbers, 'text', or lists [] of
  /// integers.
  explicit Signature(llvm::StringRef text);

  const Parameter *find(llvm::StringRef parameter) const;
};

} // namespace accc::aten

#endif
