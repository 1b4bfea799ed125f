// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/TensorTypes.h"
#include "frontend/common/ImportError.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;
using namespace accc;
using namespace accc::frontend;

uint64_t accc::frontend::byteWidth(Type elementType) {
  if (auto complex = dyn_cast<ComplexType>(elementType))
    return 2 * byteWidth(complex.getElementType());
  return std::max(1u, elementType.getIntOrFloatBitWidth() / 8);
}

RankedTensorType accc::frontend::tensorType(ArrayRef<int64_t> shape, Type elementType) {
  constexpr uint64_t limit = uint64_t(1) << 40;
  uint64_t nonZero = byteWidth(elementType);
  if (shape.size() > 64)
    fail("a tensor has " + Twine(shape.size()) + " dimensions");
  for (int64_t extent : shape) {
    if (extent < 0)
      fail("a tensor has a negative extent: " + Twine(extent));
    // An extent of 0 must not hide others that overflow.
    nonZero = llvm::SaturatingMultiply(nonZero, std::max<uint64_t>(extent, 1));
  }
  if (nonZero > limit)
    fail("a tensor is larger than 2^40 bytes");
  return RankedTensorType::get(shape, elementType);
}

uint64_t accc::frontend::byteSize(RankedTensorType type) {
  return type.getNumElements() * byteWidth(type.getElementType());
}

Weight accc::frontend::ownedWeight(RankedTensorType type, std::vector<char> bytes) {
  auto owner = std::make_shared<const std::vector<char>>(std::move(bytes));
  return Weight{type, ArrayRef<char>(owner->data(), owner->size()), owner};
}

DenseElementsAttr accc::frontend::attributeOf(const Weight &weight) {
  int64_t count = weight.type.getNumElements();
  if (weight.type.getElementType().isInteger(1)) {
    SmallVector<bool> values;
    for (char byte : weight.bytes)
      values.push_back(byte != 0);
    return DenseElementsAttr::get(weight.type, values);
  }
  // One element stands for all where they are equal.
  size_t width = weight.type.getElementTypeBitWidth() / 8;
  bool splat = count > 1;
  for (int64_t i = 1; splat && i < count; ++i)
    splat = std::memcmp(weight.bytes.data(), weight.bytes.data() + i * width, width) == 0;
  return DenseElementsAttr::getFromRawBuffer(weight.type,
                                             splat ? weight.bytes.take_front(width) : weight.bytes);
}

std::string accc::frontend::show(ArrayRef<int64_t> shape) {
  return "[" +
         llvm::join(llvm::map_range(shape, [](int64_t d) { return std::to_string(d); }), ", ") +
         "]";
}

std::string accc::frontend::show(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream(text) << type.getElementType();
  return text + show(type.getShape());
}
