// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Ones.h"

#include <bit>
#include <cstring>
#include <vector>

namespace accc::detail {

DeviceMemory makeOnes(const Context &context, DType type, uint64_t count) {
  size_t size = size_of(type);
  DeviceMemory ones(context, count * size, "a column of ones");
  if (count == 0)
    return ones;
  // The high half of 1 in f32 is that in bf16.
  uint64_t one = type == DType::f64   ? std::bit_cast<uint64_t>(1.0)
                 : type == DType::f16 ? 0x3c00
                 : type == DType::f32 ? 0x3f800000
                                      : 0x3f80;
  std::vector<char> values(ones.size());
  for (size_t at = 0; at < values.size(); at += size)
    std::memcpy(values.data() + at, &one, size);
  constexpr const char *doing = "writing a column of ones";
  context.driver.check(context.driver.cuMemcpyHtoDAsync(ones.address(), values.data(),
                                                        values.size(), context.stream),
                       doing);
  context.synchronize(doing);
  return ones;
}

} // namespace accc::detail
