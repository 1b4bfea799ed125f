// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/aten/Layout.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cassert>
#include <numeric>

using namespace accc::aten;
using llvm::ArrayRef;
using Extents = llvm::SmallVector<int64_t>;

static int64_t product(ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
}

/// The strides of a dense tensor whose innermost dimension is the first of `order`. Extents count
/// as at least `least`.
static Extents stridesInOrder(ArrayRef<int64_t> shape, ArrayRef<int64_t> order, int64_t least = 1) {
  Extents strides(shape.size(), 1);
  int64_t next = 1;
  for (int64_t d : order) {
    strides[d] = next;
    next *= std::max(shape[d], least);
  }
  return strides;
}

/// The dimensions of a tensor in this format, the innermost first.
static Extents orderOf(size_t rank, MemoryFormat format) {
  if (format == MemoryFormat::ChannelsLast)
    return {1, 3, 2, 0};
  if (format == MemoryFormat::ChannelsLast3d)
    return {1, 4, 3, 2, 0};
  Extents order(rank);
  std::iota(order.rbegin(), order.rend(), 0);
  return order;
}

static bool fits(size_t rank, MemoryFormat format) {
  return (format != MemoryFormat::ChannelsLast || rank == 4) &&
         (format != MemoryFormat::ChannelsLast3d || rank == 5);
}

Layout Layout::unknown(ArrayRef<int64_t> shape, std::string origin) {
  Layout result;
  result.extents.assign(shape.begin(), shape.end());
  result.unknownOrigin = std::move(origin);
  return result;
}

Layout Layout::contiguous(ArrayRef<int64_t> shape) {
  return Layout(shape, stridesInOrder(shape, orderOf(shape.size(), MemoryFormat::Contiguous)));
}

Layout::Layout(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides, int64_t offset)
    : extents(shape), lies(Extents(strides)), first(offset) {
  assert(shape.size() == strides.size());
}

bool Layout::operator==(const Layout &other) const {
  return extents == other.extents && lies == other.lies && first == other.first;
}

// ---- questions ----

bool Layout::isIn(MemoryFormat format) const {
  if (!fits(extents.size(), format))
    return false;
  if (format == MemoryFormat::Contiguous && llvm::is_contained(extents, 0))
    return true;
  int64_t expected = 1;
  for (int64_t d : orderOf(extents.size(), format)) {
    if (extents[d] != 1 && (*lies)[d] != expected)
      return false;
    expected *= extents[d] == 1 ? 1 : extents[d];
  }
  return true;
}

MemoryFormat Layout::suggestedFormat() const {
  for (MemoryFormat format : {MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d}) {
    if (!fits(extents.size(), format) || (*lies)[1] == 0)
      continue;
    int64_t least = 0;
    bool isOrdered = true;
    for (int64_t d : orderOf(extents.size(), format)) {
      // [N, 1, 1, 1] may be in either format, and counts as contiguous.
      isOrdered &= extents[d] != 0 && (*lies)[d] >= least && !(d == 0 && least == (*lies)[1]);
      least = (*lies)[d] * (extents[d] > 1 ? extents[d] : 1);
    }
    if (isOrdered)
      return format;
  }
  return MemoryFormat::Contiguous;
}

bool Layout::isDense() const {
  if (isIn(MemoryFormat::Contiguous))
    return true;
  Extents order;
  for (size_t d = 0; d < extents.size(); ++d)
    if (extents[d] > 1)
      order.push_back(static_cast<int64_t>(d));
  llvm::sort(order, [&](int64_t a, int64_t b) {
    return std::pair((*lies)[a], a) < std::pair((*lies)[b], b);
  });
  int64_t expected = 1;
  for (int64_t d : order) {
    if ((*lies)[d] != expected)
      return false;
    expected *= extents[d];
  }
  return true;
}

bool Layout::overlaps() const {
  if (llvm::is_contained(extents, 0) || isDense())
    return false;
  Extents order;
  for (size_t d = 0; d < extents.size(); ++d)
    if (extents[d] > 1)
      order.push_back(static_cast<int64_t>(d));
  llvm::sort(order, [&](int64_t a, int64_t b) { return (*lies)[a] < (*lies)[b]; });
  // Each dimension steps over all that the ones inside of it reach, as in slices.
  int64_t last = 0;
  bool isNested = true;
  for (int64_t d : order) {
    isNested &= (*lies)[d] > last;
    last += (extents[d] - 1) * (*lies)[d];
  }
  constexpr int64_t kMostCounted = int64_t(1) << 28;
  if (isNested || last + 1 < product(extents) || last > kMostCounted)
    return !isNested;
  llvm::BitVector isTaken(static_cast<unsigned>(last + 1));
  Extents index(extents.size(), 0);
  for (int64_t at = 0;;) {
    if (isTaken.test(static_cast<unsigned>(at)))
      return true;
    isTaken.set(static_cast<unsigned>(at));
    size_t d = extents.size();
    for (; d-- > 0;) {
      at += (*lies)[d];
      if (++index[d] < extents[d])
        break;
      at -= (*lies)[d] * extents[d];
      index[d] = 0;
    }
    if (d == size_t(-1))
      return false;
  }
}

