// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/aten/Parts.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

static Tensor realPart(const Complex &x) { return x.real; }
static Tensor imaginaryPart(const Complex &x) { return x.imaginaryOrZero(); }

/// The results of which a rule gave the parts.
static Entity joined(const Node &node, const Entity &real, const Entity &imaginary) {
  if (!real.sequence)
    return real.tensor
               ? Entity(Complex(node.wrap(real.tensor), node.wrap(imaginary.tensor)).value(node))
               : real;
  std::vector<Entity> elements;
  for (auto [re, im] : llvm::zip_equal(*real.sequence, *imaginary.sequence))
    elements.push_back(joined(node, re, im));
  return Entity::ofSequence(std::move(elements));
}

Entities accc::aten::byParts(Node &node, Rule rule, ArrayRef<StringRef> operands) {
  if (!node.hasComplex())
    return rule(node);
  Node real = node.withParts(realPart), imaginary = node.withParts(imaginaryPart);
  for (StringRef name : operands) {
    if (!node.has(name) || node.isComplex(name))
      continue;
    if (node.isTensor(name))
      imaginary.set(name, node.in(name).full(0.0).get());
    else
      imaginary.set(name, int64_t(0));
  }
  Entities first = rule(real), second = rule(imaginary), results;
  for (auto [re, im] : llvm::zip_equal(first, second))
    results.push_back(joined(node, re, im));
  node.takeEffects(real);
  return results;
}

void accc::aten::takeComplexAlpha(Node &node, StringRef operand) {
  if (!node.has("alpha") || !node.isComplex("alpha"))
    return;
  Complex scaled = node.complexIn(operand), alpha = node.complexIn("alpha");
  Type type = scaled.real.elementType();
  if (!isa<FloatType>(type))
    type = node.forward().defaultFloat();
  auto convert = [&](Tensor part) { return part.convert(type); };
  node.set(operand, (scaled.map(convert) * alpha.map(convert)).value(node));
  node.set("alpha", int64_t(1));
}

// (a + b i) (c + d i) = a c - b d + (a d + b c) i: a product for each choice of parts, of which
// the number of imaginary ones decides where it counts.
Entities accc::aten::byProducts(Node &node, Rule rule) {
  if (!node.hasComplex())
    return rule(node);
  unsigned factors = 0;
  node.withParts([&](const Complex &x) {
    factors += x.imaginary.has_value();
    return x.real;
  });
  constexpr unsigned kMostFactors = 4;
  if (factors > kMostFactors)
    fail("a product of " + Twine(factors) + " complex tensors is not supported: at most " +
         Twine(kMostFactors) + " are");
  std::optional<Tensor> sums[2]; // real, imaginary
  for (unsigned choice = 0; choice < 1u << factors; ++choice) {
    unsigned factor = 0;
    Node parts = node.withParts([&](const Complex &x) {
      return x.imaginary && (choice >> factor++ & 1) ? *x.imaginary : x.real;
    });
    Tensor product = node.wrap(rule(parts).front().tensor);
    unsigned imaginary = llvm::popcount(choice);
    std::optional<Tensor> &sum = sums[imaginary % 2];
    bool isNegative = imaginary / 2 % 2;
    if (!sum) // the first ones are positive
      sum = product;
    else
      sum = isNegative ? *sum - product : *sum + product;
  }
  return {Complex(*sums[0], sums[1]).value(node)};
}

// Matrices [[re, -im], [im, re]] are added, multiplied and inverted as re + i im are.
Entities accc::aten::byRealMatrices(Node &node, Rule rule) {
  if (!node.hasComplex())
    return rule(node);
  Node reals = node.withParts([&](const Complex &x) {
    if (x.real.rank() < 2)
      fail("a tensor of shape " + show(x.real.shape()) + " is no matrix");
    int64_t rows = x.real.rank() - 2, columns = rows + 1;
    Tensor re = x.real, im = x.imaginaryOrZero();
    return node.concatenate(
        {node.concatenate({re, -im}, columns), node.concatenate({im, re}, columns)}, rows);
  });
  Entities results = rule(reals);
  Tensor y = node.wrap(results.front().tensor);
  int64_t rows = y.rank() - 2, height = y.dim(rows);
  Tensor left = y.sliceDim(rows + 1, 0, y.dim(rows + 1) / 2);
  results.front() =
      Complex(left.sliceDim(rows, 0, height / 2), left.sliceDim(rows, height / 2, height))
          .value(node);
  return results;
}

Entities accc::aten::byMagnitudes(Node &node, Rule rule) {
  Node real = node.withParts(magnitude);
  return rule(real);
}

Entities accc::aten::itself(Node &node, Tensor x) {
  node.share(Alias::View);
  node.lay(node.layoutOf(x));
  return {x};
}
Entities accc::aten::itself(Node &node) { return itself(node, node.in("self")); }

PutParts accc::aten::putPartsOf(StringRef name) {
  PutParts pairs = [](const NodeBuilder &node, Value, Value part) -> Value {
    return Complex::ofValue(node, part).pairs();
  };
  PutParts complex = [](const NodeBuilder &node, Value, Value part) {
    return Complex::ofPairs(node.wrap(part)).value(node);
  };
  PutParts real = [](const NodeBuilder &node, Value whole, Value part) {
    return Complex(node.wrap(part), Complex::ofValue(node, whole).imaginary).value(node);
  };
  PutParts imaginary = [](const NodeBuilder &node, Value whole, Value part) {
    return Complex(Complex::ofValue(node, whole).real, node.wrap(part)).value(node);
  };
  PutParts conjugated = [](const NodeBuilder &node, Value, Value part) {
    return conjugate(Complex::ofValue(node, part)).value(node);
  };
  PutParts negated = [](const NodeBuilder &node, Value, Value part) {
    return mapParts(node, part, [](Tensor x) { return -x; });
  };
  return llvm::StringSwitch<PutParts>(name)
      .Case("view_as_complex", pairs)
      .Case("view_as_real", complex)
      .Case("real", real)
      .Case("imag", imaginary)
      .Cases("conj", "_conj", conjugated)
      .Case("_neg_view", negated)
      .Default(nullptr);
}
