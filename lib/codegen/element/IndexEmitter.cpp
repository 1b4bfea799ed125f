// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/element/IndexEmitter.h"

#include "ir/prim/IndexRanges.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/AffineExprVisitor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

IndexEmitter::IndexEmitter(OpBuilder &builder, Location loc, unsigned numDims)
    : b(builder), loc(loc), dims(numDims), dimExtents(numDims, 0) {
  memo.emplace_back();
}

AffineExpr IndexEmitter::dim(unsigned i) const { return getAffineDimExpr(i, b.getContext()); }

void IndexEmitter::setDim(unsigned i, Value base, int64_t extent) {
  dims[i] = base;
  dimExtents[i] = extent;
}

void IndexEmitter::setVector(unsigned dim, int64_t width, AffineExpr multiple) {
  vectorDimension = dim;
  lanes = width;
  knownMultiple = multiple;
}

AffineExpr IndexEmitter::addSymbol(Value value, int64_t bound) {
  symbols.push_back(value);
  symbolBounds.push_back(bound);
  return getAffineSymbolExpr(static_cast<unsigned>(symbols.size() - 1), b.getContext());
}

Value IndexEmitter::constant(int64_t value) {
  return b.create<arith::ConstantIntOp>(loc, value, 64);
}

std::optional<std::pair<int64_t, int64_t>> IndexEmitter::range(AffineExpr expression) {
  return prim::indexRange(expression, {dimExtents, symbolBounds});
}

AffineExpr IndexEmitter::simplify(AffineExpr expression) {
  return prim::simplifyIndex(expression, {dimExtents, symbolBounds});
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

/// An expression of which the same divisors are known as of this one in the first lane.
AffineExpr IndexEmitter::inFirstLane(AffineExpr expression) const {
  if (knownMultiple)
    return expression;
  // The vector's loop variable is a multiple of the width.
  AffineExpr v = getAffineDimExpr(vectorDimension, b.getContext());
  return expression.replace(v, v * lanes);
}

std::optional<SmallVector<int64_t>> IndexEmitter::lanesApart(AffineExpr expression) const {
  bool differs = knownMultiple || lanes == 1;
  expression.walk([&](AffineExpr e) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
      differs |= isa<VectorType>(symbols[symbol.getPosition()].getType());
  });
  if (differs)
    return std::nullopt;
  AffineExpr v = getAffineDimExpr(vectorDimension, b.getContext());
  SmallVector<int64_t> apart;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    AffineExpr there = expression.replace(v, v * lanes + lane);
    auto distance = dyn_cast<AffineConstantExpr>(
        simplifyAffineExpr(there - expression.replace(v, v * lanes), numDims(),
                           static_cast<unsigned>(symbols.size())));
    if (!distance)
      return std::nullopt;
    apart.push_back(distance.getValue());
  }
  return apart;
}

Value IndexEmitter::inFirst(AffineExpr expression) {
  int64_t width = std::exchange(lanes, 1);
  std::vector<Indices> ofLanes(1);
  memo.swap(ofLanes);
  Value value = evaluate(expression).base;
  memo.swap(ofLanes);
  lanes = width;
  return value;
}

bool IndexEmitter::startsAtMultipleOf(AffineExpr expression, int64_t n) const {
  if (prim::isMultipleOf(inFirstLane(expression), n))
    return true;
  if (!knownMultiple || lanes % n != 0)
    return false;
  AffineExpr rest = simplifyAffineExpr(expression - knownMultiple, numDims(),
                                       static_cast<unsigned>(symbols.size()));
  return prim::isMultipleOf(rest, n);
}

/// True if all lanes of `expression`, which advances by 1 a lane, share the quotient by `divisor`.
bool IndexEmitter::lanesStayTogether(AffineExpr expression, int64_t divisor) {
  return divisor % lanes == 0 && startsAtMultipleOf(expression, lanes);
}

/// True if `expression`, whose lanes are `at`, is less than `bound` for all lanes or for none.
bool IndexEmitter::lanesAgree(AffineExpr expression, const LaneIndex &at, int64_t bound) {
  if (at.lanes || at.stride != 1)
    return at.isUniform();
  return prim::isMultipleOf(inFirstLane(expression) - bound, lanes);
}

/// `x` (i64 or a vector of these) in [0, bound) and the divisor in the type to divide them in.
std::pair<Value, Value> IndexEmitter::unsignedOperands(Value x, int64_t divisor, int64_t bound) {
  bool isShift = llvm::isPowerOf2_64(static_cast<uint64_t>(divisor));
  bool isShort = (isShift ? shortArithmetic : shortDivisions) &&
                 std::max(bound, divisor) <= std::numeric_limits<int32_t>::max();
  Type scalar = isShort ? b.getI32Type() : b.getI64Type(), type = scalar;
  Value n = b.create<arith::ConstantIntOp>(loc, divisor, scalar);
  if (auto vector = dyn_cast<VectorType>(x.getType())) {
    type = vector.clone(scalar);
    n = b.create<vector::SplatOp>(loc, type, n);
  }
  return {isShort ? b.create<arith::TruncIOp>(loc, type, x) : x, n};
}

