// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors made from nothing.
#include "frontend/onnx/GraphImporter.h"
#include "frontend/onnx/OpTable.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using accc::prim::Tensor;

namespace {

Entities constant(Node &node) {
  OpBuilder &b = node.builder();
  TensorReader &tensors = node.importer().tensors();
  if (const onnx::AttributeProto *value = node.find("value")) {
    if (!value->has_t())
      fail("the attribute 'value' must be a tensor");
    return {node.constant(tensors.attribute(value->t()))};
  }
  if (const onnx::AttributeProto *value = node.find("sparse_value")) {
    if (!value->has_sparse_tensor())
      fail("the attribute 'sparse_value' must be a sparse tensor");
    return {node.constant(tensors.attribute(value->sparse_tensor()))};
  }
  if (node.hasAttribute("value_int"))
    return {node.integers({node.integer("value_int")}, {})};
  if (node.hasAttribute("value_float"))
    return {node.scalar(node.real("value_float"), b.getF32Type())};
  if (node.hasAttribute("value_ints")) {
    SmallVector<int64_t> values = node.integers("value_ints");
    return {node.integers(values, {static_cast<int64_t>(values.size())})};
  }
  if (node.hasAttribute("value_floats")) {
    SmallVector<float> values(
        llvm::map_range(node.reals("value_floats"), [](double x) { return float(x); }));
    auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, b.getF32Type());
    return {node.constant(DenseElementsAttr::get(type, ArrayRef<float>(values)))};
  }
  fail("holds no value of a supported kind");
}

Entities constantOfShape(Node &node) {
  SmallVector<int64_t> shape = node.knownIntegers(0, "shape");
  const onnx::AttributeProto *value = node.find("value");
  if (!value)
    return {node.full(shape, node.builder().getF32Type(), 0)};
  if (!value->has_t())
    fail("the attribute 'value' must be a tensor");
  DenseElementsAttr element = node.importer().tensors().attribute(value->t());
  if (element.getNumElements() != 1)
    fail("the attribute 'value' must hold one element");
  RankedTensorType type = tensorType(shape, element.getElementType());
  return {node.constant(DenseElementsAttr::get(type, *element.value_begin<Attribute>()))};
}

/// Where a range begins, a scalar, and how far it is from there to its limit. Integers as they are:
/// a double does not hold all of them.
std::pair<Tensor, double> boundsOfRange(Node &node) {
  Type element = node.in(0).elementType();
  if (isa<FloatType>(element)) {
    double start = node.knownReal(0, "start");
    return {node.scalar(start, element), node.knownReal(1, "limit") - start};
  }
  int64_t start = node.knownInteger(0, "start"), limit = node.knownInteger(1, "limit"), distance;
  if (llvm::SubOverflow(limit, start, distance))
    fail("a range from " + Twine(start) + " to " + Twine(limit));
  return {node.integers({start}, {}).convert(element), static_cast<double>(distance)};
}

/// start, start + delta, ... below limit
Entities range(Node &node) {
  auto [start, distance] = boundsOfRange(node);
  double delta = node.knownReal(2, "delta");
  if (delta == 0)
    fail("the step is 0");
  double count = std::ceil(distance / delta);
  if (!(count < 0x1p40))
    fail("a range of " + Twine(std::to_string(count)) + " elements");
  RankedTensorType type =
      tensorType({std::max<int64_t>(0, static_cast<int64_t>(count))}, start.elementType());
  return {prim::iota(node.builder(), node.loc(), type, 0) * delta + start};
}

Entities eyeLike(Node &node) {
  Tensor x = node.in(0);
  if (x.rank() != 2)
    fail("needs a matrix, but the input has the shape " + show(x.shape()));
  Type type = node.hasAttribute("dtype")
                  ? elementType(node.context(), static_cast<int32_t>(node.integer("dtype")))
                  : x.elementType();
  RankedTensorType indices = x.type().clone(node.builder().getI64Type());
  Tensor distance = prim::iota(node.builder(), node.loc(), indices, 1) -
                    prim::iota(node.builder(), node.loc(), indices, 0);
  return {prim::equal(distance, static_cast<double>(node.integer("k", 0))).convert(type)};
}

/// a - b cos(2 pi i / n) + c cos(4 pi i / n) for i = 0 ... size - 1, where n is size if periodic,
/// else size - 1
Entities window(Node &node, double a, double b, double c) {
  int64_t size = node.knownInteger(0, "size");
  Type type = elementType(node.context(), static_cast<int32_t>(node.integer("output_datatype", 1)));
  Type wide = node.builder().getF64Type();
  RankedTensorType shape = tensorType({size}, wide);
  double period = static_cast<double>(node.integer("periodic", 1) ? size : size - 1);
  Tensor at = prim::iota(node.builder(), node.loc(), shape, 0) * (2 * M_PI / period);
  return {(a - b * prim::cos(at) + c * prim::cos(at * 2.0)).convert(type)};
}
Entities hann(Node &node) { return window(node, 0.5, 0.5, 0.0); }
Entities hamming(Node &node) { return window(node, 25.0 / 46, 21.0 / 46, 0.0); }
Entities blackman(Node &node) { return window(node, 0.42, 0.5, 0.08); }

} // namespace

ArrayRef<OpRow> accc::onnx_import::constantOps() {
  static const OpRow rows[] = {
      {"Constant", constant},
      {"ConstantOfShape", constantOfShape},
      {"Range", range},
      {"EyeLike", eyeLike},
      {"HannWindow", hann},
      {"HammingWindow", hamming},
      {"BlackmanWindow", blackman},
  };
  return rows;
}
