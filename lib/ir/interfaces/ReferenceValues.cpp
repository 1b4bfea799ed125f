// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interfaces/ReferenceValues.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cassert>
#include <cstring>

using namespace mlir;
using namespace accc;

bool accc::isUnsignedElement(Type elementType) {
  auto integer = dyn_cast<IntegerType>(elementType);
  return integer && (integer.isUnsigned() || integer.getWidth() == 1);
}

uint64_t accc::integerBits(double value) {
  if (!(value < 0)) // also NaN
    return value >= 0x1p64 ? ~uint64_t(0) : value == value ? static_cast<uint64_t>(value) : 0;
  return static_cast<uint64_t>(value <= -0x1p63 ? INT64_MIN : static_cast<int64_t>(value));
}

double accc::wrapInteger(IntegerType type, uint64_t bits) {
  unsigned unused = 64 - type.getWidth();
  if (isUnsignedElement(type))
    return static_cast<double>(bits << unused >> unused);
  return static_cast<double>(static_cast<int64_t>(bits << unused) >> unused);
}

double accc::roundToElement(Type elementType, double value) {
  if (elementType.isF64())
    return value;
  if (elementType.isF32())
    return static_cast<float>(value);
  if (elementType.isInteger(1))
    return value != 0;
  return elementFromBits(elementType, elementBits(elementType, value));
}

APInt accc::elementBits(Type elementType, double value) {
  if (auto type = dyn_cast<FloatType>(elementType)) {
    APFloat number(value);
    bool losesInfo;
    number.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    return number.bitcastToAPInt();
  }
  unsigned width = cast<IntegerType>(elementType).getWidth();
  return width == 1 ? APInt(1, value != 0) : APInt(64, integerBits(value)).trunc(width);
}

double accc::elementFromBits(Type elementType, const APInt &bits) {
  if (auto type = dyn_cast<FloatType>(elementType)) {
    APFloat number(type.getFloatSemantics(), bits);
    bool losesInfo;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    return number.convertToDouble();
  }
  return wrapInteger(cast<IntegerType>(elementType), bits.getZExtValue());
}

ReferenceArray accc::toReference(ElementsAttr elements) {
  auto type = cast<RankedTensorType>(elements.getShapedType());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      return fromBytes(type, blob->getData());

  ReferenceArray array(type.getShape());
  Type element = type.getElementType();
  if (isa<FloatType>(element)) {
    for (auto [slot, number] : llvm::zip_equal(array.values, elements.getValues<APFloat>()))
      slot = elementFromBits(element, number.bitcastToAPInt());
  } else {
    for (auto [slot, number] : llvm::zip_equal(array.values, elements.getValues<APInt>()))
      slot = elementFromBits(element, number);
  }
  return array;
}

DenseElementsAttr accc::toElements(const ReferenceArray &array, RankedTensorType type) {
  assert(ArrayRef(array.shape) == type.getShape());
  Type element = type.getElementType();
  if (auto floatType = dyn_cast<FloatType>(element)) {
    SmallVector<APFloat> numbers;
    for (double value : array.values)
      numbers.emplace_back(floatType.getFloatSemantics(), elementBits(element, value));
    return DenseElementsAttr::get(type, numbers);
  }
  SmallVector<APInt> numbers;
  for (double value : array.values)
    numbers.push_back(elementBits(element, value));
  return DenseElementsAttr::get(type, numbers);
}

/// Bytes of one element in memory.
static size_t elementBytes(Type elementType) {
  return (elementType.getIntOrFloatBitWidth() + 7) / 8;
}

ReferenceArray accc::fromBytes(RankedTensorType type, ArrayRef<char> bytes) {
  Type element = type.getElementType();
  ReferenceArray array(type.getShape());
  size_t width = elementBytes(element);
  assert(bytes.size() == array.values.size() * width);
  for (size_t i = 0; i < array.values.size(); ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + i * width, width);
    array.values[i] = element.isInteger(1)
                          ? bits != 0
                          : elementFromBits(element, APInt(element.getIntOrFloatBitWidth(), bits));
  }
  return array;
}

std::vector<char> accc::toBytes(const ReferenceArray &array, RankedTensorType type) {
  Type element = type.getElementType();
  size_t width = elementBytes(element);
  std::vector<char> bytes(array.values.size() * width);
  for (size_t i = 0; i < array.values.size(); ++i) {
    uint64_t bits = elementBits(element, array.values[i]).getZExtValue();
    std::memcpy(bytes.data() + i * width, &bits, width);
  }
  return bytes;
}
