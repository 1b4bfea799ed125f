// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Windows.h"

#include "ir/nn/Nn.h"
#include "ir/prim/Geometry.h"

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using accc::prim::Tensor;

int64_t WindowGeometry::count(size_t i, int64_t input) const {
  return prim::poolingPositions(input, low[i], high[i], window[i], dilations[i], strides[i],
                                ceilMode);
}

void accc::frontend::checkNumbers(const WindowGeometry &g) {
  constexpr int64_t kLargest = int64_t(1) << 28;
  auto isBetween = [](int64_t least, ArrayRef<int64_t> numbers) {
    return llvm::all_of(numbers, [&](int64_t n) { return n >= least && n <= kLargest; });
  };
  if (!isBetween(1, g.window) || !isBetween(1, g.strides) || !isBetween(1, g.dilations) ||
      !isBetween(0, g.low) || !isBetween(0, g.high))
    fail("the kernel " + show(g.window) + ", stride " + show(g.strides) + ", dilation " +
         show(g.dilations) + " or padding " + show(g.low) + " makes no sense");
}

void accc::frontend::checkSpatial(Tensor x) {
  if (x.rank() < 3 || x.rank() > 5)
    fail("supported are 1 to 3 spatial dimensions, but the input has the shape " + show(x.shape()));
}

void accc::frontend::checkFits(const WindowGeometry &g, Tensor x) {
  for (size_t i = 0; i < g.rank(); ++i)
    if (g.count(i, x.dim(i + 2)) < 1 || g.low[i] >= g.extent(i) || g.high[i] >= g.extent(i))
      fail("the kernel " + show(g.window) + " does not fit the input of shape " + show(x.shape()) +
           " padded by " + show(g.low) + " and " + show(g.high));
}

SmallVector<NamedAttribute> accc::frontend::windowAttributes(NodeBuilder &node,
                                                             const WindowGeometry &g) {
  return {node.list("window", g.window),       node.list("strides", g.strides),
          node.list("dilations", g.dilations), node.list("pad_low", g.low),
          node.list("pad_high", g.high),       node.flag("ceil_mode", g.ceilMode)};
}

SmallVector<NamedAttribute> accc::frontend::primitiveWindow(NodeBuilder &node,
                                                            const WindowGeometry &g, Tensor x) {
  SmallVector<int64_t> window(2, 1), strides(2, 1), dilations(2, 1), low(2, 0), high(2, 0);
  for (size_t i = 0; i < g.rank(); ++i) {
    int64_t extent = x.dim(i + 2), windows = g.count(i, extent);
    window.push_back(g.window[i]);
    strides.push_back(g.strides[i]);
    dilations.push_back(g.dilations[i]);
    low.push_back(g.low[i]);
    high.push_back(
        std::max<int64_t>(0, (windows - 1) * g.strides[i] + g.extent(i) - extent - g.low[i]));
  }
  return {node.list("window", window), node.list("strides", strides),
          node.list("dilations", dilations), node.list("pad_low", low),
          node.list("pad_high", high)};
}

Tensor accc::frontend::greatestElements(NodeBuilder &node, Tensor x, const WindowGeometry &g) {
  SmallVector<NamedAttribute> attributes = primitiveWindow(node, g, x);
  NamedAttrList byName(attributes);
  auto of = [&](StringRef name) { return cast<DenseI64ArrayAttr>(byName.get(name)).asArrayRef(); };
  Tensor numbers = node.make<prim::ArgWindowOp>({x}, attributes);
  return prim::windowElements(numbers, {x.shape(), of("window"), of("strides"), of("dilations"),
                                        of("pad_low"), of("pad_high")});
}

Tensor accc::frontend::reduceWindow(NodeBuilder &node, Tensor x, const WindowGeometry &g,
                                    prim::ReduceKind kind) {
  SmallVector<NamedAttribute> attributes = primitiveWindow(node, g, x);
  attributes.push_back(node.attr("kind", prim::ReduceKindAttr::get(&node.context(), kind)));
  return node.make<prim::ReduceWindowOp>({x}, attributes);
}
