// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "debug/Evaluation.h"

#include "ir/interfaces/ReferenceValues.h"
#include "ir/prim/ElementTypes.h"
#include "ir/prim/FunctionContract.h"
#include "reference/interpreter/Interpreter.h"

#include "mlir/IR/IRMapping.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace accc;

static RankedTensorType typeOf(const Tensor &tensor, MLIRContext *context) {
  Builder b(context);
  auto element = [&]() -> Type {
    switch (tensor.dtype()) {
    case DType::f32:
      return b.getF32Type();
    case DType::f64:
      return b.getF64Type();
    case DType::f16:
      return b.getF16Type();
    case DType::bf16:
      return b.getBF16Type();
    case DType::boolean:
      return b.getI1Type();
    case DType::i8:
      return b.getIntegerType(8);
    case DType::i16:
      return b.getIntegerType(16);
    case DType::i32:
      return b.getIntegerType(32);
    case DType::i64:
      return b.getIntegerType(64);
    case DType::u8:
      return b.getIntegerType(8, false);
    case DType::u16:
      return b.getIntegerType(16, false);
    case DType::u32:
      return b.getIntegerType(32, false);
    case DType::u64:
      return b.getIntegerType(64, false);
    }
    return {};
  };
  return RankedTensorType::get(tensor.shape(), element());
}

NamedArrays accc::startingValues(const TensorMap &inputs, const WeightTable &weights,
                                 double learningRate) {
  NamedArrays values;
  // Where no step takes one of these, the model's own may have its name.
  values["learning_rate"] = ReferenceArray({}, learningRate);
  values["seed"] = values["step"] = ReferenceArray(ArrayRef<int64_t>());
  MLIRContext scratch; // types of inputs are needed for a moment only
  for (const auto &[name, weight] : weights)
    values[name] = fromBytes(weight.type, weight.bytes);
  for (const auto &[name, tensor] : inputs) {
    auto type = typeOf(tensor, &scratch);
    auto weight = weights.find(name);
    if (weight == weights.end() || weight->second.type.getShape() == type.getShape())
      values[name] =
          fromBytes(type, {static_cast<const char *>(tensor.raw()), tensor.size_bytes()});
  }
  return values;
}

/// Dimension i of the result is dimension permutation[i] of the array.
static ReferenceArray permute(const ReferenceArray &array, ArrayRef<int64_t> permutation) {
  if (permutation.empty())
    return array;
  SmallVector<int64_t> shape, from(permutation.size());
  for (int64_t d : permutation)
    shape.push_back(array.shape[d]);
  ReferenceArray result(shape);
  ReferenceArray::forEachIndex(shape, [&](ArrayRef<int64_t> index) {
    for (auto [at, d] : llvm::zip_equal(index, permutation))
      from[d] = at;
    result.at(index) = array.at(from);
  });
  return result;
}

static SmallVector<int64_t> inverse(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> result(permutation.size());
  for (auto [i, d] : llvm::enumerate(permutation))
    result[d] = static_cast<int64_t>(i);
  return result;
}

ReferenceArray accc::toMemory(const ReferenceArray &array, ArrayRef<int64_t> order) {
  return permute(array, order);
}

ReferenceArray accc::fromMemory(const ReferenceArray &array, ArrayRef<int64_t> order) {
  return permute(array, inverse(order));
}

ArrayRef<int64_t> accc::variableOrder(func::FuncOp function, StringRef variable) {
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i)
    if (argumentText(function, i, kNameAttr) == variable)
      return argumentOrder(function, i);
  return {};
}

SmallVector<ReferenceArray> accc::argumentsOf(func::FuncOp function, const NamedArrays &values) {
  SmallVector<ReferenceArray> arguments;
  for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i) {
    auto name = function.getArgAttrOfType<StringAttr>(i, kNameAttr);
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[i]);
    auto found = name ? values.find(name) : values.end();
    arguments.push_back(found == values.end()
                            ? ReferenceArray(type.getShape())
                            : toMemory(found->second, argumentOrder(function, i)));
  }
  return arguments;
}

FailureOr<NamedArrays> accc::evaluate(func::FuncOp function, const NamedArrays &values) {
  SmallVector<ReferenceArray> results;
  if (failed(interpret(function, argumentsOf(function, values), results)))
    return failure();
  NamedArrays named;
  for (auto [i, result] : llvm::enumerate(results))
    if (auto variable = function.getResultAttrOfType<StringAttr>(i, kUpdatesAttr))
      named[("new " + variable.getValue()).str()] =
          fromMemory(result, variableOrder(function, variable));
    else if (auto name = function.getResultAttrOfType<StringAttr>(i, kNameAttr))
      named[name] = result;
  return named;
}

FailureOr<DenseMap<Value, ReferenceArray>> accc::evaluateAll(func::FuncOp function,
                                                             const NamedArrays &values) {
  // A clone that returns everything.
  IRMapping mapping;
  OwningOpRef<func::FuncOp> clone = cast<func::FuncOp>(function->clone(mapping));
  SmallVector<Value> originals, copies;
  for (Operation &op : function.front().without_terminator())
    for (Value result : op.getResults()) {
      originals.push_back(result);
      copies.push_back(mapping.lookup(result));
    }
  clone->setFunctionType(FunctionType::get(function.getContext(), function.getArgumentTypes(),
                                           ValueRange(copies).getTypes()));
  clone->setAllResultAttrs(ArrayRef<DictionaryAttr>());
  clone->front().getTerminator()->setOperands(copies);
  SmallVector<ReferenceArray> results;
  if (failed(interpret(*clone, argumentsOf(function, values), results)))
    return failure();
  DenseMap<Value, ReferenceArray> all;
  for (auto [original, result] : llvm::zip_equal(originals, results))
    all[original] = std::move(result);
  return all;
}

Tensor accc::toTensor(const ReferenceArray &array, RankedTensorType type) {
  Tensor tensor(static_cast<DType>(dtypeOf(type.getElementType())),
                Shape(type.getShape().begin(), type.getShape().end()));
  std::vector<char> bytes = toBytes(array, type);
  llvm::copy(bytes, static_cast<char *>(tensor.raw()));
  return tensor;
}

double accc::relativeDifference(const ReferenceArray &a, const ReferenceArray &b) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (a.size() != b.size())
    return infinity;
  double difference = 0, square = 0;
  for (auto [x, y] : llvm::zip_equal(a.values, b.values)) {
    if (x == y || (std::isnan(x) && std::isnan(y)))
      continue;
    if (!std::isfinite(x) || !std::isfinite(y))
      return infinity;
    difference += (x - y) * (x - y);
  }
  for (double y : b.values)
    if (std::isfinite(y))
      square += y * y;
  double n = std::max<double>(1, static_cast<double>(a.size()));
  // Gradients that are zero but for noise must not divide.
  return std::sqrt(difference / n) / std::max(std::sqrt(square / n), 1e-5);
}
