// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variables that lie on a device in another order than users see them (accc_code.variable_orders).
#ifndef ACCC_RUNTIME_CORE_VARIABLEORDER_H
#define ACCC_RUNTIME_CORE_VARIABLEORDER_H

#include "accc/abi.h"

#include <span>

namespace accc::detail {

/// The dimensions of a variable, one of the model's, from the outermost in memory to the innermost;
/// empty where it lies row-major, as users see it.
std::span<const int64_t> orderOf(const accc_model_description &model, const accc_code &code,
                                 const accc_variable &variable);

/// Whether it names each of as many dimensions as it has entries once.
bool isOrder(std::span<const int64_t> order);

/// Copies all elements of a tensor: `from` is row-major, `to` in memory's order.
void toMemoryOrder(const accc_tensor &tensor, std::span<const int64_t> order, const void *from,
                   void *to);
/// The way back.
void fromMemoryOrder(const accc_tensor &tensor, std::span<const int64_t> order, const void *from,
                     void *to);

} // namespace accc::detail

#endif // ACCC_RUNTIME_CORE_VARIABLEORDER_H
