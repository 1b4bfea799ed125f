// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Complex numbers and their parts.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Parts.h"
#include "frontend/aten/Promotion.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

Entities viewAsComplex(Node &node) {
  Tensor pairs = node.floatIn("self");
  if (pairs.rank() == 0 || pairs.dim(-1) != 2)
    fail("the last dimension must hold a real and an imaginary part, but the shape is " +
         show(pairs.shape()));
  return {Complex::ofPairs(pairs).value(node)};
}

Entities viewAsReal(Node &node) {
  if (!node.isComplex("self"))
    fail("the argument 'self' must be a tensor of complex numbers");
  return {node.complexIn("self").pairs()};
}

/// Complex numbers of two arguments in one shape.
Entities complex(Node &node) {
  auto [real, imaginary] = operands(node, "real", "imag");
  return {Complex(real, imaginary).value(node)};
}
Entities polarForm(Node &node) {
  auto [magnitude, angle] = operands(node, "abs", "angle");
  return {polar(magnitude, angle).value(node)};
}

Entities realPart(Node &node) { return {node.complexIn("self").real}; }
Entities imaginaryPart(Node &node) {
  if (!node.isComplex("self"))
    fail("the argument 'self' must be a tensor of complex numbers");
  return {*node.complexIn("self").imaginary};
}
Entities identity(Node &node) { return {node.in("self")}; }
Entities phaseOfReal(Node &node) { return {phase(Complex(asFloat(node, node.in("self"))))}; }
Entities negated(Node &node) { return {-node.in("self")}; }

} // namespace

ArrayRef<OpRow> accc::aten::complexOps() {
  using enum Alias;
  static const OpRow rows[] = {
      {"view_as_complex(self)", viewAsComplex, View},
      {"view_as_complex_copy(self)", viewAsComplex},
      {"view_as_real(self)", viewAsReal, View},
      {"view_as_real_copy(self)", viewAsReal},
      {"complex(real, imag)", complex},
      {"polar(abs, angle)", polarForm},
      {"real(self)", realPart, View},
      {"imag(self)", imaginaryPart, View},
      {"angle(self)", orComplex<phaseOfReal, phase>},
      {"conj(self)", orComplex<identity, conjugate>, View},
      {"_conj(self)", orComplex<identity, conjugate>, View},
      {"_conj_copy(self)", orComplex<identity, conjugate>},
      {"conj_physical(self)", orComplex<identity, conjugate>},
      {"_conj_physical(self)", orComplex<identity, conjugate>},
      // What PyTorch marks as conjugate or negative is so here.
      {"resolve_conj(self)", byParts<identity>, View},
      {"resolve_neg(self)", byParts<identity>, View},
      {"_neg_view(self)", byParts<negated>, View},
      {"_neg_view_copy(self)", byParts<negated>},
  };
  return rows;
}
