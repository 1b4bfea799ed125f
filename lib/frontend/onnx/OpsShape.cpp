// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The shape of tensors: what rearranges elements without computing with them.
#include "frontend/common/Gradient.h"
#include "frontend/common/Indexing.h"
#include "frontend/onnx/Evidence.h"
#include "frontend/onnx/GraphImporter.h"
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/Tensors.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

/// What PyTorch's dynamo exporter writes for detach(), and jax2onnx for stop_gradient, which it
/// names the result after.
bool isGradientStop(Node &node) {
  std::optional<TorchCall> call = node.torchCall();
  bool isOfJax = node.importer().writtenByJax() && isNameOfStopGradient(node.proto().output(0));
  return isOfJax || (call && stopsGradient(*call));
}

Entities identity(Node &node) {
  if (isGradientStop(node) && !node.isKnown(0) && isDifferentiable(node.in(0).type()))
    return {detach(node.in(0))};
  return {node.entity(0)};
}

Entities shapeOf(Node &node) {
  ArrayRef<int64_t> shape = node.in(0).shape();
  int64_t rank = static_cast<int64_t>(shape.size());
  auto clamp = [&](int64_t i) { return std::clamp<int64_t>(i < 0 ? i + rank : i, 0, rank); };
  int64_t start = clamp(node.integer("start", 0)), end = clamp(node.integer("end", rank));
  shape = shape.slice(start, std::max<int64_t>(0, end - start));
  return {node.integers(shape, {static_cast<int64_t>(shape.size())})};
}

Entities sizeOf(Node &node) { return {node.integers({node.in(0).size()}, {})}; }

/// 0 copies the input's extent (unless allowzero), -1 is what remains.
Entities reshape(Node &node) {
  Tensor x = node.in(0);
  SmallVector<int64_t> shape =
      node.opset() < 5 ? node.integers("shape") : node.knownIntegers(1, "shape");
  bool allowZero = node.integer("allowzero", 0) != 0;
  int64_t product = 1, open = -1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !allowZero) {
      if (static_cast<int64_t>(i) >= x.rank())
        fail("the shape copies dimension " + Twine(i) + " of a tensor of rank " + Twine(x.rank()));
      shape[i] = x.dim(i);
      if (shape[i] == 0)
        node.warn(
            "a 0 in the shape of an empty tensor is read as 'copy this extent' (allowzero=0)");
    }
    if (shape[i] == -1) {
      if (open >= 0)
        fail("the shape has more than one -1");
      open = static_cast<int64_t>(i);
    } else if (shape[i] < 0 || (shape[i] > 0 && product > (int64_t(1) << 40) / shape[i])) {
      fail("the shape " + show(shape) + " makes no sense");
    } else {
      product *= shape[i];
    }
  }
  if (open >= 0) {
    if (product == 0 || x.size() % product != 0)
      fail("a tensor of shape " + show(x.shape()) + " cannot be reshaped to " + show(shape));
    shape[open] = x.size() / product;
  }
  return {node.reshape(x, shape)};
}

Entities flatten(Node &node) {
  Tensor x = node.in(0);
  int64_t axis = node.integer("axis", 1);
  axis = axis == x.rank() ? axis : node.axis(axis, x.rank());
  int64_t outer = 1, inner = 1;
  for (int64_t d = 0; d < x.rank(); ++d)
    (d < axis ? outer : inner) *= x.dim(d);
  return {node.reshape(x, {outer, inner})};
}

Entities squeeze(Node &node) {
  Tensor x = node.in(0);
  SmallVector<int64_t> shape;
  auto given = node.integersFrom("axes", 1);
  SmallVector<int64_t> axes;
  if (given)
    axes = node.axes(*given, x.rank());
  for (int64_t d = 0; d < x.rank(); ++d) {
    bool drop = given ? llvm::is_contained(axes, d) : x.dim(d) == 1;
    if (drop && x.dim(d) != 1)
      fail("dimension " + Twine(d) + " has the extent " + Twine(x.dim(d)) + ", not 1");
    if (!drop)
      shape.push_back(x.dim(d));
  }
  return {node.reshape(x, shape)};
}

Entities unsqueeze(Node &node) {
  Tensor x = node.in(0);
  auto given = node.integersFrom("axes", 1);
  if (!given)
    fail("'axes' is missing");
  int64_t rank = x.rank() + static_cast<int64_t>(given->size());
  SmallVector<int64_t> axes = node.axes(*given, rank), shape;
  for (int64_t d = 0, from = 0; d < rank; ++d)
    shape.push_back(llvm::is_contained(axes, d) ? 1 : x.dim(from++));
  return {node.reshape(x, shape)};
}

