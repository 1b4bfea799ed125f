// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/torchexport/Overlap.h"

#include "frontend/common/TensorTypes.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

using namespace accc::torchexport;

MemoryView accc::torchexport::viewOf(const std::string &storage, mlir::RankedTensorType type,
                                     int64_t offset, llvm::ArrayRef<int64_t> strides) {
  auto width = static_cast<int64_t>(frontend::byteWidth(type.getElementType()));
  MemoryView view = {storage, offset * width, width, llvm::SmallVector<int64_t>(type.getShape()),
                     llvm::SmallVector<int64_t>(strides)};
  for (int64_t &stride : view.strides)
    stride *= width;
  return view;
}

/// Behind the last byte.
static int64_t endOf(const MemoryView &view) {
  int64_t end = view.offset + view.width;
  for (auto [extent, stride] : llvm::zip_equal(view.shape, view.strides))
    end += (extent - 1) * stride;
  return end;
}

static void forEachElement(const MemoryView &view, llvm::function_ref<void(int64_t offset)> body) {
  llvm::SmallVector<int64_t> index(view.shape.size(), 0);
  int64_t at = view.offset;
  while (true) {
    body(at);
    size_t d = index.size();
    for (; d-- > 0;) {
      at += view.strides[d];
      if (++index[d] < view.shape[d])
        break;
      at -= view.strides[d] * view.shape[d];
      index[d] = 0;
    }
    if (d == size_t(-1))
      return;
  }
}

/// What is wrong with views whose ranges of bytes overlap, each that of another: marks the bytes of
/// one after the other as its own.
static void checkCluster(llvm::ArrayRef<const NamedView *> cluster,
                         std::vector<std::string> &problems) {
  if (llvm::none_of(cluster, [](const NamedView *each) { return each->changes; }))
    return;
  int64_t begin = cluster.front()->view.offset, end = begin, grain = 0;
  for (const NamedView *each : cluster) {
    end = std::max(end, endOf(each->view));
    // Offsets and strides are multiples of the width.
    grain = std::gcd(grain, each->view.width);
  }
  begin -= begin % grain;
  std::vector<uint32_t> owners(static_cast<size_t>((end - begin) / grain), 0);
  for (auto [i, each] : llvm::enumerate(cluster)) {
    const NamedView *other = nullptr;
    forEachElement(each->view, [&](int64_t offset) {
      for (int64_t byte = offset; byte < offset + each->view.width; byte += grain) {
        uint32_t &owner = owners[static_cast<size_t>((byte - begin) / grain)];
        if (owner != 0 && (each->changes || cluster[owner - 1]->changes))
          other = cluster[owner - 1];
        owner = static_cast<uint32_t>(i + 1);
      }
    });
    if (other == each)
      problems.push_back("elements of the " + each->what + " share their memory");
    else if (other)
      problems.push_back("the " + other->what + " and the " + each->what +
                         " share a part of their memory");
  }
}

std::vector<std::string> accc::torchexport::findOverlaps(llvm::ArrayRef<NamedView> views) {
  std::map<llvm::StringRef, std::vector<const NamedView *>> storages;
  for (const NamedView &each : views)
    if (!llvm::is_contained(each.view.shape, 0))
      storages[each.view.storage].push_back(&each);
  std::vector<std::string> problems;
  for (auto &[storage, inside] : storages) {
    llvm::sort(inside, [](const NamedView *a, const NamedView *b) {
      return std::tie(a->view.offset, a->what) < std::tie(b->view.offset, b->what);
    });
    for (size_t first = 0; first < inside.size();) {
      size_t last = first;
      for (int64_t end = endOf(inside[first]->view);
           ++last < inside.size() && inside[last]->view.offset < end;)
        end = std::max(end, endOf(inside[last]->view));
      checkCluster(llvm::ArrayRef(inside).slice(first, last - first), problems);
      first = last;
    }
  }
  return problems;
}