// ---- views ----

Layout Layout::transposed(ArrayRef<int64_t> order) const {
  if (!isKnown())
    return *this;
  Layout result = *this;
  for (auto [i, d] : llvm::enumerate(order)) {
    result.extents[i] = extents[d];
    (*result.lies)[i] = (*lies)[d];
  }
  return result;
}

Layout Layout::sliced(int64_t dim, int64_t start, int64_t step, int64_t extent) const {
  if (!isKnown())
    return *this;
  Layout result = *this;
  result.first += start * (*lies)[dim];
  result.extents[dim] = extent;
  // A step that is too large for a number leaves one element, of which the stride does not count.
  if (llvm::MulOverflow((*lies)[dim], step, (*result.lies)[dim]))
    (*result.lies)[dim] = 1;
  return result;
}

Layout Layout::selected(int64_t dim, int64_t index) const {
  if (!isKnown())
    return *this;
  Layout result = *this;
  result.first += index * (*lies)[dim];
  result.extents.erase(result.extents.begin() + dim);
  result.lies->erase(result.lies->begin() + dim);
  return result;
}

Layout Layout::unsqueezed(int64_t dim) const {
  if (!isKnown())
    return *this;
  Layout result = *this;
  bool isLast = dim == static_cast<int64_t>(extents.size());
  result.lies->insert(result.lies->begin() + dim, isLast ? 1 : extents[dim] * (*lies)[dim]);
  result.extents.insert(result.extents.begin() + dim, 1);
  return result;
}

Layout Layout::squeezed(ArrayRef<int64_t> dims) const {
  if (!isKnown())
    return *this;
  Layout result = *this;
  for (size_t d = extents.size(); d-- > 0;)
    if (extents[d] == 1 && llvm::is_contained(dims, static_cast<int64_t>(d)))
      result = result.selected(static_cast<int64_t>(d), 0);
  return result;
}

Layout Layout::expanded(ArrayRef<int64_t> shape) const {
  if (!isKnown())
    return *this;
  Layout result(shape, Extents(shape.size(), 0), first);
  if (extents.empty())
    return result;
  size_t added = shape.size() - extents.size();
  for (size_t d = shape.size(); d-- > 0;) {
    bool isNew = d < added;
    int64_t extent = isNew ? 1 : extents[d - added];
    int64_t stride = isNew ? shape[d + 1] * (*result.lies)[d + 1] : (*lies)[d - added];
    (*result.lies)[d] = extent == shape[d] ? stride : 0;
  }
  return result;
}

Layout Layout::unfolded(int64_t dim, int64_t size, int64_t step, int64_t count) const {
  if (!isKnown())
    return *this;
  Layout result = sliced(dim, 0, step, count);
  result.extents.push_back(size);
  result.lies->push_back((*lies)[dim]);
  return result;
}

Layout Layout::diagonal(int64_t offset, int64_t dim1, int64_t dim2, int64_t length) const {
  if (!isKnown())
    return *this;
  Layout result = *this;
  if (length > 0)
    result.first += offset >= 0 ? offset * (*lies)[dim2] : -offset * (*lies)[dim1];
  for (int64_t d : {std::max(dim1, dim2), std::min(dim1, dim2)}) {
    result.extents.erase(result.extents.begin() + d);
    result.lies->erase(result.lies->begin() + d);
  }
  result.extents.push_back(length);
  result.lies->push_back((*lies)[dim1] + (*lies)[dim2]);
  return result;
}

Layout Layout::asPairs() const {
  if (!isKnown())
    return *this;
  Layout result = *this;
  result.first *= 2;
  for (int64_t &stride : *result.lies)
    stride *= 2;
  result.extents.push_back(2);
  result.lies->push_back(1);
  return result;
}

Layout Layout::asComplex() const {
  if (!isKnown())
    return *this;
  Layout result = selected(static_cast<int64_t>(extents.size()) - 1, 0);
  result.first /= 2;
  for (int64_t &stride : *result.lies)
    stride /= 2;
  return result;
}

