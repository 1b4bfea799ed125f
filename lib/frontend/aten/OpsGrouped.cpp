// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix products of groups of rows or columns, as layers with a mixture of experts have them. How
// long each group is depends on the data: every group takes all of them, with zeros for others'.
#include "frontend/aten/Backward.h"
#include "frontend/aten/OpTable.h"
#include "frontend/common/Einsum.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

/// [groups, extent]: which positions lie in each group. A group begins where the one before ends.
Tensor membership(Node &node, Tensor ends, int64_t extent) {
  if (ends.rank() != 1 || ends.dim(0) == 0)
    fail("the ends of groups have the shape " + show(ends.shape()));
  int64_t groups = ends.dim(0);
  Type type = node.builder().getI64Type();
  ends = ends.convert(type);
  Tensor starts = node.concatenate({node.full({1}, type, 0), ends.sliceDim(0, 0, groups - 1)}, 0);
  auto shape = RankedTensorType::get({groups, extent}, type);
  Tensor position = prim::iota(node.builder(), node.loc(), shape, 1);
  return prim::bitAnd(position >= starts.broadcast(shape.getShape(), {0}),
                      position < ends.broadcast(shape.getShape(), {0}));
}

/// One matrix for each group: this one, with zeros where its dimension `dim` is outside of that.
Tensor ofGroups(Node &node, Tensor x, int64_t dim, Tensor ends) {
  Tensor member = membership(node, ends, x.dim(dim));
  SmallVector<int64_t> shape{member.dim(0), x.dim(0), x.dim(1)};
  return prim::select(member.broadcast(shape, {0, dim + 1}), x.broadcast(shape, {1, 2}), 0.0);
}

/// Of two batches of matrices, or of a batch and a matrix whose rows or columns are in groups, or
/// of two matrices that are in groups along the dimension that is summed: a matrix for each.
Tensor groupedProduct(Node &node, Tensor a, Tensor b, StringRef ends) {
  if (a.rank() < 2 || a.rank() > 3 || b.rank() < 2 || b.rank() > 3)
    fail("needs matrices, or batches of them");
  if (a.rank() == 3 && b.rank() == 3)
    return frontend::matrixProduct(node, a, b);
  Tensor groups = node.in(ends);
  if (b.rank() == 3)
    return frontend::einsum(node, "gmk,gkn->mn", {ofGroups(node, a, 0, groups), b});
  if (a.rank() == 3)
    return frontend::einsum(node, "gmk,gkn->mn", {a, ofGroups(node, b, 1, groups)});
  return frontend::einsum(node, "gmk,kn->gmn", {ofGroups(node, a, 1, groups), b});
}

Entities grouped(Node &node) {
  if (node.has("bias"))
    fail("a bias is not supported");
  Tensor a = node.floatIn("self"), b = node.floatIn("mat2");
  Tensor y = groupedProduct(node, a, b, "offs");
  return {y.convert(node.elementType("out_dtype", y.elementType()))};
}

Entities groupedRows(Node &node) {
  return {groupedProduct(node, node.floatIn("input"), node.floatIn("weight"), "offs")};
}

Entities groupedRowsBackward(Node &node) {
  SmallVector<Tensor> gradients = pullBack(
      node, groupedRows, {{"input", node.floatIn("input")}, {"weight", node.floatIn("weight")}},
      node.floatIn("grad_output"));
  return {gradients[0], gradients[1]};
}

} // namespace

ArrayRef<OpRow> accc::aten::groupedOps() {
  static const OpRow rows[] = {
      {"_grouped_mm(self, mat2, offs=None, bias=None, out_dtype=None)", grouped},
      {"transformers::grouped_mm_fallback(input, weight, offs)", groupedRows},
      {"transformers::grouped_mm_fallback_backward(input, weight, offs, grad_output)",
       groupedRowsBackward},
  };
  return rows;
}
