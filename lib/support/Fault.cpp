// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/Fault.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Location.h"

using namespace mlir;
using namespace accc;

/// The fault travels as the metadata of a location around the given one.
static InFlightDiagnostic emitFault(Location loc, Fault fault) {
  Builder b(loc.getContext());
  return emitError(
      FusedLoc::get(loc.getContext(), {loc}, b.getI32IntegerAttr(static_cast<int32_t>(fault))));
}

InFlightDiagnostic accc::emitBug(Location loc) {
  return emitFault(loc, Fault::Bug) << "bug in accc: ";
}

InFlightDiagnostic accc::emitMachineFault(Location loc) { return emitFault(loc, Fault::Machine); }

InFlightDiagnostic accc::emitUsageFault(Location loc) { return emitFault(loc, Fault::Usage); }

Fault accc::faultOf(Location loc) {
  auto marked = dyn_cast<FusedLocWith<IntegerAttr>>(loc);
  return marked ? static_cast<Fault>(marked.getMetadata().getInt()) : Fault::Data;
}
