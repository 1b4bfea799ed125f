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

/// The elements of a storage, which one tensor has all of, one behind the other in some order of
/// its dimensions.
class Storage {
public:
  Storage(Node &node, Tensor x, const Layout &layout) : x(x), order(x.rank()) {
    if (!layout.isKnown())
      fail("reads memory by strides, but those of what '" + layout.origin() +
           "' gives are not known: clone(memory_format=torch.contiguous_format) the argument");
    ArrayRef<int64_t> strides = layout.strides();
    if (!layout.isDense())
      fail("its argument of shape " + show(x.shape()) + " and strides " + show(strides) +
           " does not lie together in memory");
    first = layout.offset();
    std::iota(order.begin(), order.end(), 0);
    llvm::sort(order, [&](int64_t a, int64_t b) {
      return std::tuple(-strides[a], -x.dim(a), a) < std::tuple(-strides[b], -x.dim(b), b);
    });
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

  /// The places in memory of a view.
  Tensor places(Node &node, const Layout &view) const {
    ArrayRef<int64_t> shape = view.shape(), strides = view.strides();
    int64_t start = view.offset() - first, last = start;
    for (auto [extent, step] : llvm::zip_equal(shape, strides)) {
      int64_t span;
      if (step < 0 || llvm::MulOverflow(std::max<int64_t>(extent, 1) - 1, step, span) ||
          llvm::AddOverflow(last, span, last))
        fail("the strides " + show(strides) + " leave the argument's elements");
    }
    if (start < 0 || last >= x.size())
      fail("the view of size " + show(shape) + " and strides " + show(strides) +
           " leaves the argument's elements");
    Tensor place = node.full(shape, node.builder().getI64Type(), static_cast<double>(start));
    for (auto [d, step] : llvm::enumerate(strides))
      place = place + node.iota(shape, static_cast<int64_t>(d)) * static_cast<double>(step);
    return place;
  }

  /// Whether a view is all of memory in its order.
  bool isWhole(const Layout &view) const {
    return view.isIn(MemoryFormat::Contiguous) && view.offset() == first &&
           ShapedType::getNumElements(view.shape()) == x.size();
  }

private:
  Tensor x;
  SmallVector<int64_t> order; // the outermost first
  int64_t first = 0;
};

/// What the call names.
Layout viewOf(Node &node, const Layout &self) {
  SmallVector<int64_t> size = node.integers("size"), stride = node.integers("stride");
  if (size.size() != stride.size())
    fail("the size " + show(size) + " does not fit the strides " + show(stride));
  tensorType(size, node.builder().getI64Type());
  bool hasOffset = node.has("storage_offset");
  return Layout(size, stride, hasOffset ? node.integer("storage_offset") : self.offset());
}

Entities asStrided(Node &node) {
  const Memory &memory = node.inMemory();
  Tensor whole = node.wrap(memory.storage);
  Storage storage(node, whole, memory.storageLayout);
  Layout view = viewOf(node, memory.layout);
  node.lay(view);
  Tensor elements = storage.inMemory();
  // What the view reads beside the argument's own elements it gives no gradient to, in PyTorch.
  const Layout &self = memory.layout;
  if (!memory.isOfStorage && self.isKnown() &&
      ShapedType::getNumElements(self.shape()) < elements.size()) {
    Tensor places = flat(storage.places(node, self));
    Tensor none = node.full({elements.size()}, node.builder().getI64Type(), 0.0);
    Tensor own = none.scatter(places, places.full(1.0), 0, prim::ScatterKind::set);
    elements = prim::select(prim::notEqual(own, 0.0), elements, detach(elements));
  }
  if (storage.isWhole(view))
    return {node.reshape(elements, view.shape())};
  return {elements.gather(storage.places(node, view), 0)};
}

Entities asStridedScatter(Node &node) {
  Tensor x = node.in("self"), part = node.in("src").convert(x.elementType());
  Layout self = node.layoutOf(x);
  Storage storage(node, x, self);
  Layout view = viewOf(node, self);
  part = node.reshape(part, view.shape());
  if (storage.isWhole(view))
    return {storage.fromMemory(part)};
  return {storage.fromMemory(storage.inMemory().scatter(flat(storage.places(node, view)),
                                                        flat(part), 0, prim::ScatterKind::set))};
}

} // namespace

ArrayRef<OpRow> accc::aten::stridedOps() {
  static const OpRow rows[] = {
      {"as_strided(self, size, stride, storage_offset=None)", asStrided, Alias::StorageView},
      {"as_strided_copy(self, size, stride, storage_offset=None)", asStrided},
      {"as_strided_scatter(self, src, size, stride, storage_offset=None)", asStridedScatter},
  };
  return rows;
}
