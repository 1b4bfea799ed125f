// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an ATen operator is called with.
#ifndef ACCC_FRONTEND_ATEN_ARGUMENT_H
#define ACCC_FRONTEND_ATEN_ARGUMENT_H

#include "mlir/IR/Types.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"

#include <string>
#include <variant>

namespace accc::aten {

/// None.
struct NoValue {};
/// What says nothing about values: a device, a layout, a generator.
struct Irrelevant {};
/// PyTorch's memory formats, by their codes.
enum class MemoryFormat : int64_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };
/// Null elements are None.
using TensorList = llvm::SmallVector<mlir::Value>;
using Integers = llvm::SmallVector<int64_t>;
using Reals = llvm::SmallVector<double>;
using Booleans = llvm::SmallVector<bool>;

/// One argument, as a file gives it or as an operator's signature has it by default. A
/// torch.dtype is an element type.
using Argument = std::variant<NoValue, mlir::Value, TensorList, int64_t, double, bool, std::string,
                              Integers, Reals, Booleans, mlir::Type, MemoryFormat, Irrelevant>;

} // namespace accc::aten

#endif
