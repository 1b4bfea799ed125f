// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/kernel/IndexEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AffineExprVisitor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc::codegen;

IndexEmitter::IndexEmitter(OpBuilder &builder, Location loc, unsigned numDims)
    : b(builder), loc(loc), dims(numDims) {
  memo.emplace_back();
}

AffineExpr IndexEmitter::dim(unsigned i) const { return getAffineDimExpr(i, b.getContext()); }

void IndexEmitter::setDim(unsigned i, Value base, int64_t extent) { dims[i] = {base, extent}; }

void IndexEmitter::setVector(unsigned dim, int64_t width) {
  vectorDimension = dim;
  lanes = width;
}

AffineExpr IndexEmitter::addSymbol(Value value, int64_t bound) {
  symbols.push_back({value, bound});
  return getAffineSymbolExpr(static_cast<unsigned>(symbols.size() - 1), b.getContext());
}

Value IndexEmitter::constant(int64_t value) {
  return b.create<arith::ConstantIntOp>(loc, value, 64);
}

std::optional<std::pair<int64_t, int64_t>> IndexEmitter::range(AffineExpr expression) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expression))
    return std::pair(constant.getValue(), constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expression))
    return std::pair<int64_t, int64_t>(0, dims[dim.getPosition()].extent - 1);
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression))
    return std::pair<int64_t, int64_t>(0, symbols[symbol.getPosition()].bound - 1);
  auto binary = cast<AffineBinaryOpExpr>(expression);
  auto lhs = range(binary.getLHS()), rhs = range(binary.getRHS());
  if (!lhs || !rhs)
    return std::nullopt;
  switch (expression.getKind()) {
  case AffineExprKind::Add:
    return std::pair(lhs->first + rhs->first, lhs->second + rhs->second);
  case AffineExprKind::Mul: {
    int64_t corners[] = {lhs->first * rhs->first, lhs->first * rhs->second, lhs->second * rhs->first,
                         lhs->second * rhs->second};
    return std::pair(*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4));
  }
  case AffineExprKind::FloorDiv:
    if (rhs->first != rhs->second || rhs->first <= 0)
      return std::nullopt;
    return std::pair(llvm::divideFloorSigned(lhs->first, rhs->first),
                     llvm::divideFloorSigned(lhs->second, rhs->first));
  case AffineExprKind::Mod:
    if (rhs->first != rhs->second || rhs->first <= 0)
      return std::nullopt;
    if (lhs->first >= 0 && lhs->second < rhs->first)
      return lhs;
    return std::pair<int64_t, int64_t>(0, rhs->first - 1);
  default:
    return std::nullopt;
  }
}

namespace {
/// Splits a sum into its terms.
void addTerms(AffineExpr expression, SmallVectorImpl<AffineExpr> &terms) {
  if (expression.getKind() == AffineExprKind::Add) {
    auto sum = cast<AffineBinaryOpExpr>(expression);
    addTerms(sum.getLHS(), terms);
    addTerms(sum.getRHS(), terms);
  } else {
    terms.push_back(expression);
  }
}
} // namespace

// (a * n + r) floordiv n = a and (a * n + r) mod n = r wherever 0 <= r < n.
AffineExpr IndexEmitter::simplify(AffineExpr expression) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return expression;
  AffineExpr lhs = simplify(binary.getLHS()), rhs = simplify(binary.getRHS());
  AffineExprKind kind = expression.getKind();
  if (kind == AffineExprKind::Add)
    return lhs + rhs;
  if (kind == AffineExprKind::Mul)
    return lhs * rhs;
  auto divisor = dyn_cast<AffineConstantExpr>(rhs);
  if (divisor && divisor.getValue() > 0 &&
      (kind == AffineExprKind::FloorDiv || kind == AffineExprKind::Mod)) {
    int64_t n = divisor.getValue();
    SmallVector<AffineExpr> terms;
    addTerms(lhs, terms);
    AffineExpr multiple = getAffineConstantExpr(0, b.getContext()), rest = multiple;
    for (AffineExpr term : terms)
      (term.isMultipleOf(n) ? multiple : rest) = (term.isMultipleOf(n) ? multiple : rest) + term;
    auto bounds = range(rest);
    if (bounds && bounds->first >= 0 && bounds->second < n)
      return kind == AffineExprKind::Mod ? rest : multiple.floorDiv(n);
  }
  if (kind == AffineExprKind::FloorDiv)
    return lhs.floorDiv(rhs);
  if (kind == AffineExprKind::Mod)
    return lhs % rhs;
  return lhs.ceilDiv(rhs);
}

LaneIndex IndexEmitter::evaluate(AffineExpr expression) {
  for (auto &scope : llvm::reverse(memo))
    if (auto it = scope.find(expression); it != scope.end())
      return it->second;
  LaneIndex result = compute(expression);
  memo.back()[expression] = result;
  return result;
}

Value IndexEmitter::materialise(const LaneIndex &index) {
  if (index.lanes)
    return index.lanes;
  if (index.stride == 0)
    return index.base;
  auto type = VectorType::get({lanes}, b.getI64Type());
  SmallVector<int64_t> steps;
  for (int64_t i = 0; i < lanes; ++i)
    steps.push_back(i * index.stride);
  Value offsets = b.create<arith::ConstantOp>(loc, DenseIntElementsAttr::get(type, steps));
  Value base = b.create<vector::SplatOp>(loc, type, index.base);
  return b.create<arith::AddIOp>(loc, base, offsets);
}

