// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparison, choice and bits.
#include "frontend/onnx/OpTable.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

Tensor less(Tensor a, Tensor b) { return a < b; }
Tensor lessOrEqual(Tensor a, Tensor b) { return a <= b; }
Tensor greater(Tensor a, Tensor b) { return a > b; }
Tensor greaterOrEqual(Tensor a, Tensor b) { return a >= b; }

template <Tensor (*Operator)(Tensor, Tensor)> Entities compare(Node &node) {
  auto [a, b] = node.operandsInOneShape();
  return {Operator(a, b)};
}

template <typename Op> Entities bits(Node &node) {
  auto [a, b] = node.operandsInOneShape();
  if (isa<FloatType>(a.elementType()))
    fail("the operands must be integers or booleans");
  return {node.make<Op>({a, b})};
}

Entities complement(Node &node) {
  Tensor x = node.in(0);
  if (isa<FloatType>(x.elementType()))
    fail("the operand must be integers or booleans");
  return {prim::logicalNot(x)};
}

Entities where(Node &node) {
  Tensor condition = node.in(0), x = node.in(1), y = node.in(2);
  if (!condition.elementType().isInteger(1))
    fail("the condition must be booleans");
  if (x.elementType() != y.elementType())
    fail("the two choices have different element types");
  auto [a, b] = node.broadcast(x, y);
  auto [c, first] = node.broadcast(condition, a);
  auto [second, unused] = node.broadcast(b, c);
  return {prim::select(c, first, second)};
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::logicOps() {
  static const OpRow rows[] = {
      {"Equal", compare<prim::equal>},
      {"Less", compare<less>},
      {"LessOrEqual", compare<lessOrEqual>},
      {"Greater", compare<greater>},
      {"GreaterOrEqual", compare<greaterOrEqual>},
      {"And", bits<prim::AndOp>},
      {"Or", bits<prim::OrOp>},
      {"Xor", bits<prim::XorOp>},
      {"Not", complement},
      {"BitwiseAnd", bits<prim::AndOp>},
      {"BitwiseOr", bits<prim::OrOp>},
      {"BitwiseXor", bits<prim::XorOp>},
      {"BitwiseNot", complement},
      {"Where", where},
  };
  return rows;
}
