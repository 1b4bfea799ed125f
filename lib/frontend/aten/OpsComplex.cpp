// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Complex numbers and their parts.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Parts.h"
#include "frontend/aten/Promotion.h"
#include "frontend/common/Gradient.h"

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
  node.lay(node.layoutOf(pairs).asComplex());
  return {Complex::ofPairs(pairs).value(node)};
}

Entities viewAsReal(Node &node) {
  if (!node.isComplex("self"))
    fail("the argument 'self' must be a tensor of complex numbers");
  Tensor pairs = node.complexIn("self").pairs();
  node.lay(node.layoutOf(pairs.shape().drop_back()).asPairs());
  return {pairs};
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

/// The real part (0) or the imaginary one (1), which lie side by side. The other one has a gradient
/// of zeros.
Entities partOf(Node &node, int64_t index) {
  Complex x = node.complexIn("self");
  Tensor part = x.real, other = x.imaginaryOrZero();
  if (index == 1)
    std::swap(part, other);
  node.lay(node.layoutOf(part).asPairs().selected(part.rank(), index));
  return {zeroDependence(part, other)};
}
Entities identity(Node &node) {
  Tensor x = node.in("self");
  node.lay(node.layoutOf(x));
  return {x};
}
Entities realPart(Node &node) { return node.isComplex("self") ? partOf(node, 0) : itself(node); }
Entities imaginaryPart(Node &node) {
  if (!node.isComplex("self"))
    fail("the argument 'self' must be a tensor of complex numbers");
  return partOf(node, 1);
}
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
      {"conj(self)", orComplex<itself, conjugate>, View},
      {"_conj(self)", orComplex<identity, conjugate>, View},
      {"_conj_copy(self)", orComplex<identity, conjugate>},
      {"conj_physical(self)", orComplex<identity, conjugate>},
      {"_conj_physical(self)", orComplex<identity, conjugate>},
      // What PyTorch marks as conjugate or negative is so here.
      {"resolve_conj(self)", byParts<itself>, View},
      {"resolve_neg(self)", byParts<itself>, View},
      {"_neg_view(self)", byParts<negated>, View},
      {"_neg_view_copy(self)", byParts<negated>},
  };
  return rows;
}
