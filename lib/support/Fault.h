// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Diagnostics that say whose fault they are.
#ifndef ACCC_SUPPORT_FAULT_H
#define ACCC_SUPPORT_FAULT_H

#include "support/Problem.h"

#include "mlir/IR/Diagnostics.h"

namespace accc {

/// An error in accc itself; its text begins with "bug in accc: ". A plain emitError is the model's.
mlir::InFlightDiagnostic emitBug(mlir::Location loc);

/// An error of the machine: a file that cannot be written, a tool that is not there.
mlir::InFlightDiagnostic emitMachineFault(mlir::Location loc);

/// An error in the options of the command line.
mlir::InFlightDiagnostic emitUsageFault(mlir::Location loc);

/// Whose fault an error at this location is.
Fault faultOf(mlir::Location loc);

} // namespace accc

#endif
