// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether tensors that a caller gives have the elements that they should.
#ifndef ACCC_RUNTIME_DATA_ELEMENTS_H
#define ACCC_RUNTIME_DATA_ELEMENTS_H

#include "accc/tensor.h"

#include <algorithm>
#include <string>

namespace accc::detail {

inline bool lacksElements(const Tensor &tensor) { return tensor.size_bytes() && !tensor.raw(); }

inline constexpr const char *kNoElements =
    "it has no elements in memory: it was moved from, or borrows a null pointer";

/// Which element is no boolean, as its byte is neither 0 nor 1: "element 3 is no boolean but 255".
/// Empty where all are, and for other types.
inline std::string describeNonBoolean(DType type, const void *data, size_t bytes) {
  if (type != DType::boolean)
    return "";
  const auto *begin = static_cast<const unsigned char *>(data), *end = begin + bytes;
  const auto *found = std::find_if(begin, end, [](unsigned char byte) { return byte > 1; });
  return found == end ? ""
                      : "element " + std::to_string(found - begin) + " is no boolean but " +
                            std::to_string(*found);
}

/// Why the elements can be neither a variable's nor those of a file, which others read; empty where
/// they can.
inline std::string whyNotKept(const Tensor &tensor) {
  return lacksElements(tensor)
             ? kNoElements
             : describeNonBoolean(tensor.dtype(), tensor.raw(), tensor.size_bytes());
}

} // namespace accc::detail

#endif // ACCC_RUNTIME_DATA_ELEMENTS_H
