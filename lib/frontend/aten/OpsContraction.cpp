// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products and determinants.
#include "frontend/aten/OpTable.h"
#include "frontend/aten/Parts.h"
#include "frontend/aten/Promotion.h"
#include "frontend/aten/SelectionRules.h"
#include "frontend/common/Determinant.h"
#include "frontend/common/Einsum.h"
#include "frontend/common/Gradient.h"
#include "ir/nn/Nn.h"

#include <limits>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

Entities matmul(Node &node) {
  return {frontend::matrixProduct(node, node.in("self"), node.in("other"))};
}
Entities mm(Node &node) {
  return {frontend::matrixProduct(node, node.in("self"), node.in("mat2"))};
}
Entities mv(Node &node) { return {frontend::matrixProduct(node, node.in("self"), node.in("vec"))}; }
Entities dot(Node &node) {
  return {frontend::matrixProduct(node, node.in("self"), node.in("tensor"))};
}

/// The first operand counts as its conjugate.
Entities conjugateDot(Node &node) {
  if (node.isComplex("self"))
    node.set("self", conjugate(node.complexIn("self")).value(node));
  return byProducts<matmul>(node);
}

/// A product of complex tensors, and `factor` times an argument.
Entities plusTerm(Node &node, const Entities &product, StringRef name, double factor) {
  Complex y = Complex::ofValue(node, product.front().tensor);
  Complex term = (node.complexIn(name) * factor).map([&](Tensor part) {
    return node.broadcastTo(part.convert(y.real.elementType()), y.real.shape());
  });
  return {(y + term).value(node)};
}

Entities linear(Node &node) {
  if (node.hasComplex()) {
    Node factors = node;
    factors.set("bias", NoValue());
    Entities y = byProducts(factors, linear);
    return node.has("bias") ? plusTerm(node, y, "bias", 1) : y;
  }
  Tensor x = node.floatIn("input"), w = node.floatIn("weight");
  if (w.rank() == 1) {
    Tensor y = frontend::matrixProduct(node, x, w);
    if (!node.has("bias"))
      return {y};
    auto [a, b] = node.broadcast(y, node.in("bias"));
    return {a + b};
  }
  Value bias = node.optional("bias");
  if (x.rank() == 1) {
    Tensor y = node.make<nn::LinearOp>({x.reshape({1, x.dim(0)}), w, bias},
                                       {node.flag("transpose_w", true)});
    return {y.reshape({y.dim(-1)})};
  }
  return {node.make<nn::LinearOp>({x, w, bias}, {node.flag("transpose_w", true)})};
}

/// beta self + alpha times a product of complex tensors, by the rule for reals.
Entities addComplexProduct(Node &node, Rule rule) {
  Node factors = node;
  factors.set("self", node.complexIn("self").real.get());
  factors.set("beta", int64_t(0));
  Entities y = byProducts(factors, rule);
  double beta = node.number("beta");
  return beta == 0 ? y : plusTerm(node, y, "self", beta);
}

/// alpha y + beta x, by the arguments of these names. If beta is 0, not even NaN is taken over, and
/// x has a gradient of zeros.
Tensor sumOfMultiples(const Node &node, Tensor y, Tensor x) {
  y = multiplied(node, y, "alpha");
  if (node.number("beta") == 0)
    return zeroDependence(y, x);
  return y + multiplied(node, node.broadcastTo(x, y.shape()), "beta");
}

