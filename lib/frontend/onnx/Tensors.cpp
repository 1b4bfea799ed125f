// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/Tensors.h"
#include "frontend/onnx/Error.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;

Type accc::onnx_import::elementType(MLIRContext &context, int32_t dataType) {
  Builder b(&context);
  switch (dataType) {
  case onnx::TensorProto::FLOAT:
    return b.getF32Type();
  case onnx::TensorProto::DOUBLE:
    return b.getF64Type();
  case onnx::TensorProto::FLOAT16:
    return b.getF16Type();
  case onnx::TensorProto::BFLOAT16:
    return b.getBF16Type();
  case onnx::TensorProto::INT8:
    return b.getI8Type();
  case onnx::TensorProto::INT16:
    return b.getI16Type();
  case onnx::TensorProto::INT32:
    return b.getI32Type();
  case onnx::TensorProto::INT64:
    return b.getI64Type();
  case onnx::TensorProto::UINT8:
    return b.getIntegerType(8, /*isSigned=*/false);
  case onnx::TensorProto::UINT16:
    return b.getIntegerType(16, /*isSigned=*/false);
  case onnx::TensorProto::UINT32:
    return b.getIntegerType(32, /*isSigned=*/false);
  case onnx::TensorProto::UINT64:
    return b.getIntegerType(64, /*isSigned=*/false);
  case onnx::TensorProto::BOOL:
    return b.getI1Type();
  case onnx::TensorProto::STRING:
    fail("tensors of strings are not supported");
  case onnx::TensorProto::COMPLEX64:
  case onnx::TensorProto::COMPLEX128:
    fail("tensors of complex numbers are not supported");
  case 17:
  case 18:
  case 19:
  case 20:
    fail("tensors of 8-bit floats are not supported");
  default:
    fail("tensors of the ONNX data type " + Twine(dataType) + " are not supported");
  }
}

RankedTensorType accc::onnx_import::tensorType(ArrayRef<int64_t> shape, Type elementType) {
  constexpr uint64_t limit = uint64_t(1) << 40;
  uint64_t bytes = std::max(1u, elementType.getIntOrFloatBitWidth() / 8), nonZero = bytes;
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

namespace {

/// Bytes that belong to the weight.
Weight owned(RankedTensorType type, std::vector<char> bytes) {
  auto owner = std::make_shared<const std::vector<char>>(std::move(bytes));
  return Weight{type, ArrayRef<char>(owner->data(), owner->size()), owner};
}

/// Narrows the elements of a typed field to the width of the element type.
template <typename To, typename Field> std::vector<char> narrow(const Field &field) {
  std::vector<char> bytes(sizeof(To) * field.size());
  for (int i = 0; i < field.size(); ++i) {
    To value = static_cast<To>(field.Get(i));
    std::memcpy(bytes.data() + sizeof(To) * i, &value, sizeof(To));
  }
  return bytes;
}

/// The typed field that holds a tensor of this type, as bytes.
std::vector<char> typedField(const onnx::TensorProto &tensor) {
  switch (tensor.data_type()) {
  case onnx::TensorProto::FLOAT:
    return narrow<float>(tensor.float_data());
  case onnx::TensorProto::DOUBLE:
    return narrow<double>(tensor.double_data());
  case onnx::TensorProto::INT64:
    return narrow<int64_t>(tensor.int64_data());
  case onnx::TensorProto::UINT64:
    return narrow<uint64_t>(tensor.uint64_data());
  case onnx::TensorProto::UINT32:
    return narrow<uint32_t>(tensor.uint64_data());
  case onnx::TensorProto::INT32:
    return narrow<int32_t>(tensor.int32_data());
  case onnx::TensorProto::INT16:
    return narrow<int16_t>(tensor.int32_data());
  case onnx::TensorProto::UINT16:
  case onnx::TensorProto::FLOAT16:
  case onnx::TensorProto::BFLOAT16:
    return narrow<uint16_t>(tensor.int32_data());
  default: // INT8, UINT8, BOOL
    return narrow<uint8_t>(tensor.int32_data());
  }
}

uint64_t byteSize(RankedTensorType type) {
  return type.getNumElements() * std::max(1u, type.getElementTypeBitWidth() / 8);
}

} // namespace

RankedTensorType TensorReader::type(const onnx::TensorProto &tensor) const {
  SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
  return tensorType(shape, elementType(context, tensor.data_type()));
}

Weight TensorReader::weight(const onnx::TensorProto &tensor) {
  RankedTensorType type = this->type(tensor);
  uint64_t size = byteSize(type);
  if (tensor.has_segment())
    fail("the tensor '" + tensor.name() + "' is given in segments, which is not supported");
  Weight weight;
  if (tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    ExternalData::Bytes bytes = files.read(tensor, size);
    weight = Weight{type, bytes.bytes, bytes.owner};
  } else if (tensor.has_raw_data()) {
    weight =
        Weight{type, ArrayRef<char>(tensor.raw_data().data(), tensor.raw_data().size()), model};
  } else {
    weight = owned(type, typedField(tensor));
  }
  if (weight.bytes.size() != size)
    fail("the tensor '" + tensor.name() + "' has " + Twine(weight.bytes.size()) +
         " bytes where its type needs " + Twine(size));
  return weight;
}

DenseElementsAttr accc::onnx_import::attributeOf(const Weight &weight) {
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

DenseElementsAttr TensorReader::attribute(const onnx::TensorProto &tensor) {
  return attributeOf(weight(tensor));
}

DenseElementsAttr TensorReader::attribute(const onnx::SparseTensorProto &tensor) {
  Weight values = weight(tensor.values());
  SmallVector<int64_t> shape(tensor.dims().begin(), tensor.dims().end());
  RankedTensorType type = tensorType(shape, values.type.getElementType());
  if (tensor.indices().data_type() != onnx::TensorProto::INT64)
    fail("a sparse tensor whose indices are not int64");
  if (byteSize(type) > (uint64_t(1) << 31))
    fail("a sparse tensor of more than 2 GiB, made dense");
  DenseElementsAttr positions = attribute(tensor.indices());
  SmallVector<int64_t> flat(positions.getValues<int64_t>());
  int64_t count = values.type.getNumElements(), rank = type.getRank();
  bool linear = positions.getType().getRank() == 1;
  if (values.type.getRank() != 1 ||
      static_cast<int64_t>(flat.size()) != (linear ? count : count * rank))
    fail("a sparse tensor whose values and indices do not fit each other");
  size_t width = std::max(1u, type.getElementTypeBitWidth() / 8);
  std::vector<char> bytes(byteSize(type), 0);
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = linear ? flat[i] : 0;
    bool inside = linear ? at >= 0 && at < type.getNumElements() : true;
    for (int64_t d = 0; !linear && d < rank; ++d) {
      int64_t index = flat[i * rank + d];
      inside &= index >= 0 && index < shape[d];
      at = at * shape[d] + index;
    }
    if (!inside)
      fail("a sparse tensor with an index outside its shape");
    std::memcpy(bytes.data() + at * width, values.bytes.data() + i * width, width);
  }
  return attributeOf(owned(type, std::move(bytes)));
}
