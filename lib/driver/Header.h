// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The typed C++ header of a compiled model.
#ifndef ACCC_DRIVER_HEADER_H
#define ACCC_DRIVER_HEADER_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace accc {

/// A header with a namespace `name` (made a C++ identifier) around the runtime's Trainer: a struct
/// Inputs with a tensor of the right type and shape for each input, a struct Outputs with one for
/// each output (and Evaluated, where evaluation gives others), an enum Sizes that chooses the
/// shapes where the program has several, and a class Trainer whose calls take and give these.
/// `program` is the scheduled module.
std::string makeHeader(mlir::ModuleOp program, llvm::StringRef name);

} // namespace accc

#endif
