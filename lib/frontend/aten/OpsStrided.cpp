// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views of memory by strides.
#include "frontend/aten/OpTable.h"
#include "frontend/common/Indexing.h"

#include <numeric>
#include <tuple>

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using accc::prim::Tensor;

namespace {

/// A tensor whose elements lie one behind the other, in some order of its dimensions. The importer
/// gives, as `memory`, the offset in its storage and the strides of the tensor.
class Dense {
public:
  Dense(Node &node, Tensor x) : x(x), order(x.rank()) {
    SmallVector<int64_t> memory = node.integers("memory");
    if (memory.empty())
      fail("the file does not say how its argument lies in memory");
    if (static_cast<int64_t>(memory.size()) != x.rank() + 1)
      fail("the strides of its argument do not fit the shape " + show(x.shape()));
    offset = memory.front();
    ArrayRef<int64_t> strides = ArrayRef(memory).drop_front();
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](int64_t a, int64_t b) {
      return std::tuple(-strides[a], -x.dim(a), a) < std::tuple(-strides[b], -x.dim(b), b);
    });
    int64_t expected = 1;
    for (int64_t d : llvm::reverse(order)) {
      if (x.dim(d) != 1 && strides[d] != expected)
        fail("its argument of shape " + show(x.shape()) + " and strides " + show(strides) +
             " does not lie together in memory");
      expected *= x.dim(d);
    }
  }

  /// The elements as they lie in memory, and back.
  Tensor inMemory() const { return flat(x.transpose(order)); }
  Tensor fromMemory(Tensor elements) const {
    SmallVector<int64_t> shape, back(order.size());
    for (auto [i, d] : llvm::enumerate(order)) {
      shape.push_back(x.dim(d));
      back[d] = static_cast<int64_t>(i);
    }
    return elements.reshape(shape).transpose(back);
  }

  /// The places in memory of the view that the call names.
  Tensor places(Node &node) const {
    SmallVector<int64_t> size = node.integers("size"), stride = node.integers("stride");
    int64_t start =
        node.has("storage_offset") ? node.integer("storage_offset") - offset : int64_t(0);
    if (size.size() != stride.size())
      fail("the size " + show(size) + " does not fit the strides " + show(stride));
    tensorType(size, node.builder().getI64Type());
    int64_t last = start;
    for (auto [extent, step] : llvm::zip_equal(size, stride)) {
      int64_t span;
      if (step < 0 || llvm::MulOverflow(std::max<int64_t>(extent, 1) - 1, step, span) ||
          llvm::AddOverflow(last, span, last))
        fail("the strides " + show(stride) + " leave the argument's elements");
    }
    if (start < 0 || last >= x.size())
      fail("the view of size " + show(size) + " and strides " + show(stride) +
           " leaves the argument's elements");
    Tensor place = node.full(size, node.builder().getI64Type(), static_cast<double>(start));
    for (auto [d, step] : llvm::enumerate(stride))
      place = place + node.iota(size, static_cast<int64_t>(d)) * static_cast<double>(step);
    return place;
  }

  /// Whether the view is all of memory in its order.
  bool isWhole(Node &node) const {
    SmallVector<int64_t> size = node.integers("size"), stride = node.integers("stride");
    int64_t expected = 1;
    for (size_t d = size.size(); d-- > 0;) {
      if (size[d] != 1 && (d >= stride.size() || stride[d] != expected))
        return false;
      expected *= size[d];
    }
    return expected == x.size() &&
           (!node.has("storage_offset") || node.integer("storage_offset") == offset);
  }

private:
  Tensor x;
  SmallVector<int64_t> order; // the outermost first
  int64_t offset = 0;
};

Entities asStrided(Node &node) {
  Dense dense(node, node.in("self"));
  if (dense.isWhole(node))
    return {node.reshape(dense.inMemory(), node.integers("size"))};
  return {dense.inMemory().gather(dense.places(node), 0)};
}

Entities asStridedScatter(Node &node) {
  Tensor x = node.in("self"), part = node.in("src").convert(x.elementType());
  Dense dense(node, x);
  part = node.reshape(part, node.integers("size"));
  if (dense.isWhole(node))
    return {dense.fromMemory(part)};
  return {dense.fromMemory(
      dense.inMemory().scatter(flat(dense.places(node)), flat(part), 0, prim::ScatterKind::set))};
}

} // namespace

ArrayRef<OpRow> accc::aten::stridedOps() {
  static const OpRow rows[] = {
      {"as_strided(self, size, stride, storage_offset=None, memory=[])", asStrided, Alias::View},
      {"as_strided_copy(self, size, stride, storage_offset=None, memory=[])", asStrided},
      {"as_strided_scatter(self, src, size, stride, storage_offset=None, memory=[])",
       asStridedScatter},
  };
  return rows;
}
