// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Device.h"

#include "DeviceLibrary.h"
#include "accc/model.h"

namespace accc::detail {

Tensor makeTensor(const accc_tensor &tensor) {
  auto shape = shape_of(tensor);
  return Tensor(static_cast<DType>(tensor.dtype), Shape(shape.begin(), shape.end()));
}

const Platform *findPlatform(std::string_view target) {
  static const DeviceLibrary cuda("cuda");
  if (target == "cpu")
    return &cpuPlatform();
  return target == "cuda" ? &cuda : nullptr;
}

} // namespace accc::detail