template <typename Op>
Value IndexEmitter::divideUnsigned(std::pair<Value, Value> operands, Type type) {
  Value result = b.create<Op>(loc, operands.first, operands.second);
  return result.getType() == type ? result : b.create<arith::ExtUIOp>(loc, type, result);
}

std::pair<Value, Value> IndexEmitter::divide(Value x, int64_t divisor, int64_t bound) {
  auto operands = unsignedOperands(x, divisor, bound);
  Value remainder = divideUnsigned<arith::RemUIOp>(operands, x.getType());
  return {divideUnsigned<arith::DivUIOp>(operands, x.getType()), remainder};
}

LaneIndex IndexEmitter::divide(AffineBinaryOpExpr expression) {
  bool isMod = expression.getKind() == AffineExprKind::Mod;
  int64_t divisor = cast<AffineConstantExpr>(expression.getRHS()).getValue();
  LaneIndex lhs = evaluate(expression.getLHS());
  auto bounds = range(expression.getLHS());
  bool nonNegative = bounds && bounds->first >= 0;
  auto emit = [&](Value x) -> Value {
    Type type = x.getType();
    if (nonNegative) {
      auto operands = unsignedOperands(x, divisor, bounds->second + 1);
      return isMod ? divideUnsigned<arith::RemUIOp>(operands, type)
                   : divideUnsigned<arith::DivUIOp>(operands, type);
    }
    Value n = constant(divisor);
    if (isa<VectorType>(type))
      n = b.create<vector::SplatOp>(loc, type, n);
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

/// Whether every value of the expression fits 32 bits, and these are to be used.
bool IndexEmitter::fits32Bits(AffineExpr expression) {
  using Limits = std::numeric_limits<int32_t>;
  if (!shortArithmetic)
    return false;
  auto bounds = range(expression);
  return bounds && bounds->first >= Limits::min() && bounds->second <= Limits::max();
}

/// `x` op `y`; in 32 bits, if both and the result are known to fit.
template <typename Op> Value IndexEmitter::combine(Value x, Value y, bool isShort) {
  if (!isShort)
    return b.create<Op>(loc, x, y);
  auto narrow = [&](Value v) -> Value { return b.create<arith::TruncIOp>(loc, b.getI32Type(), v); };
  Value result = b.create<Op>(loc, narrow(x), narrow(y));
  return b.create<arith::ExtSIOp>(loc, b.getI64Type(), result);
}

LaneIndex IndexEmitter::compute(AffineExpr expression) {
  if (auto value = dyn_cast<AffineConstantExpr>(expression))
    return {constant(value.getValue()), 0, nullptr};
  if (auto dim = dyn_cast<AffineDimExpr>(expression)) {
    unsigned i = dim.getPosition();
    return {dims[i], i == vectorDimension && lanes > 1 ? 1 : 0, nullptr};
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expression)) {
    Value value = symbols[symbol.getPosition()];
    if (isa<VectorType>(value.getType()))
      return {nullptr, 0, value};
    return {value, 0, nullptr};
  }
  auto binary = cast<AffineBinaryOpExpr>(expression);
  if (expression.getKind() == AffineExprKind::FloorDiv ||
      expression.getKind() == AffineExprKind::Mod)
    return divide(binary);
  LaneIndex lhs = evaluate(binary.getLHS()), rhs = evaluate(binary.getRHS());
  bool isShort =
      fits32Bits(expression) && fits32Bits(binary.getLHS()) && fits32Bits(binary.getRHS());
  if (expression.getKind() == AffineExprKind::Add) {
    if (!lhs.lanes && !rhs.lanes)
      return {combine<arith::AddIOp>(lhs.base, rhs.base, isShort), lhs.stride + rhs.stride,
              nullptr};
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
    return {combine<arith::MulIOp>(other.base, scale, isShort), other.stride * c, nullptr};
  scale = b.create<vector::SplatOp>(loc, other.lanes.getType(), scale);
  return {nullptr, 0, b.create<arith::MulIOp>(loc, other.lanes, scale)};
}

Value IndexEmitter::inRange(AffineExpr expression, int64_t low, int64_t high) {
  expression = simplify(expression);
  auto bounds = range(expression);
  bool aboveLow = bounds && bounds->first >= low, belowHigh = bounds && bounds->second < high;
  if (aboveLow && belowHigh)
    return nullptr;
  LaneIndex at = evaluate(expression);
  bool together = (aboveLow || lanesAgree(expression, at, low)) &&
                  (belowHigh || lanesAgree(expression, at, high));
  Value x = together ? at.base : materialise(at);
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
