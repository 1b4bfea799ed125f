// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/math/MathExpr.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace accc::codegen {

bool Expr::isFloat() const { return isa<FloatType>(getElementTypeOrSelf(value)); }

Type Expr::typeWith(Type element) const {
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    return vector.clone(element);
  return element;
}

Expr Expr::constant(double c) const {
  Type element = getElementTypeOrSelf(value);
  TypedAttr attr;
  if (isFloat())
    attr = builder->getFloatAttr(element, c);
  else
    attr =
        builder->getIntegerAttr(element, APInt(64, static_cast<uint64_t>(static_cast<int64_t>(c)))
                                             .trunc(element.getIntOrFloatBitWidth()));
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return {*builder, builder->create<arith::ConstantOp>(attr)};
}

template <typename Op, typename... Operands> static Expr emit(Expr first, Operands... rest) {
  ImplicitLocOpBuilder &builder = first.getBuilder();
  return {builder, builder.create<Op>(first.getValue(), rest.getValue()...)};
}

template <typename FloatOp, typename IntOp> static Expr emitEither(Expr a, Expr b) {
  return a.isFloat() ? emit<FloatOp>(a, b) : emit<IntOp>(a, b);
}

Expr operator+(Expr a, Expr b) { return emitEither<arith::AddFOp, arith::AddIOp>(a, b); }
Expr operator-(Expr a, Expr b) { return emitEither<arith::SubFOp, arith::SubIOp>(a, b); }
Expr operator*(Expr a, Expr b) { return emitEither<arith::MulFOp, arith::MulIOp>(a, b); }
Expr operator/(Expr a, Expr b) { return emit<arith::DivFOp>(a, b); }
Expr operator&(Expr a, Expr b) { return emit<arith::AndIOp>(a, b); }
Expr operator|(Expr a, Expr b) { return emit<arith::OrIOp>(a, b); }
Expr operator^(Expr a, Expr b) { return emit<arith::XOrIOp>(a, b); }
Expr operator<<(Expr a, Expr b) { return emit<arith::ShLIOp>(a, b); }
Expr operator>>(Expr a, Expr b) { return emit<arith::ShRSIOp>(a, b); }

static Expr compare(arith::CmpFPredicate f, arith::CmpIPredicate i, Expr a, Expr b) {
  ImplicitLocOpBuilder &builder = a.getBuilder();
  if (a.isFloat())
    return {builder, builder.create<arith::CmpFOp>(f, a.getValue(), b.getValue())};
  return {builder, builder.create<arith::CmpIOp>(i, a.getValue(), b.getValue())};
}

using FP = arith::CmpFPredicate;
using IP = arith::CmpIPredicate;
Expr operator<(Expr a, Expr b) { return compare(FP::OLT, IP::slt, a, b); }
Expr operator<=(Expr a, Expr b) { return compare(FP::OLE, IP::sle, a, b); }
Expr operator>(Expr a, Expr b) { return compare(FP::OGT, IP::sgt, a, b); }
Expr operator>=(Expr a, Expr b) { return compare(FP::OGE, IP::sge, a, b); }
Expr operator==(Expr a, Expr b) { return compare(FP::OEQ, IP::eq, a, b); }
Expr operator!=(Expr a, Expr b) { return compare(FP::UNE, IP::ne, a, b); }

Expr operator-(Expr a) { return a.isFloat() ? emit<arith::NegFOp>(a) : a.constant(0) - a; }

Expr fma(Expr a, Expr b, Expr c) { return emit<math::FmaOp>(a, b, c); }
Expr abs(Expr x) { return emit<math::AbsFOp>(x); }
Expr sqrt(Expr x) { return emit<math::SqrtOp>(x); }
Expr roundEven(Expr x) { return emit<math::RoundEvenOp>(x); }
Expr floor(Expr x) { return emit<math::FloorOp>(x); }
Expr copysign(Expr x, Expr sign) { return emit<math::CopySignOp>(x, sign); }

Expr flipSign(Expr x, Expr sign) {
  Expr i = bits(sign);
  unsigned width = getElementTypeOrSelf(i.getValue()).getIntOrFloatBitWidth();
  return fromBits(bits(x) ^ (i & (width == 32 ? double(INT32_MIN) : double(INT64_MIN))));
}

Expr select(Expr condition, Expr a, Expr b) { return emit<arith::SelectOp>(condition, a, b); }

Expr ifAny(Expr condition, function_ref<Expr()> then, Expr otherwise) {
  ImplicitLocOpBuilder &builder = condition.getBuilder();
  Value any = condition.getValue();
  if (auto vector = dyn_cast<VectorType>(any.getType())) {
    auto flat = VectorType::get(vector.getNumElements(), vector.getElementType());
    any = builder.create<vector::ReductionOp>(vector::CombiningKind::OR,
                                              builder.createOrFold<vector::ShapeCastOp>(flat, any));
  }
  auto branch = builder.create<scf::IfOp>(otherwise.getValue().getType(), any, /*hasElse=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  builder.create<scf::YieldOp>(then().getValue());
  builder.setInsertionPointToStart(branch.elseBlock());
  builder.create<scf::YieldOp>(otherwise.getValue());
  return {builder, branch.getResult(0)};
}

Expr atMost(Expr x, double high) {
  Expr bound = x.constant(high);
  return select(bound < x, bound, x);
}

Expr atLeast(Expr x, double low) {
  Expr bound = x.constant(low);
  return select(bound > x, bound, x);
}

template <typename T> static Expr horner(Expr x, ArrayRef<T> c) {
  Expr sum = x.constant(c.back());
  for (T next : llvm::reverse(c.drop_back()))
    sum = fma(sum, x, next);
  return sum;
}
Expr polynomial(Expr x, ArrayRef<float> c) { return horner(x, c); }
Expr polynomial(Expr x, ArrayRef<double> c) { return horner(x, c); }

template <typename Op> static Expr cast(Expr x, Type element) {
  return {x.getBuilder(), x.getBuilder().create<Op>(x.typeWith(element), x.getValue())};
}

Expr bits(Expr x) {
  unsigned width = getElementTypeOrSelf(x.getValue()).getIntOrFloatBitWidth();
  return cast<arith::BitcastOp>(x, x.getBuilder().getIntegerType(width));
}

Expr fromBits(Expr i) {
  bool wide = getElementTypeOrSelf(i.getValue()).isInteger(64);
  return cast<arith::BitcastOp>(i, wide ? Type(i.getBuilder().getF64Type())
                                        : Type(i.getBuilder().getF32Type()));
}

Expr toFloat(Expr i) { return cast<arith::SIToFPOp>(i, i.getBuilder().getF32Type()); }
Expr widen(Expr x) { return cast<arith::ExtFOp>(x, x.getBuilder().getF64Type()); }
Expr narrow(Expr x) { return cast<arith::TruncFOp>(x, x.getBuilder().getF32Type()); }
Expr low32(Expr i) { return cast<arith::TruncIOp>(i, i.getBuilder().getI32Type()); }

Expr convert(Expr x, FloatType element) {
  unsigned from = getElementTypeOrSelf(x.getValue()).getIntOrFloatBitWidth();
  if (from == element.getWidth())
    return x;
  return from < element.getWidth() ? cast<arith::ExtFOp>(x, element)
                                   : cast<arith::TruncFOp>(x, element);
}

} // namespace accc::codegen