Entities transpose(Node &node) {
  Tensor x = node.in(0);
  SmallVector<int64_t> permutation = node.integers("perm");
  if (!node.hasAttribute("perm")) {
    permutation.resize(x.rank());
    std::iota(permutation.rbegin(), permutation.rend(), 0);
  }
  if (static_cast<int64_t>(permutation.size()) != x.rank())
    fail("the permutation " + show(permutation) + " does not fit a tensor of rank " +
         Twine(x.rank()));
  for (int64_t &p : permutation)
    p = node.axis(p, x.rank());
  node.axes(permutation, x.rank());
  return {x.transpose(permutation)};
}

Entities concat(Node &node) {
  SmallVector<Tensor> inputs;
  for (size_t i = 0; i < node.inputs(); ++i)
    inputs.push_back(node.in(i));
  if (inputs.empty())
    fail("nothing to concatenate");
  return {node.concatenate(
      inputs,
      node.axis(node.integer("axis", node.opset() < 4 ? std::optional<int64_t>(1) : std::nullopt),
                inputs.front().rank()))};
}

Entities split(Node &node) {
  Tensor x = node.in(0);
  int64_t axis = node.axis(node.integer("axis", 0), x.rank()), extent = x.dim(axis);
  auto parts = node.integersFrom("split", 1);
  if (!parts || parts->empty()) {
    int64_t count = node.integer("num_outputs", static_cast<int64_t>(node.outputs()));
    if (count < 1 || count > static_cast<int64_t>(node.outputs()))
      fail("cannot split into " + Twine(count) + " parts");
    int64_t size = (extent + count - 1) / count;
    parts.emplace();
    for (int64_t i = 0, rest = extent; i < count; ++i, rest -= parts->back())
      parts->push_back(std::min(size, rest));
  }
  Entities results;
  int64_t at = 0;
  for (int64_t size : *parts) {
    if (size < 0 || size > extent - at)
      fail("the parts " + show(*parts) + " do not sum to the extent " + Twine(extent));
    results.push_back(x.sliceDim(axis, at, at + size));
    at += size;
  }
  if (at != extent)
    fail("the parts " + show(*parts) + " do not sum to the extent " + Twine(extent));
  return results;
}

Entities slice(Node &node) {
  Tensor x = node.in(0);
  bool attributes = node.opset() < 10;
  SmallVector<int64_t> starts =
      attributes ? node.integers("starts") : node.knownIntegers(1, "starts");
  SmallVector<int64_t> ends = attributes ? node.integers("ends") : node.knownIntegers(2, "ends");
  SmallVector<int64_t> axes(starts.size()), steps(starts.size(), 1);
  std::iota(axes.begin(), axes.end(), 0);
  if (auto given = node.integersFrom("axes", 3))
    axes = *given;
  if (!attributes && node.has(4))
    steps = node.knownIntegers(4, "steps");
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size())
    fail("starts, ends, axes and steps have different lengths");
  node.axes(axes, x.rank());
  SmallVector<int64_t> low(x.rank(), 0), limit(x.shape()), stride(x.rank(), 1), reversed;
  for (auto [i, given] : llvm::enumerate(axes)) {
    int64_t d = node.axis(given, x.rank()), extent = x.dim(d), step = steps[i];
    if (step == 0)
      fail("a step is 0");
    bool backward = step < 0;
    if (backward) {
      step = -std::max(step, -extent - 1);
      reversed.push_back(d);
    }
    step = std::min(step, extent + 1);
    auto absolute = [&](int64_t at) {
      at = at < 0 ? at + extent : at;
      return std::clamp<int64_t>(at, backward ? -1 : 0, backward ? extent - 1 : extent);
    };
    int64_t start = absolute(starts[i]), end = absolute(ends[i]);
    if (backward) { // counted from the other end, where a start before the first element is that
      start = std::clamp<int64_t>(extent - 1 - start, 0, std::max<int64_t>(extent - 1, 0));
      end = extent - 1 - end;
    }
    low[d] = std::min(start, extent);
    limit[d] = std::max(end, low[d]);
    stride[d] = std::max<int64_t>(step, 1);
  }
  llvm::sort(reversed);
  Tensor source = reversed.empty() ? x : x.reverse(reversed);
  return {source.slice(low, limit, stride)};
}

Entities expand(Node &node) {
  Tensor x = node.in(0);
  SmallVector<int64_t> shape = node.knownIntegers(1, "shape");
  int64_t shift = static_cast<int64_t>(shape.size()) - x.rank();
  while (shift < 0) {
    shape.insert(shape.begin(), 1);
    ++shift;
  }
  for (int64_t d = 0; d < x.rank(); ++d)
    if (shape[d + shift] == 1)
      shape[d + shift] = x.dim(d);
  return {node.broadcastTo(x, shape)};
}

Entities tile(Node &node) {
  Tensor x = node.in(0);
  SmallVector<int64_t> repeats = node.knownIntegers(1, "repeats"), spread, wide, shape;
  if (static_cast<int64_t>(repeats.size()) != x.rank())
    fail("there are " + Twine(repeats.size()) + " repeats for a tensor of rank " + Twine(x.rank()));
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (repeats[d] < 0 || repeats[d] > int64_t(1) << 40)
      fail("a repeat is " + Twine(repeats[d]));
    spread.append({1, x.dim(d)});
    wide.append({repeats[d], x.dim(d)});
  }
  tensorType(wide, x.elementType());
  for (int64_t d = 0; d < x.rank(); ++d)
    shape.push_back(repeats[d] * x.dim(d));
  return {x.reshape(spread).broadcastTo(wide).reshape(shape)};
}

