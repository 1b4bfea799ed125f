// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What operators do with the elements that a mask selects: rows of the operators' table name these
// rules. Elementwise operators, and those along other dimensions than the mask's, need none.
#ifndef ACCC_FRONTEND_ATEN_SELECTIONRULES_H
#define ACCC_FRONTEND_ATEN_SELECTIONRULES_H

#include "frontend/aten/OpTable.h"

namespace accc::aten::selected {

/// Selects by a mask: x[mask].
bool read(SelectedCall &call);
bool readAll(SelectedCall &call);
/// Writes back to where the same mask is true: x[mask] = y.
bool write(SelectedCall &call);

/// The sum or the mean along dimensions of which that of the mask is one.
bool sum(SelectedCall &call);
bool mean(SelectedCall &call);

/// A loss that is the mean or the sum of an elementwise function.
bool elementLoss(SelectedCall &call);
/// A loss of scores and classes that leaves a class out.
bool classLoss(SelectedCall &call);

/// A product of rows with weights.
bool linear(SelectedCall &call);
bool broadcastTensors(SelectedCall &call);
/// x[:], which TorchScript has for the first dimension of x[:, 1].
bool wholeSlice(SelectedCall &call);
/// A vector in the shape [-1].
bool asVector(SelectedCall &call);
/// What a vector always is.
bool flatten(SelectedCall &call);

} // namespace accc::aten::selected

#endif
