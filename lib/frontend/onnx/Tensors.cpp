// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/Tensors.h"
#include "frontend/common/ImportError.h"

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
  case 24:
    fail("tensors of 8-bit floats are not supported");
  case 21:
  case 22:
    fail("tensors of 4-bit integers are not supported");
  case 23:
    fail("tensors of 4-bit floats are not supported");
  case 25:
  case 26:
    fail("tensors of 2-bit integers are not supported");
  default:
    fail("tensors of the ONNX data type " + Twine(dataType) + " are not supported");
  }
}

namespace {

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
    weight = ownedWeight(type, typedField(tensor));
  }
  if (weight.bytes.size() != size)
    fail("the tensor '" + tensor.name() + "' has " + Twine(weight.bytes.size()) +
         " bytes where its type needs " + Twine(size));
  return weight;
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
  return attributeOf(ownedWeight(type, std::move(bytes)));
}