/// beta self + alpha a b
Entities addProduct(Node &node, StringRef first, StringRef second) {
  Tensor a = node.in(first), b = node.in(second), c = node.in("self");
  bool isPlain = node.number("alpha") == 1 && node.number("beta") == 1;
  bool isBias = a.rank() == 2 && b.rank() == 2 && isPlain && c.rank() == 1 &&
                c.dim(0) == b.dim(1) && isa<FloatType>(a.elementType());
  if (isBias)
    return {node.make<nn::LinearOp>({a, b, c}, {node.flag("transpose_w", false)})};
  return {sumOfMultiples(node, frontend::matrixProduct(node, a, b), c)};
}
Entities addmm(Node &node) {
  return node.hasComplex() ? addComplexProduct(node, addmm) : addProduct(node, "mat1", "mat2");
}
Entities addmv(Node &node) {
  return node.hasComplex() ? addComplexProduct(node, addmv) : addProduct(node, "mat", "vec");
}
Entities baddbmm(Node &node) {
  return node.hasComplex() ? addComplexProduct(node, baddbmm)
                           : addProduct(node, "batch1", "batch2");
}

/// beta self + alpha times the sum of a batch of products.
Entities addbmm(Node &node) {
  if (node.hasComplex())
    return addComplexProduct(node, addbmm);
  Tensor y = prim::sum(frontend::matrixProduct(node, node.in("batch1"), node.in("batch2")), {0});
  return {sumOfMultiples(node, y, node.in("self"))};
}

/// Sums over pairs of dimensions.
Entities tensorDot(Node &node) {
  Tensor a = node.floatIn("self"), b = node.floatIn("other");
  SmallVector<int64_t> ofA = node.integers("dims_self"), ofB = node.integers("dims_other");
  if (ofA.size() != ofB.size())
    fail("dims_self and dims_other have different lengths");
  for (auto [i, j] : llvm::zip(ofA, ofB)) {
    i = node.axis(i, a.rank());
    j = node.axis(j, b.rank());
    // One element stands for as many as the other side has.
    auto summed = [](Tensor x, int64_t d) {
      SmallVector<int64_t> shape(x.shape());
      shape[d] = 1;
      return prim::sum(x, {d}).reshape(shape);
    };
    if (a.dim(i) != b.dim(j) && a.dim(i) == 1)
      b = summed(b, j);
    else if (a.dim(i) != b.dim(j) && b.dim(j) == 1)
      a = summed(a, i);
    else if (a.dim(i) != b.dim(j))
      fail("contracts dimensions of " + Twine(a.dim(i)) + " and " + Twine(b.dim(j)) + " elements");
  }
  node.axes(ofA, a.rank());
  node.axes(ofB, b.rank());
  return {prim::dotGeneral(a, b, {}, {}, ofA, ofB)};
}

/// Kronecker's product: every element of the first operand times all of the second.
Entities kronecker(Node &node) {
  Type type = resultType(node, {"self", "other"});
  Tensor a = node.in("self").convert(type), b = node.in("other").convert(type);
  int64_t rank = std::max(a.rank(), b.rank());
  SmallVector<int64_t> ofA, ofB, shape;
  for (int64_t d = -rank; d < 0; ++d) {
    int64_t outer = a.rank() + d < 0 ? 1 : a.dim(d), inner = b.rank() + d < 0 ? 1 : b.dim(d);
    ofA.append({outer, 1});
    ofB.append({1, inner});
    shape.push_back(outer * inner);
  }
  auto [x, y] = node.broadcast(a.reshape(ofA), b.reshape(ofB));
  return {(type.isInteger(1) ? prim::bitAnd(x, y) : x * y).reshape(shape)};
}

/// The last dimensions contracted.
Entities inner(Node &node) {
  if (node.in("self").rank() == 0 || node.in("other").rank() == 0) {
    auto [x, y] = operands(node, "self", "other");
    return {x.elementType().isInteger(1) ? prim::bitAnd(x, y) : x * y};
  }
  Tensor a = node.floatIn("self"), b = node.floatIn("other");
  if (a.dim(-1) != b.dim(-1))
    fail("contracts dimensions of " + Twine(a.dim(-1)) + " and " + Twine(b.dim(-1)) + " elements");
  return {prim::dotGeneral(a, b, {}, {}, {a.rank() - 1}, {b.rank() - 1})};
}

