// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which module of the model an op computes a part of, kept in its location: for people only.
#ifndef ACCC_SUPPORT_MODULELOCATION_H
#define ACCC_SUPPORT_MODULELOCATION_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace accc {

/// The location of an op of the module: "blocks.0.mlp". `loc` itself where the name is empty.
mlir::Location withModule(mlir::Location loc, llvm::StringRef module);

/// The location of an op that computes a derivative of the op at `loc`.
mlir::Location inBackward(mlir::Location loc);

/// The modules behind a location and all that are fused in it, in one name (nameModules), and
/// whether derivatives are among them: "blocks.0.{norm1,attn.qkv} (backward)". Empty where nothing
/// is known.
std::string moduleNames(mlir::Location loc);

} // namespace accc

#endif
