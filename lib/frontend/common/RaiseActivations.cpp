// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Activations, and logarithms that overflow as they are written.
#include "frontend/common/Match.h"
#include "frontend/common/Raise.h"
#include "ir/prim/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using accc::prim::Tensor;

namespace {

/// The operand of a unary op of the given kind, or null.
template <typename Op> Value operandOf(Value value) {
  auto op = value.getDefiningOp<Op>();
  return op ? op->getOperand(0) : Value();
}

// ---- gelu ----

/// f = 1 + erf(x / sqrt 2)
bool isErfGate(Value f, Value x) {
  Value erf = match::plus(f, 1.0);
  Value inner = erf ? operandOf<prim::ErfOp>(erf) : Value();
  if (!inner)
    return false;
  match::Product scaled = match::product(inner);
  return match::isAbout(scaled.coefficient, M_SQRT1_2) && ArrayRef(scaled.factors) == ArrayRef({x});
}

/// v = 0.044715 x^3
bool isCube(Value v, Value x) {
  match::Product cube = match::product(v);
  if (!match::isAbout(cube.coefficient, 0.044715))
    return false;
  if (cube.factors.size() == 3)
    return llvm::all_equal(cube.factors) && cube.factors.front() == x;
  if (cube.factors.size() != 1)
    return false;
  auto pow = cube.factors.front().getDefiningOp<prim::PowOp>();
  return pow && pow.getLhs() == x && match::isAbout(match::number(pow.getRhs()), 3.0);
}

/// f = 1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))
bool isTanhGate(Value f, Value x) {
  Value tanh = match::plus(f, 1.0);
  Value inner = tanh ? operandOf<prim::TanhOp>(tanh) : Value();
  if (!inner)
    return false;
  match::Product scaled = match::product(inner);
  if (!match::isAbout(scaled.coefficient, std::sqrt(M_2_PI)) || scaled.factors.size() != 1)
    return false;
  auto sum =
      match::either<prim::AddOp>(scaled.factors.front(), [&](Value side) { return side == x; });
  return sum && isCube(sum->second, x);
}

/// x / 2 times one of the gates, in any order of the three factors.
Value raiseGelu(Operation *op, OpBuilder &builder) {
  if (!isa<prim::MulOp, prim::DivOp>(op))
    return Value();
  match::Product whole = match::product(op->getResult(0));
  if (!match::isAbout(whole.coefficient, 0.5) || whole.factors.size() != 2)
    return Value();
  for (auto [x, gate] : {std::make_pair(whole.factors[0], whole.factors[1]),
                         std::make_pair(whole.factors[1], whole.factors[0])}) {
    if (isErfGate(gate, x))
      return builder.create<nn::GeluOp>(op->getLoc(), x, nn::GeluForm::erf);
    if (isTanhGate(gate, x))
      return builder.create<nn::GeluOp>(op->getLoc(), x, nn::GeluForm::tanh);
  }
  return Value();
}

// ---- x times a gate of x ----

Value raiseSilu(Operation *op, OpBuilder &builder) {
  if (!isa<prim::MulOp>(op))
    return Value();
  auto gated = match::either<prim::MulOp>(
      op->getResult(0), [](Value side) { return !!side.getDefiningOp<prim::LogisticOp>(); });
  if (!gated || operandOf<prim::LogisticOp>(gated->first) != gated->second)
    return Value();
  return builder.create<nn::SiluOp>(op->getLoc(), gated->second);
}

Value raiseHardSwish(Operation *op, OpBuilder &builder) {
  if (!isa<prim::MulOp>(op))
    return Value();
  auto gated = match::either<prim::MulOp>(op->getResult(0), [](Value side) {
    auto gate = side.getDefiningOp<nn::HardSigmoidOp>();
    return gate && match::isAbout(gate.getAlpha(), 1.0 / 6) && match::isAbout(gate.getBeta(), 0.5);
  });
  if (!gated || operandOf<nn::HardSigmoidOp>(gated->first) != gated->second)
    return Value();
  return builder.create<nn::HardSwishOp>(op->getLoc(), gated->second);
}

/// clamp(x + 3, 0, 6) / 6
Value raiseHardSigmoid(Operation *op, OpBuilder &builder) {
  if (!isa<prim::MulOp, prim::DivOp>(op))
    return Value();
  match::Product scaled = match::product(op->getResult(0));
  if (!match::isAbout(scaled.coefficient, 1.0 / 6) || scaled.factors.size() != 1)
    return Value();
  auto clamp = scaled.factors.front().getDefiningOp<nn::ClampOp>();
  if (!clamp || clamp.getMin() != 0.0 || clamp.getMax() != 6.0)
    return Value();
  Value x = match::plus(clamp.getX(), 3.0);
  return x ? builder.create<nn::HardSigmoidOp>(op->getLoc(), x, 1.0 / 6, 0.5) : Value();
}

// ---- logarithms ----

/// log(logistic(x)) = -softplus(-x) and log(1 - logistic(x)) = -softplus(x), which neither overflow
/// nor give -inf: how exporters write binary cross entropy with logits. Likewise log(softmax(x)),
/// log(1 + e^x).
Value raiseLog(Operation *op, OpBuilder &builder) {
  if (!isa<prim::LogOp, prim::Log1pOp>(op))
    return Value();
  Value inner = op->getOperand(0);
  Location loc = op->getLoc();
  auto softplus = [&](Value x) { return builder.create<nn::SoftplusOp>(loc, x).getResult(); };
  if (isa<prim::Log1pOp>(op)) {
    Value x = operandOf<prim::ExpOp>(inner);
    return x ? softplus(x) : Value();
  }
  if (Value x = operandOf<prim::LogisticOp>(inner))
    return -Tensor(builder, loc, softplus(-Tensor(builder, loc, x)));
  if (auto softmax = inner.getDefiningOp<nn::SoftmaxOp>())
    return builder.create<nn::LogSoftmaxOp>(loc, softmax.getX(), softmax.getDimension());
  if (auto difference = inner.getDefiningOp<prim::SubOp>()) {
    Value x = operandOf<prim::LogisticOp>(difference.getRhs());
    if (x && match::isAbout(match::number(difference.getLhs()), 1.0))
      return -Tensor(builder, loc, softplus(x));
  }
  if (Value rest = match::plus(inner, 1.0))
    if (Value x = operandOf<prim::ExpOp>(rest))
      return softplus(x);
  return Value();
}

/// The guard against rows without anything to look at: nn.softmax gives 0 there itself.
Value raiseGuardedSoftmax(Operation *op, OpBuilder &) {
  auto select = dyn_cast<prim::SelectOp>(op);
  if (!select || !select.getOnFalse().getDefiningOp<nn::SoftmaxOp>())
    return Value();
  auto isNan = select.getPredicate().getDefiningOp<prim::CompareOp>();
  bool guards = isNan && isNan.getDirection() == prim::Direction::ne &&
                isNan.getLhs() == select.getOnFalse() && isNan.getRhs() == select.getOnFalse() &&
                match::number(select.getOnTrue()) == 0.0;
  return guards ? select.getOnFalse() : Value();
}

} // namespace

ArrayRef<RaiseRule> accc::raiseActivations() {
  static const RaiseRule rules[] = {raiseGelu,        raiseSilu, raiseHardSwish,
                                    raiseHardSigmoid, raiseLog,  raiseGuardedSoftmax};
  return rules;
}
