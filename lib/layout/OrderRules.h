// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How ops follow when what they read or give lies in memory in another order.
#ifndef ACCC_LAYOUT_ORDERRULES_H
#define ACCC_LAYOUT_ORDERRULES_H

#include "ir/prim/Prim.h"
#include "layout/DimensionOrder.h"
#include "target/Target.h"

namespace accc::layout {

inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
}

/// Whether a value lies in memory as its own type says.
inline bool isOwnOrder(mlir::Value value, llvm::ArrayRef<int64_t> order) {
  return sameMemory(shapeOf(value), order, ownOrder(shapeOf(value).size()));
}

// ---- views: they say in which order something is read ----

/// A value, seen in an order.
struct OrderedValue {
  mlir::Value value;
  DimensionOrder order;
};

/// transpose, broadcast and reshape.
bool isView(mlir::Operation *op);

/// What has to lie in which order so that the view's result is there in `order`; nothing if none
/// will do.
std::optional<OrderedValue> operandOfView(mlir::Operation *view, llvm::ArrayRef<int64_t> order);

/// In which order the view's result is there if its operand lies in `order`.
std::optional<DimensionOrder> resultOfView(mlir::Operation *view, llvm::ArrayRef<int64_t> order);

/// The view's result in `order`, of what `operandOfView` asks for.
mlir::Value createView(mlir::OpBuilder &builder, mlir::Operation *view, mlir::Value operand,
                       llvm::ArrayRef<int64_t> order);

/// Known without memory, in any order: a constant of equal elements, or iota.
bool isFree(mlir::Value value);
mlir::Value createFree(mlir::OpBuilder &builder, mlir::Value value, llvm::ArrayRef<int64_t> order);

// ---- other ops: they can compute the same in another order ----

/// The orders of an op's operands and of its one result that go together.
struct OpOrder {
  llvm::SmallVector<DimensionOrder> operands;
  DimensionOrder result;
};

/// The op's orders if `value`, one of its operands or its result, lies in `order`; nothing if the
/// op depends on the order of its own, or nothing says what the others should be.
std::optional<OpOrder> followOrder(mlir::Operation *op, mlir::Value value,
                                   llvm::ArrayRef<int64_t> order);

/// Which orders convolutions ask for.
struct ConvolutionOrders {
  const Target &target;
  bool tf32;

  /// How the library likes the op's tensors; none where that takes them as they are, or runs no
  /// convolution.
  std::optional<ConvolutionLayout> layoutOf(mlir::Operation *op) const;
  /// Those orders, of a convolution whose tensors do not lie so already.
  std::optional<OpOrder> of(mlir::Operation *op) const;
};

/// The op in these orders: operands and result are tensors as they lie.
mlir::Value createInOrder(mlir::OpBuilder &builder, mlir::Operation *op, const OpOrder &order,
                          mlir::ValueRange operands);

} // namespace accc::layout

#endif