Tensor outerProduct(Tensor a, Tensor b) {
  if (a.rank() != 1 || b.rank() != 1)
    fail("the operands must be vectors");
  SmallVector<int64_t> shape = {a.dim(0), b.dim(0)};
  Tensor rows = a.broadcast(shape, {0}), columns = b.broadcast(shape, {1});
  return a.elementType().isInteger(1) ? prim::bitAnd(rows, columns) : rows * columns;
}
Entities outer(Node &node) {
  Type type = resultType(node, {"self", "vec2"});
  return {outerProduct(node.in("self").convert(type), node.in("vec2").convert(type))};
}
/// beta self + alpha times the outer product of two vectors.
Entities addr(Node &node) {
  if (node.hasComplex())
    return addComplexProduct(node, addr);
  Type type = resultType(node, {"self", "vec1", "vec2"});
  if (type.isInteger(1))
    fail("products of booleans are not supported");
  Tensor y = outerProduct(node.in("vec1").convert(type), node.in("vec2").convert(type));
  return {sumOfMultiples(node, y, node.in("self").convert(type))};
}

/// a[1] b[2] - a[2] b[1] and so on, along a dimension of three elements: without a name, the first
/// one.
Entities cross(Node &node) {
  Tensor self = node.in("self");
  int64_t dim = 0;
  if (node.has("dim"))
    dim = node.dim("dim", self);
  else
    while (dim < self.rank() && self.dim(dim) != 3)
      ++dim;
  auto [a, b] = operands(node, "self", "other");
  if (a.rank() != self.rank() || dim >= a.rank() || a.dim(dim) != 3)
    fail("tensors of shape " + show(self.shape()) + " and " + show(node.in("other").shape()) +
         " do not have three elements along one dimension");
  auto turned = [&](Tensor x, int64_t by) {
    return node.concatenate({x.sliceDim(dim, by, 3), x.sliceDim(dim, 0, by)}, dim);
  };
  return {turned(a, 1) * turned(b, 2) - turned(a, 2) * turned(b, 1)};
}

/// Whether an equation of one operand sums nothing.
bool onlyRearranges(StringRef equation) {
  auto [from, to] = equation.split("->");
  bool isImplicit = !equation.contains("->"); // then labels that stand once are kept
  return llvm::all_of(from, [&, from = from, to = to](char label) {
    return label == ' ' || label == '.' ||
           (isImplicit ? from.count(label) == 1 : to.contains(label));
  });
}

Entities sumOfProducts(Node &node) {
  SmallVector<Tensor> inputs = node.tensors("tensors");
  if (inputs.empty())
    fail("nothing to sum");
  Type type = inputs.front().elementType(); // PyTorch takes several where it sums no products
  for (Tensor x : inputs)
    type = promoteTypes(type, x.elementType());
  for (Tensor &x : inputs)
    x = x.convert(type);
  if (inputs.size() == 1 && onlyRearranges(node.string("equation")))
    node.share(Alias::View);
  return {einsum(node, node.string("equation"), inputs)};
}

/// y_o = sum_ij a_i W_oij b_j + bias_o
Entities bilinear(Node &node) {
  Tensor a = node.floatIn("input1"), b = node.floatIn("input2"), w = node.floatIn("weight");
  Tensor y = einsum(node, "...i,oij,...j->...o", {a, w, b});
  if (node.has("bias"))
    y = y + node.broadcastTo(node.in("bias"), y.shape());
  return {y};
}

/// What PyTorch makes a bilinear layer of: a product of three tensors, each with extents of 1 put
/// in, summed.
Entities trilinear(Node &node) {
  SmallVector<Tensor> factors;
  for (auto [name, places] : {std::pair("i1", "expand1"), {"i2", "expand2"}, {"i3", "expand3"}}) {
    Tensor x = node.floatIn(name);
    SmallVector<int64_t> shape(x.shape());
    for (int64_t d : node.integers(places)) {
      if (d < 0 || d > static_cast<int64_t>(shape.size()))
        fail("puts a dimension at " + Twine(d) + " of " + show(shape));
      shape.insert(shape.begin() + d, 1);
    }
    factors.push_back(x.reshape(shape));
  }
  auto [a, b] = node.broadcast(factors[0], factors[1]);
  auto [y, c] = node.broadcast(a * b, factors[2]);
  return {prim::sum(y * c, node.axes(node.integers("sumdim"), y.rank()))};
}

