// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/ptx/Shadow.h"

#include <algorithm>
#include <bit>

namespace accc::ptx {

void Shadow::prepare(Page &page, unsigned shift, uint32_t generation) {
  if (page.generation != generation || !page.cells) {
    if (!page.cells || page.shift != shift)
      page.cells = std::make_unique<Cell[]>(pageBytes >> shift);
    else
      std::fill_n(page.cells.get(), pageBytes >> shift, Cell());
    page.shift = uint8_t(shift);
    page.generation = generation;
    return;
  }
  // A smaller access than any before: each cell becomes several.
  auto finer = std::make_unique<Cell[]>(pageBytes >> shift);
  for (unsigned i = 0; i < pageBytes >> shift; ++i)
    finer[i] = page.cells[i >> (page.shift - shift)];
  page.cells = std::move(finer);
  page.shift = uint8_t(shift);
}

Cell *Shadow::cells(uint64_t offset, unsigned bytes, uint32_t generation, unsigned &count) {
  size_t index = offset / pageBytes;
  if (index >= pages.size())
    pages.resize(index + 1);
  Page &page = pages[index];
  unsigned shift = unsigned(std::countr_zero(bytes));
  if (page.generation != generation || page.shift > shift)
    prepare(page, std::min(shift, 4u), generation);
  count = std::max(1u, bytes >> page.shift);
  return &page.cells[(offset % pageBytes) >> page.shift];
}

} // namespace accc::ptx
