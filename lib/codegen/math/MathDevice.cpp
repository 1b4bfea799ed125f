// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of f32 by the approximate instructions of an NVIDIA GPU, which take a subnormal for
// zero. MathDeviceBounds.def says how good they are.

#include "codegen/math/MathFunctions.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace accc::codegen::device {

/// An intrinsic of LLVM for the instruction, on scalars, for each element.
static Expr instruction(StringRef intrinsic, ArrayRef<Expr> operands) {
  ImplicitLocOpBuilder &b = operands.front().getBuilder();
  auto call = [&](ArrayRef<Value> values) -> Value {
    return b
        .create<LLVM::CallIntrinsicOp>(values.front().getType(), b.getStringAttr(intrinsic),
                                       ValueRange(values))
        .getResults();
  };
  SmallVector<Value> values;
  for (Expr operand : operands)
    values.push_back(operand.getValue());
  auto vector = dyn_cast<VectorType>(values.front().getType());
  if (!vector)
    return {b, call(values)};
  Value result = b.create<arith::ConstantOp>(b.getZeroAttr(vector));
  for (int64_t i = 0; i < vector.getNumElements(); ++i) {
    SmallVector<Value> elements;
    for (Value value : values)
      elements.push_back(b.create<vector::ExtractOp>(value, i));
    result = b.create<vector::InsertOp>(call(elements), result, i);
  }
  return {b, result};
}

/// `x` or the nearest of the bounds; NaN where it is.
static Expr clamp(Expr x, float low, float high) {
  x = instruction("llvm.nvvm.fmin.ftz.nan.f", {x, x.constant(high)});
  return instruction("llvm.nvvm.fmax.ftz.nan.f", {x, x.constant(low)});
}

static Expr exp2(Expr x) { return instruction("llvm.nvvm.ex2.approx.ftz.f", {x}); }
Expr rsqrt(Expr x) { return instruction("llvm.nvvm.rsqrt.approx.ftz.f", {x}); }
Expr reciprocal(Expr x) { return instruction("llvm.nvvm.rcp.approx.ftz.f", {x}); }

// ln 2 = kLn2 + kLn2Low.
static constexpr float kLog2E = 0x1.715476p+0f, kLn2 = 0x1.62e43p-1f, kLn2Low = -0x1.05c61p-29f;

Expr exp(Expr x) {
  // With p the rounded x log2(e): e^x = 2^p e^r, r = x - p ln 2 so small that e^r is 1 + r. Beyond
  // the bounds 2^p is 0 or infinite.
  x = clamp(x, -128, 128);
  Expr p = x * kLog2E;
  Expr r = fma(p, -kLn2Low, fma(p, -kLn2, x));
  return exp2(p) * (r + 1);
}

// "tanh": tanh(x) = x + x^3 p(x^2) on |x| <= 0.55, relative error 2^-24.7.
static constexpr float kTanh[] = {-0.333329469f, 0.133207291f, -0.0526719652f, 0.0164376404f};

Expr tanh(Expr x) {
  // 1 - 2 / (e^2|x| + 1), where that does not cancel.
  Expr a = abs(x), z = a * a;
  Expr outer = fma(reciprocal(exp2(a * (2 * kLog2E)) + 1), -2, 1);
  Expr inner = fma(a * z, polynomial(z, kTanh), a);
  return copysign(select(a < 0.55f, inner, outer), x);
}

} // namespace accc::codegen::device