// ---- determinants ----

/// The argument has another name in torch.linalg.
template <bool isLinalg> Tensor matrices(Node &node) {
  return node.floatIn(isLinalg ? "A" : "self");
}

template <bool isLinalg> Entities det(Node &node) {
  return {determinant(node, matrices<isLinalg>(node)).value};
}
Entities detWithFactors(Node &node) {
  auto [value, lu, pivots] = determinant(node, matrices<true>(node));
  return {value, lu, pivots};
}

template <bool isLinalg> Entities signAndLogDet(Node &node) {
  auto [sign, logarithm, lu, pivots] = logDeterminant(node, matrices<isLinalg>(node));
  return {sign, logarithm};
}
Entities signAndLogDetWithFactors(Node &node) {
  auto [sign, logarithm, lu, pivots] = logDeterminant(node, matrices<true>(node));
  return {sign, logarithm, lu, pivots};
}

Entities logDet(Node &node) {
  auto [sign, logarithm, lu, pivots] = logDeterminant(node, matrices<false>(node));
  return {prim::select(sign < 0.0, logarithm.full(std::numeric_limits<double>::quiet_NaN()),
                       logarithm)};
}

} // namespace

ArrayRef<OpRow> accc::aten::contractionOps() {
  static const OpRow rows[] = {
      {"linear(input, weight, bias=None)", linear, Alias::None, selected::linear},
      {"matmul(self, other)", byProducts<matmul>, Alias::None, selected::product},
      {"linalg_matmul(self, other)", byProducts<matmul>, Alias::None, selected::product},
      {"mm(self, mat2)", byProducts<mm>, Alias::None, selected::product},
      {"bmm(self, mat2)", byProducts<mm>, Alias::None, selected::product},
      {"mv(self, vec)", byProducts<mv>},
      {"dot(self, tensor)", byProducts<dot>, Alias::None, selected::product},
      {"addmm(self, mat1, mat2, *, beta=1, alpha=1)", addmm, Alias::None, selected::addedProduct},
      {"addmv(self, mat, vec, *, beta=1, alpha=1)", addmv},
      {"baddbmm(self, batch1, batch2, *, beta=1, alpha=1)", baddbmm},
      {"addbmm(self, batch1, batch2, *, beta=1, alpha=1)", addbmm},
      {"outer(self, vec2)", byProducts<outer>},
      {"ger(self, vec2)", byProducts<outer>},
      {"addr(self, vec1, vec2, *, beta=1, alpha=1)", addr},
      {"cross(self, other, dim=None)", byProducts<cross>},
      {"linalg_cross(self, other, *, dim=-1)", byProducts<cross>},
      {"inner(self, other)", byProducts<inner>},
      {"vdot(self, other)", conjugateDot},
      {"tensordot(self, other, dims_self, dims_other)", byProducts<tensorDot>},
      {"kron(self, other)", byProducts<kronecker>},
      {"einsum(equation, tensors, *, path=None)", byProducts<sumOfProducts>, Alias::None,
       selected::sumOfProducts},
      {"_trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim=1)", trilinear},
      {"bilinear(input1, input2, weight, bias=None)", bilinear},
      {"det(self)", det<false>},
      {"linalg_det(A)", det<true>},
      {"_linalg_det(A)", detWithFactors},
      {"slogdet(self)", signAndLogDet<false>},
      {"linalg_slogdet(A)", signAndLogDet<true>},
      {"_linalg_slogdet(A)", signAndLogDetWithFactors},
      {"logdet(self)", logDet},
  };
  return rows;
}