/// True if all lanes of `expression`, which advances by 1 a lane, share the quotient by `divisor`.
bool IndexEmitter::lanesStayTogether(AffineExpr expression, int64_t divisor) {
  if (divisor % lanes != 0)
    return false;
  // The vector's loop variable is a multiple of the width.
  AffineExpr v = getAffineDimExpr(vectorDimension, b.getContext());
  AffineExpr scaled = expression.replace(v, v * lanes);
  return scaled.isMultipleOf(lanes);
}

LaneIndex IndexEmitter::divide(AffineBinaryOpExpr expression) {
  bool isMod = expression.getKind() == AffineExprKind::Mod;
  int64_t divisor = cast<AffineConstantExpr>(expression.getRHS()).getValue();
  LaneIndex lhs = evaluate(expression.getLHS());
  auto bounds = range(expression.getLHS());
  bool nonNegative = bounds && bounds->first >= 0;
  auto emit = [&](Value x) -> Value {
    Type type = x.getType();
    Value n = constant(divisor);
    if (isa<VectorType>(type))
      n = b.create<vector::SplatOp>(loc, type, n);
    if (nonNegative)
      return isMod ? Value(b.create<arith::RemUIOp>(loc, x, n)) : Value(b.create<arith::DivUIOp>(loc, x, n));
    Value quotient = b.create<arith::FloorDivSIOp>(loc, x, n);
    if (!isMod)
      return quotient;
    return b.create<arith::SubIOp>(loc, x, b.create<arith::MulIOp>(loc, quotient, n));
  };
  if (lhs.isUniform())
    return {emit(lhs.base), 0, nullptr};
  if (!lhs.lanes && lhs.stride == 1 && lanesStayTogether(expression.getLHS(), divisor))
    return {emit(lhs.base), isMod ? 1 : 0, nullptr};
  return {nullptr, 0, emit(materialise(lhs))};
}

LaneIndex IndexEmitter::compute(AffineExpr expression) {
  if (auto value = dyn_cast<AffineConstantExpr>(expression))
    return {constant(value.getValue()), 0, nullptr};
  if (auto dim = dyn_cast<AffineDimExpr>(expression)) {
    unsigned i = dim.getPosition();
    return {dims[i].base, i == vectorDimension && lanes > 1 ? 1 : 0, nullptr};
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression)) {
    Value value = symbols[symbol.getPosition()].value;
    if (isa<VectorType>(value.getType()))
      return {nullptr, 0, value};
    return {value, 0, nullptr};
  }
  auto binary = cast<AffineBinaryOpExpr>(expression);
  if (expression.getKind() == AffineExprKind::FloorDiv || expression.getKind() == AffineExprKind::Mod)
    return divide(binary);
  LaneIndex lhs = evaluate(binary.getLHS()), rhs = evaluate(binary.getRHS());
  if (expression.getKind() == AffineExprKind::Add) {
    if (!lhs.lanes && !rhs.lanes)
      return {b.create<arith::AddIOp>(loc, lhs.base, rhs.base), lhs.stride + rhs.stride, nullptr};
    auto asVector = [&](const LaneIndex &x) -> Value {
      Value v = materialise(x);
      return isa<VectorType>(v.getType())
                 ? v
                 : b.create<vector::SplatOp>(loc, VectorType::get({lanes}, b.getI64Type()), v);
    };
    return {nullptr, 0, b.create<arith::AddIOp>(loc, asVector(lhs), asVector(rhs))};
  }
  // Affine: one factor is a constant.
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  LaneIndex other = lhs;
  if (!factor) {
    factor = cast<AffineConstantExpr>(binary.getLHS());
    other = rhs;
  }
  int64_t c = factor.getValue();
  Value scale = constant(c);
  if (!other.lanes)
    return {b.create<arith::MulIOp>(loc, other.base, scale), other.stride * c, nullptr};
  scale = b.create<vector::SplatOp>(loc, other.lanes.getType(), scale);
  return {nullptr, 0, b.create<arith::MulIOp>(loc, other.lanes, scale)};
}

Value IndexEmitter::inRange(AffineExpr expression, int64_t low, int64_t high) {
  expression = simplify(expression);
  auto bounds = range(expression);
  bool aboveLow = bounds && bounds->first >= low, belowHigh = bounds && bounds->second < high;
  if (aboveLow && belowHigh)
    return nullptr;
  Value x = materialise(evaluate(expression));
  auto limit = [&](int64_t n) -> Value {
    Value c = constant(n);
    return isa<VectorType>(x.getType()) ? Value(b.create<vector::SplatOp>(loc, x.getType(), c)) : c;
  };
  Value result;
  if (!aboveLow)
    result = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, x, limit(low));
  if (!belowHigh) {
    Value below = b.create<arith::CmpIOp>(loc, arith::CmpIPredicate::slt, x, limit(high));
    result = result ? Value(b.create<arith::AndIOp>(loc, result, below)) : below;
  }
  return result;
}
