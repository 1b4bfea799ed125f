// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/Storage.h"
#include "frontend/common/ImportError.h"
#include "frontend/common/TensorTypes.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;
using namespace accc;
using namespace accc::frontend;
using llvm::Twine;

/// The elements in row-major order.
static std::vector<char> gathered(ArrayRef<char> storage, ArrayRef<int64_t> shape,
                                  ArrayRef<int64_t> strides, int64_t offset, int64_t width) {
  std::vector<char> bytes;
  SmallVector<int64_t> index(shape.size(), 0);
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  bytes.resize(static_cast<size_t>(count * width));
  int64_t at = offset;
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(bytes.data() + i * width, storage.data() + at * width, width);
    for (size_t d = shape.size(); d-- > 0;) {
      at += strides[d];
      if (++index[d] < shape[d])
        break;
      at -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
  return bytes;
}

Weight accc::frontend::stridedWeight(RankedTensorType type, ArrayRef<int64_t> strides,
                                     int64_t offset, const Archive::Record &storage,
                                     llvm::StringRef name) {
  ArrayRef<int64_t> shape = type.getShape();
  if (strides.size() != shape.size() || offset < 0)
    fail("the tensor '" + name + "' has the shape " + show(shape) + " and the strides " +
         show(strides));
  if (type.getNumElements() == 0)
    return ownedWeight(type, {});
  auto width = static_cast<int64_t>(byteWidth(type.getElementType()));
  // The last element, without overflow on the way.
  constexpr int64_t largest = int64_t(1) << 40;
  int64_t last = offset, expected = 1;
  bool isRowMajor = true, fits = offset <= largest;
  for (size_t d = shape.size(); d-- > 0;) {
    fits &= strides[d] >= 0 && strides[d] <= largest;
    if (!fits)
      break;
    isRowMajor &= shape[d] == 1 || strides[d] == expected;
    expected *= shape[d];
    int64_t span;
    fits &=
        !llvm::MulOverflow(shape[d] - 1, strides[d], span) && !llvm::AddOverflow(last, span, last);
  }
  int64_t available = static_cast<int64_t>(storage.bytes.size()) / width;
  if (!fits || last >= available)
    fail("the tensor '" + name + "' lies outside its storage of " + Twine(storage.bytes.size()) +
         " bytes");
  if (!isRowMajor)
    return ownedWeight(type, gathered(storage.bytes, shape, strides, offset, width));
  return {type,
          storage.bytes.slice(static_cast<size_t>(offset * width),
                              static_cast<size_t>(type.getNumElements() * width)),
          storage.owner};
}