/// PyTorch's computeStride. `isMerged` says whether a dimension lies so in front of the one behind
/// it that both can be one, of a last stride and the number of elements behind it.
static std::optional<Extents>
stridesOfView(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides, ArrayRef<int64_t> newShape,
              llvm::function_ref<bool(size_t dim, int64_t expected)> isMerged) {
  Extents result(newShape.size(), 1);
  if (shape.empty())
    return result;
  int64_t base = strides.back(), oldCount = 1, newCount = 1;
  size_t next = newShape.size();
  for (size_t d = shape.size(); d-- > 0;) {
    oldCount *= shape[d];
    if (d > 0 && (shape[d - 1] == 1 || isMerged(d - 1, oldCount * base)))
      continue;
    for (; next > 0 && (newCount < oldCount || newShape[next - 1] == 1); --next) {
      result[next - 1] = newCount * base;
      newCount *= newShape[next - 1];
    }
    if (newCount != oldCount)
      return std::nullopt;
    if (d > 0) {
      base = strides[d - 1];
      oldCount = newCount = 1;
    }
  }
  return next == 0 ? std::optional(result) : std::nullopt;
}

std::optional<Layout> Layout::viewed(ArrayRef<int64_t> shape) const {
  bool isEmpty = llvm::is_contained(extents, 0);
  if (isEmpty && shape == ArrayRef(extents))
    return *this;
  if (isEmpty) {
    Layout result = contiguous(shape);
    result.first = first;
    return isKnown() ? result : unknown(shape, unknownOrigin);
  }
  if (!isKnown()) {
    Extents any(extents.size(), 1);
    bool isView =
        stridesOfView(extents, any, shape, [](size_t, int64_t) { return false; }).has_value();
    return isView ? std::optional(unknown(shape, unknownOrigin)) : std::nullopt;
  }
  std::optional<Extents> strides =
      stridesOfView(extents, *lies, shape,
                    [&](size_t dim, int64_t expected) { return (*lies)[dim] == expected; });
  return strides ? std::optional(Layout(shape, *strides, first)) : std::nullopt;
}

// ---- copies ----

/// The dimensions in the order in which PyTorch goes through operands of these strides, the
/// innermost first.
static Extents iterationOrder(ArrayRef<int64_t> shape, ArrayRef<Extents> operands) {
  Extents order = orderOf(shape.size(), MemoryFormat::Contiguous);
  // Whether dimension `a` comes before `b` (-1), after it (1), or either.
  auto compare = [&](int64_t a, int64_t b) {
    for (const Extents &strides : operands) {
      if (strides[a] == 0 || strides[b] == 0)
        continue;
      if (strides[a] != strides[b])
        return strides[a] < strides[b] ? -1 : 1;
      if (shape[a] > shape[b])
        return 1;
    }
    return 0;
  };
  for (size_t i = 1; i < order.size(); ++i) {
    size_t moved = i;
    for (size_t k = i; k-- > 0;) {
      int which = compare(order[k], order[moved]);
      if (which < 0)
        break;
      if (which == 0)
        continue;
      std::swap(order[k], order[moved]);
      moved = k;
    }
  }
  return order;
}

Layout Layout::copied(MemoryFormat format) const {
  if (format != MemoryFormat::Preserve && fits(extents.size(), format))
    return Layout(extents, stridesInOrder(extents, orderOf(extents.size(), format)));
  if (!isKnown())
    return *this;
  if (isDense())
    return Layout(extents, *lies);
  return Layout(extents, stridesInOrder(extents, iterationOrder(extents, {*lies})));
}

Layout Layout::ofElementwise(ArrayRef<int64_t> shape, ArrayRef<Layout> operands) {
  for (const Layout &each : operands)
    if (!each.isKnown())
      return unknown(shape, each.unknownOrigin);
  auto isOf = [&](llvm::function_ref<bool(const Layout &)> condition) {
    return llvm::all_of(operands, condition);
  };
  if (!operands.empty() && isOf([&](const Layout &x) { return x.shape() == shape; })) {
    for (MemoryFormat format : {MemoryFormat::Contiguous, MemoryFormat::ChannelsLast})
      if (isOf([&](const Layout &x) { return x.isIn(format); }))
        return operands.front().copied(format);
    if (isOf([&](const Layout &x) {
          return x.isDense() && x.strides() == operands.front().strides();
        }))
      return Layout(shape, operands.front().strides());
  }
  llvm::SmallVector<Extents> all;
  for (const Layout &each : operands) {
    Extents strides(shape.size(), 0);
    size_t added = shape.size() - each.shape().size();
    for (size_t d = 0; d < each.shape().size(); ++d)
      if (each.shape()[d] != 1 || shape[added + d] == 1)
        strides[added + d] = each.strides()[d];
    all.push_back(std::move(strides));
  }
  Extents order = iterationOrder(shape, all);
  if (order == orderOf(shape.size(), MemoryFormat::Contiguous))
    return contiguous(shape);
  return Layout(shape, stridesInOrder(shape, order, 0));
}
