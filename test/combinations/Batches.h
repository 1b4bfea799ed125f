// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The data of a program's calls.
#ifndef ACCC_TEST_COMBINATIONS_BATCHES_H
#define ACCC_TEST_COMBINATIONS_BATCHES_H

#include <accc/accc.h>

#include <string>

/// Batch `number` for an entry point: what it takes of `given`, as many rows as it wants, floats
/// scaled and targets turned by the number; for inputs that are not there, or have other shapes,
/// small numbers.
accc::TensorMap batchFor(const accc_entry &entry, const accc::TensorMap &given, int number);

/// `tensor` in memory that is aligned to no more than an element.
accc::Tensor misaligned(const accc::Tensor &tensor);

bool sameBits(const accc::Tensor &a, const accc::Tensor &b);

/// The values of all variables.
accc::TensorMap variablesOf(accc::Trainer &trainer);

#endif
