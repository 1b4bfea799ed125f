// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons, logic, bits.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Parts.h"
#include "frontend/aten/Promotion.h"
#include "frontend/common/Indexing.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

Tensor less(Tensor a, Tensor b) { return a < b; }
Tensor lessEqual(Tensor a, Tensor b) { return a <= b; }
Tensor greater(Tensor a, Tensor b) { return a > b; }
Tensor greaterEqual(Tensor a, Tensor b) { return a >= b; }

template <Tensor (*Operator)(Tensor, Tensor)> Entities compare(Node &node) {
  auto [a, b] = operands(node, "self", "other");
  return {Operator(a, b)};
}

/// A rule for reals, of both parts of complex numbers.
template <Rule rule, Tensor (*join)(Tensor, Tensor)> Entities ofBoth(Node &node) {
  if (!node.hasComplex())
    return rule(node);
  Complex parts = Complex::ofValue(node, byParts(node, rule, {"self", "other"}).front().tensor);
  return {join(parts.real, *parts.imaginary)};
}

Tensor asBoolean(Tensor x) { return x.elementType().isInteger(1) ? x : prim::notEqual(x, 0.0); }

template <Tensor (*Operator)(Tensor, Tensor)> Entities logical(Node &node) {
  node.leaveGradient();
  auto [a, b] = node.broadcast(asBoolean(node.in("self")), asBoolean(node.in("other")));
  return {Operator(a, b)};
}
Entities logicalNot(Node &node) {
  node.leaveGradient();
  return {prim::logicalNot(asBoolean(node.in("self")))};
}

template <typename Op> Entities bits(Node &node) {
  auto [a, b] = operands(node, "self", "other");
  return {node.make<Op>({a, b})};
}
Entities bitwiseNot(Node &node) {
  Tensor x = node.in("self");
  if (x.elementType().isInteger(1))
    return {prim::logicalNot(x)};
  return {-x - 1.0}; // of two's complement
}

/// Whether an element is among others.
Entities isIn(Node &node) {
  StringRef left = node.isTensor("elements") ? "elements" : "element";
  StringRef right = node.isTensor("test_elements") ? "test_elements" : "test_element";
  Type type = resultType(node, {left, right});
  Tensor x = asTensor(node, left, type), others = flat(asTensor(node, right, type));
  SmallVector<int64_t> shape(x.shape());
  shape.push_back(others.size());
  Tensor hits =
      prim::equal(x.broadcastAlong(shape, {x.rank()}), others.broadcast(shape, {x.rank()}));
  Tensor count = prim::sum(hits.convert(node.builder().getI64Type()), {x.rank()});
  return {node.boolean("invert") ? prim::equal(count, 0.0) : prim::notEqual(count, 0.0)};
}

} // namespace

ArrayRef<OpRow> accc::aten::compareOps() {
  static const OpRow rows[] = {
      {"eq(self, other)", ofBoth<compare<prim::equal>, prim::bitAnd>},
      {"ne(self, other)", ofBoth<compare<prim::notEqual>, prim::bitOr>},
      {"lt(self, other)", compare<less>},
      {"le(self, other)", compare<lessEqual>},
      {"gt(self, other)", compare<greater>},
      {"ge(self, other)", compare<greaterEqual>},
      {"not_equal(self, other)", ofBoth<compare<prim::notEqual>, prim::bitOr>},
      {"less(self, other)", compare<less>},
      {"less_equal(self, other)", compare<lessEqual>},
      {"greater(self, other)", compare<greater>},
      {"greater_equal(self, other)", compare<greaterEqual>},
      {"logical_and(self, other)", logical<prim::bitAnd>},
      {"logical_or(self, other)", logical<prim::bitOr>},
      {"logical_xor(self, other)", logical<prim::notEqual>},
      {"logical_not(self)", logicalNot},
      {"bitwise_and(self, other)", bits<prim::AndOp>},
      {"bitwise_or(self, other)", bits<prim::OrOp>},
      {"bitwise_xor(self, other)", bits<prim::XorOp>},
      {"__and__(self, other)", bits<prim::AndOp>},
      {"__or__(self, other)", bits<prim::OrOp>},
      {"__xor__(self, other)", bits<prim::XorOp>},
      {"bitwise_left_shift(self, other)", bits<prim::ShiftLeftOp>},
      {"bitwise_right_shift(self, other)", bits<prim::ShiftRightOp>},
      {"__lshift__(self, other)", bits<prim::ShiftLeftOp>},
      {"__rshift__(self, other)", bits<prim::ShiftRightOp>},
      {"bitwise_not(self)", bitwiseNot},
      {"isin.Tensor_Tensor(elements, test_elements, *, assume_unique=False, invert=False)", isIn},
      {"isin.Tensor_Scalar(elements, test_element, *, assume_unique=False, invert=False, "
       "test_elements=None)",
       isIn},
      {"isin.Scalar_Tensor(element, test_elements, *, assume_unique=False, invert=False, "
       "elements=None)",
       isIn},
  };
  return rows;
}
