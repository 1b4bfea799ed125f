// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Sizes.h"

using namespace accc;

size_t accc::countSizes(const CompileOptions &options) {
  size_t count = 1;
  for (const auto &[name, values] : options.dimensions)
    if (__builtin_mul_overflow(count, values.size(), &count))
      return SIZE_MAX;
  return count;
}

std::vector<Sizes> accc::allSizes(const CompileOptions &options) {
  std::vector<Sizes> all(1);
  for (const auto &[name, values] : options.dimensions) {
    std::vector<Sizes> longer;
    for (const Sizes &sizes : all)
      for (int64_t value : values) {
        Sizes &added = longer.emplace_back(sizes);
        added.dimensions[name] = value;
        if (values.size() > 1)
          added.text += (added.text.empty() ? "" : ",") + name + "=" + std::to_string(value);
      }
    all = std::move(longer);
  }
  return all;
}
