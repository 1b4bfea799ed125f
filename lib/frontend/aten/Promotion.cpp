// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/aten/Promotion.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

static int category(Type type) {
  return !type ? -1 : type.isInteger(1) ? 0 : isa<IntegerType>(type) ? 1 : 2;
}

Type accc::aten::promoteTypes(Type a, Type b) {
  if (a == b)
    return a;
  if (category(a) != category(b))
    return category(a) > category(b) ? a : b;
  unsigned wide = std::max(a.getIntOrFloatBitWidth(), b.getIntOrFloatBitWidth());
  Builder builder(a.getContext());
  if (isa<FloatType>(a)) {
    if (a.getIntOrFloatBitWidth() != b.getIntOrFloatBitWidth())
      return a.getIntOrFloatBitWidth() == wide ? a : b;
    return builder.getF32Type(); // float16 and bfloat16
  }
  bool aUnsigned = a.isUnsignedInteger(), bUnsigned = b.isUnsignedInteger();
  if (aUnsigned == bUnsigned)
    return a.getIntOrFloatBitWidth() == wide ? a : b;
  unsigned ofUnsigned = (aUnsigned ? a : b).getIntOrFloatBitWidth();
  unsigned ofSigned = (aUnsigned ? b : a).getIntOrFloatBitWidth();
  if (ofUnsigned != 8)
    fail("PyTorch has no common type for an unsigned type of more than 8 bits and a signed one");
  return builder.getIntegerType(std::max(16u, ofSigned));
}

/// As c10's: `higher` decides unless it is of a lower category.
static Type combine(Type higher, Type lower) {
  if (!higher || !lower)
    return higher ? higher : lower;
  if (isa<FloatType>(higher))
    return higher;
  if (category(higher) == 0 || isa<FloatType>(lower))
    return promoteTypes(higher, lower);
  return higher;
}

Type accc::aten::resultType(const Node &node, ArrayRef<StringRef> names) {
  Type shaped, zero, number;
  auto merge = [](Type &into, Type type) { into = into ? promoteTypes(into, type) : type; };
  Builder b(&node.context());
  bool onlyNumbers = llvm::all_of(
      names, [&](StringRef name) { return !node.isTensor(name) || node.standsForNumber(name); });
  for (StringRef name : names) {
    if (!node.has(name))
      continue;
    if (node.standsForNumber(name) && !onlyNumbers) {
      Type type = node.in(name).elementType();
      merge(number, isa<FloatType>(type) ? node.forward().defaultFloat() : type);
    } else if (node.isTensor(name)) {
      Tensor tensor = node.in(name);
      merge(tensor.rank() > 0 ? shaped : zero, tensor.elementType());
    } else {
      merge(number, node.isInteger(name)   ? Type(b.getI64Type())
                    : node.isBoolean(name) ? Type(b.getI1Type())
                                           : node.forward().defaultFloat());
    }
  }
  return combine(shaped, combine(zero, number));
}

Tensor accc::aten::asTensor(const Node &node, StringRef name, Type type) {
  if (node.isTensor(name))
    return node.in(name).convert(type);
  if (node.isInteger(name) && isa<IntegerType>(type)) // every bit of it
    return node.integers({node.integer(name)}, {}).convert(type);
  return node.scalar(node.number(name), type);
}

std::pair<Tensor, Tensor> accc::aten::operands(const Node &node, StringRef a, StringRef b) {
  Type type = resultType(node, {a, b});
  return node.broadcast(asTensor(node, a, type), asTensor(node, b, type));
}

std::pair<Tensor, Tensor> accc::aten::floatOperands(const Node &node, StringRef a, StringRef b) {
  Type type = resultType(node, {a, b});
  if (!isa<FloatType>(type))
    type = node.forward().defaultFloat();
  return node.broadcast(asTensor(node, a, type), asTensor(node, b, type));
}

Tensor accc::aten::multiplied(const Node &node, Tensor x, StringRef name) {
  double factor = node.number(name);
  if (factor == 1)
    return x;
  if (node.isInteger(name) && isa<IntegerType>(x.elementType()))
    return x * asTensor(node, name, x.elementType());
  return x * factor;
}

Tensor accc::aten::asFloat(const Node &node, Tensor x) {
  return isa<FloatType>(x.elementType()) ? x : x.convert(node.forward().defaultFloat());
}

Tensor accc::aten::asNumber(const Node &node, Tensor x) {
  return x.elementType().isInteger(1) ? x.convert(node.builder().getI64Type()) : x;
}
Tensor accc::aten::asOrdered(const Node &node, Tensor x) {
  return x.elementType().isInteger(1) ? x.convert(node.builder().getI32Type()) : x;
}

Tensor accc::aten::greaterOf(Tensor a, Tensor b) {
  return a.elementType().isInteger(1) ? prim::bitOr(a, b) : prim::max(a, b);
}
Tensor accc::aten::lesserOf(Tensor a, Tensor b) {
  return a.elementType().isInteger(1) ? prim::bitAnd(a, b) : prim::min(a, b);
}
