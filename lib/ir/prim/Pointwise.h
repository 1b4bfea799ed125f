// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the rules of pointwise ops share; included by the families' sources only.
#ifndef ACCC_IR_PRIM_POINTWISE_H
#define ACCC_IR_PRIM_POINTWISE_H

#include "ir/interfaces/ReferenceValues.h"
#include "ir/prim/Tensor.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

namespace accc::prim {

// ---- differentiate ----

/// dy * derivative, and 0 where dy is 0 even if the derivative is infinite or NaN there: the
/// cotangent of an element that a select dropped must not poison the step (sqrt at 0, log at 0,
/// overflowed exp).
inline Tensor chain(Tensor dy, Tensor derivative) {
  return select(equal(dy, 0.0), 0.0, dy * derivative);
}

/// Adds rule(dy, x, y), the cotangent of x for y = op(x).
template <typename Op, typename Rule>
mlir::LogicalResult differentiateUnary(Op op, Gradients &gradients, Rule rule) {
  mlir::Value operand = op.getOperand(), result = op.getResult();
  if (!gradients.wants(operand))
    return mlir::success();
  Tensor x(gradients.builder(), op.getLoc(), operand);
  gradients.add(operand, rule(x.wrap(gradients.of(result)), x, x.wrap(result)));
  return mlir::success();
}

/// Adds rules (dy, a, b, y), the cotangents of a and b for y = op(a, b), where they are wanted.
template <typename Op, typename RuleA, typename RuleB>
mlir::LogicalResult differentiateBinary(Op op, Gradients &gradients, RuleA ruleA, RuleB ruleB) {
  Tensor a(gradients.builder(), op.getLoc(), op.getLhs());
  Tensor b = a.wrap(op.getRhs()), y = a.wrap(op.getResult());
  if (gradients.wants(a))
    gradients.add(a, ruleA(a.wrap(gradients.of(y)), a, b, y));
  if (gradients.wants(b))
    gradients.add(b, ruleB(a.wrap(gradients.of(y)), a, b, y));
  return mlir::success();
}

// ---- evaluate ----

/// f for every element, with the arrays' elements as doubles.
template <typename F>
mlir::LogicalResult evaluateEach(llvm::ArrayRef<ReferenceArray> operands,
                                 llvm::SmallVectorImpl<ReferenceArray> &results, F f) {
  ReferenceArray &result = results.emplace_back(operands[0].shape);
  for (size_t i = 0, e = result.values.size(); i < e; ++i) {
    if constexpr (std::is_invocable_v<F, double>)
      result.values[i] = f(operands[0].values[i]);
    else if constexpr (std::is_invocable_v<F, double, double>)
      result.values[i] = f(operands[0].values[i], operands[1].values[i]);
    else
      result.values[i] = f(operands[0].values[i], operands[1].values[i], operands[2].values[i]);
  }
  return mlir::success();
}

/// As evaluateEach, by `f` for floats and by `g` on two's complement (uint64_t) for integers and
/// booleans, of which the low bits are kept.
template <typename F, typename G>
mlir::LogicalResult evaluateNumbers(mlir::Type elementType, llvm::ArrayRef<ReferenceArray> operands,
                                    llvm::SmallVectorImpl<ReferenceArray> &results, F f, G g) {
  auto integer = mlir::dyn_cast<mlir::IntegerType>(elementType);
  if (!integer)
    return evaluateEach(operands, results, f);
  if constexpr (std::is_invocable_v<G, uint64_t>)
    return evaluateEach(operands, results,
                        [&](double a) { return wrapInteger(integer, g(integerBits(a))); });
  else
    return evaluateEach(operands, results, [&](double a, double b) {
      return wrapInteger(integer, g(integerBits(a), integerBits(b)));
    });
}

// ---- element rules ----

/// Builds scalar arithmetic on scalars or 1-D vectors alike. Integers are signless here.
struct ScalarBuilder {
  mlir::OpBuilder &builder;
  mlir::Location loc;

  template <typename Op, typename... Args> mlir::Value make(Args &&...args) const {
    return builder.create<Op>(loc, std::forward<Args>(args)...);
  }

  /// `value` in the type: a float, an integer, or a vector of such.
  mlir::Value number(mlir::Type type, double value) const {
    mlir::Type element = mlir::getElementTypeOrSelf(type);
    if (mlir::isa<mlir::FloatType>(element))
      return constant(type, builder.getFloatAttr(element, value));
    return integer(type,
                   llvm::APInt(element.getIntOrFloatBitWidth(),
                               static_cast<uint64_t>(static_cast<int64_t>(value)), value < 0));
  }
  mlir::Value integer(mlir::Type type, const llvm::APInt &value) const {
    return constant(type, builder.getIntegerAttr(mlir::getElementTypeOrSelf(type), value));
  }
  mlir::Value constant(mlir::Type type, mlir::TypedAttr value) const {
    if (auto shaped = mlir::dyn_cast<mlir::ShapedType>(type))
      value = mlir::DenseElementsAttr::get(shaped, value);
    return make<mlir::arith::ConstantOp>(value);
  }

  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value a, mlir::Value b) const {
    return make<mlir::arith::CmpFOp>(predicate, a, b);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate predicate, mlir::Value a, mlir::Value b) const {
    return make<mlir::arith::CmpIOp>(predicate, a, b);
  }
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b) const {
    return make<mlir::arith::SelectOp>(condition, a, b);
  }
};

/// The scalar or vector type like `type` with another element type.
inline mlir::Type withElement(mlir::Type type, mlir::Type element) {
  if (auto shaped = mlir::dyn_cast<mlir::ShapedType>(type))
    return shaped.clone(element);
  return element;
}

/// The type by which kernels represent elements: integers without a sign.
inline mlir::Type signless(mlir::Type element) {
  if (auto integer = mlir::dyn_cast<mlir::IntegerType>(element))
    return mlir::IntegerType::get(element.getContext(), integer.getWidth());
  return element;
}

} // namespace accc::prim

#endif
