// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products and determinants.
#include "frontend/common/Determinant.h"
#include "frontend/common/Einsum.h"
#include "frontend/onnx/OpTable.h"
#include "ir/nn/Nn.h"

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

Entities matMul(Node &node) { return {frontend::matrixProduct(node, node.in(0), node.in(1))}; }

/// alpha A' B' + beta C
Entities gemm(Node &node) {
  Tensor a = node.in(0), b = node.in(1);
  Type type = a.elementType();
  if (a.rank() != 2 || b.rank() != 2)
    fail("the operands must be matrices, but have the shapes " + show(a.shape()) + " and " +
         show(b.shape()));
  bool transposeB = node.integer("transB", 0) != 0;
  double alpha = node.real("alpha", 1.0), beta = node.real("beta", 1.0);
  bool isExact = alpha == 1.0 && (beta == 1.0 || beta == 0.0 || !node.has(2));
  if (!isa<FloatType>(type) && isExact) { // among integers throughout
    a = node.integer("transA", 0) != 0 ? a.transpose({1, 0}) : a;
    Tensor product = frontend::matrixProduct(node, a, transposeB ? b.transpose({1, 0}) : b);
    if (!node.has(2) || beta == 0.0)
      return {product};
    return {product + node.broadcastTo(node.in(2).convert(type), product.shape())};
  }
  if (!isa<FloatType>(type)) {
    a = a.convert(node.builder().getF64Type());
    b = b.convert(node.builder().getF64Type());
  }
  if (node.integer("transA", 0) != 0)
    a = a.transpose({1, 0});
  bool hasC = node.has(2) && beta != 0.0;
  int64_t columns = b.dim(transposeB ? 0 : 1);
  if (hasC && alpha == 1.0 && beta == 1.0 && isa<FloatType>(type)) {
    Tensor c = node.in(2);
    if ((c.rank() == 1 || (c.rank() == 2 && c.dim(0) == 1)) && c.size() == columns)
      return {node.make<nn::LinearOp>({a, b, c.reshape({columns})},
                                      {node.flag("transpose_w", transposeB)})};
  }
  Tensor product = node.make<nn::LinearOp>({a, b, Value()}, {node.flag("transpose_w", transposeB)});
  if (alpha != 1.0)
    product = product * alpha;
  if (hasC) {
    Tensor c = node.broadcastTo(node.in(2).convert(product.elementType()), product.shape());
    product = product + (beta == 1.0 ? c : c * beta);
  }
  return {product.convert(type)};
}

Entities sumOfProducts(Node &node) {
  SmallVector<Tensor> operands;
  for (size_t i = 0; i < node.inputs(); ++i)
    operands.push_back(node.numberIn(i));
  return {einsum(node, node.string("equation"), operands)};
}

Entities det(Node &node) { return {determinant(node, node.floatIn(0)).value}; }

} // namespace

ArrayRef<OpRow> accc::onnx_import::linearOps() {
  static const OpRow rows[] = {
      {"MatMul", matMul},
      {"Gemm", gemm},
      {"Einsum", sumOfProducts},
      {"Det", det},
  };
  return rows;
}