/// The blocks of an image, block by block (DCR) or channel by channel (CRD).
Entities depthToSpace(Node &node) {
  Tensor x = node.in(0);
  int64_t b = node.integer("blocksize");
  std::string mode = node.string("mode", "DCR");
  if (x.rank() != 4 || b < 1 || b > 65536 || x.dim(1) % (b * b) != 0)
    fail("the block size " + Twine(b) + " does not fit the shape " + show(x.shape()));
  int64_t n = x.dim(0), c = x.dim(1) / (b * b), h = x.dim(2), w = x.dim(3);
  Tensor y = mode == "CRD" ? x.reshape({n, c, b, b, h, w}).transpose({0, 1, 4, 2, 5, 3})
                           : x.reshape({n, b, b, c, h, w}).transpose({0, 3, 4, 1, 5, 2});
  return {y.reshape({n, c, h * b, w * b})};
}

Entities spaceToDepth(Node &node) {
  Tensor x = node.in(0);
  int64_t b = node.integer("blocksize");
  if (x.rank() != 4 || b < 1 || b > 65536 || x.dim(2) % b != 0 || x.dim(3) % b != 0)
    fail("the block size " + Twine(b) + " does not fit the shape " + show(x.shape()));
  int64_t n = x.dim(0), c = x.dim(1), h = x.dim(2) / b, w = x.dim(3) / b;
  bool channelFirst = node.string("mode", "DCR") == "CRD";
  Tensor blocks = x.reshape({n, c, h, b, w, b});
  Tensor y =
      channelFirst ? blocks.transpose({0, 1, 3, 5, 2, 4}) : blocks.transpose({0, 3, 5, 1, 2, 4});
  return {y.reshape({n, c * b * b, h, w})};
}

Entities trilu(Node &node) {
  Tensor x = node.in(0);
  if (x.rank() < 2)
    fail("needs at least two dimensions");
  bool upper = node.integer("upper", 1) != 0;
  int64_t k = node.has(1) ? node.knownInteger(1, "diagonal k") : 0;
  k = std::clamp<int64_t>(k, -(int64_t(1) << 40), int64_t(1) << 40);
  RankedTensorType indices =
      RankedTensorType::get({x.dim(-2), x.dim(-1)}, node.builder().getI64Type());
  Tensor row = prim::iota(node.builder(), node.loc(), indices, 0);
  Tensor distance = prim::iota(node.builder(), node.loc(), indices, 1) - row;
  Tensor keep = upper ? distance >= static_cast<double>(k) : distance <= static_cast<double>(k);
  return {prim::select(keep.broadcastTo(x.shape()), x, 0.0)};
}

Entities centerCropPad(Node &node) {
  Tensor x = node.in(0);
  SmallVector<int64_t> target = node.knownIntegers(1, "shape"), axes = node.integers("axes");
  if (!node.hasAttribute("axes")) {
    axes.resize(x.rank());
    std::iota(axes.begin(), axes.end(), 0);
  }
  if (axes.size() != target.size())
    fail("there are " + Twine(axes.size()) + " axes for " + Twine(target.size()) + " extents");
  node.axes(axes, x.rank());
  for (auto [given, extent] : llvm::zip(axes, target)) {
    int64_t axis = node.axis(given, x.rank()), rest = extent - x.dim(axis);
    if (extent < 0 || extent > int64_t(1) << 40)
      fail("an extent is " + Twine(extent));
    SmallVector<int64_t> low(x.rank(), 0), high(x.rank(), 0);
    if (rest > 0) {
      low[axis] = rest / 2;
      high[axis] = rest - low[axis];
      x = x.pad(0.0, low, high);
    } else if (rest < 0) {
      int64_t start = -rest / 2;
      x = x.sliceDim(axis, start, start + extent);
    }
  }
  return {x};
}

} // namespace

ArrayRef<OpRow> accc::onnx_import::shapeOps() {
  static const OpRow rows[] = {
      {"Identity", identity},
      {"Shape", shapeOf},
      {"Size", sizeOf},
      {"Reshape", reshape},
      {"Flatten", flatten},
      {"Squeeze", squeeze},
      {"Unsqueeze", unsqueeze},
      {"Transpose", transpose},
      {"Concat", concat},
      {"Split", split},
      {"Slice", slice},
      {"Expand", expand},
      {"Tile", tile, "", 6},
      {"DepthToSpace", depthToSpace},
      {"SpaceToDepth", spaceToDepth},
      {"Trilu", trilu},
      {"CenterCropPad", centerCropPad},
  };
  return rows;
}
