// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The threads of a task.
#ifndef ACCC_CODEGEN_CUDA_LANES_H
#define ACCC_CODEGEN_CUDA_LANES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

namespace accc::codegen {

inline constexpr int64_t kWarp = 32;

/// On a function: the lanes of a task (i64) and how many columns these have, both powers of two.
/// Lane l has column l modulo the number of columns. More lanes than those of a warp are a block.
inline constexpr llvm::StringLiteral kLanesAttr = "lanes", kColumnsAttr = "columns";

inline int64_t numberOr1(mlir::func::FuncOp function, llvm::StringRef attribute) {
  auto number = function->getAttrOfType<mlir::IntegerAttr>(attribute);
  return number ? number.getInt() : 1;
}
inline int64_t lanesOf(mlir::func::FuncOp function) { return numberOr1(function, kLanesAttr); }
inline int64_t columnsOf(mlir::func::FuncOp function) { return numberOr1(function, kColumnsAttr); }

inline mlir::Value constant(mlir::OpBuilder &b, mlir::Location loc, int64_t value) {
  return b.create<mlir::arith::ConstantIntOp>(loc, value, 64);
}

template <typename Register>
mlir::Value readRegister(mlir::OpBuilder &b, mlir::Location loc, mlir::Type type) {
  mlir::Value value = b.create<Register>(loc, b.getI32Type());
  return value.getType() == type ? value : b.create<mlir::arith::ExtUIOp>(loc, type, value);
}

/// The thread's number among the `count` that belong together, a power of two.
inline mlir::Value laneOf(mlir::OpBuilder &b, mlir::Location loc, int64_t count) {
  return b.create<mlir::arith::AndIOp>(
      loc, readRegister<mlir::NVVM::ThreadIdXOp>(b, loc, b.getI64Type()),
      constant(b, loc, count - 1));
}

inline mlir::Value dividedBy(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value,
                             int64_t powerOf2) {
  return b.create<mlir::arith::ShRUIOp>(
      loc, value, constant(b, loc, llvm::Log2_64(static_cast<uint64_t>(powerOf2))));
}

} // namespace accc::codegen

#endif
