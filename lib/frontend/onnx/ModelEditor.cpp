// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/ModelEditor.h"

#include <algorithm>
#include <cstring>

using namespace accc;
using namespace accc::onnx_import;

ModelEditor::ModelEditor(onnx::ModelProto &model, TensorReader &tensors)
    : graph(*model.mutable_graph()), tensors(tensors), oldNodes(graph.node_size()) {
  for (const onnx::TensorProto &tensor : graph.initializer())
    initializers[tensor.name()] = &tensor;
}

ModelEditor::~ModelEditor() {
  auto begin = graph.mutable_node()->pointer_begin();
  std::rotate(begin, begin + oldNodes, graph.mutable_node()->pointer_end());
}

const onnx::TensorProto *ModelEditor::find(llvm::StringRef name) const {
  return initializers.lookup(name);
}

bool ModelEditor::isFloat(const onnx::TensorProto &tensor) {
  switch (tensor.data_type()) {
  case onnx::TensorProto::FLOAT:
  case onnx::TensorProto::DOUBLE:
  case onnx::TensorProto::FLOAT16:
  case onnx::TensorProto::BFLOAT16:
    return true;
  default:
    return false;
  }
}

const onnx::TensorProto *ModelEditor::findFloat(llvm::StringRef name) const {
  const onnx::TensorProto *tensor = find(name);
  return tensor && isFloat(*tensor) ? tensor : nullptr;
}

llvm::ArrayRef<char> ModelEditor::bytesOf(const onnx::TensorProto &tensor) {
  if (!tensor.has_raw_data() && tensor.data_location() != onnx::TensorProto::EXTERNAL) {
    // Typed fields are read into memory that nobody keeps: kept as raw data from here on.
    Weight weight = tensors.weight(tensor);
    auto &changed = const_cast<onnx::TensorProto &>(tensor); // a message of `graph`
    changed.set_raw_data(weight.bytes.data(), weight.bytes.size());
  }
  return tensors.weight(tensor).bytes; // of the message, or of a mapped file: both outlive this
}

size_t ModelEditor::elementSize(const onnx::TensorProto &tensor) {
  return tensors.type(tensor).getElementTypeBitWidth() / 8;
}

std::string ModelEditor::transposed(const onnx::TensorProto &matrix) {
  llvm::ArrayRef<char> from = bytesOf(matrix);
  size_t rows = matrix.dims(0), columns = matrix.dims(1), width = elementSize(matrix);
  std::string to(from.size(), '\0');
  constexpr size_t kTile = 32; // keeps both sides in the cache
  for (size_t top = 0; top < rows; top += kTile)
    for (size_t left = 0; left < columns; left += kTile)
      for (size_t i = top; i < std::min(top + kTile, rows); ++i)
        for (size_t j = left; j < std::min(left + kTile, columns); ++j)
          std::memcpy(&to[(j * rows + i) * width], &from[(i * columns + j) * width], width);
  return to;
}

void ModelEditor::addInitializer(llvm::StringRef name, const onnx::TensorProto &like,
                                 llvm::ArrayRef<int64_t> dims, std::string bytes) {
  if (find(name))
    return;
  onnx::TensorProto &tensor = *graph.add_initializer();
  tensor.set_name(name.str());
  tensor.set_data_type(like.data_type());
  for (int64_t extent : dims)
    tensor.add_dims(extent);
  tensor.set_raw_data(std::move(bytes));
  initializers[name] = &tensor;
}

void ModelEditor::addCopy(llvm::StringRef name, const onnx::TensorProto &source) {
  llvm::ArrayRef<char> bytes = bytesOf(source);
  llvm::SmallVector<int64_t> dims(source.dims().begin(), source.dims().end());
  addInitializer(name, source, dims, std::string(bytes.data(), bytes.size()));
}

std::string ModelEditor::addTransposed(llvm::StringRef name, const onnx::TensorProto &source) {
  std::string &value = read[name];
  if (value.empty()) {
    addInitializer(name, source, {source.dims(1), source.dims(0)}, transposed(source));
    value = addNode("Transpose", {name.str()}); // reverses the axes
  }
  return value;
}

std::string ModelEditor::addReshaped(llvm::StringRef name, const onnx::TensorProto &source,
                                     llvm::ArrayRef<int64_t> dims) {
  std::string &value = read[name];
  if (value.empty()) {
    llvm::ArrayRef<char> bytes = bytesOf(source);
    addInitializer(name, source, dims, std::string(bytes.data(), bytes.size()));
    value = reshape(name, llvm::SmallVector<int64_t>(source.dims().begin(), source.dims().end()));
  }
  return value;
}

std::string ModelEditor::reshape(llvm::StringRef value, llvm::ArrayRef<int64_t> dims) {
  return addNode("Reshape", {value.str(), integers(dims)});
}

std::string ModelEditor::concatenate(llvm::ArrayRef<std::string> values, int64_t axis) {
  if (values.size() == 1)
    return values.front();
  std::string name = addNode("Concat", values);
  onnx::AttributeProto &attribute = *graph.mutable_node(graph.node_size() - 1)->add_attribute();
  attribute.set_name("axis");
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(axis);
  return name;
}

std::string ModelEditor::rows(llvm::StringRef value, int64_t from, int64_t to) {
  return addNode("Slice", {value.str(), integers({from}), integers({to}), integers({0})});
}

std::string ModelEditor::addNode(llvm::StringRef opType, llvm::ArrayRef<std::string> inputs) {
  onnx::NodeProto &node = *graph.add_node();
  std::string name = "recovered/" + opType.str() + "_" + std::to_string(made++);
  node.set_name(name);
  node.set_op_type(opType.str());
  for (const std::string &input : inputs)
    node.add_input(input);
  node.add_output(name);
  return name;
}

std::string ModelEditor::integers(llvm::ArrayRef<int64_t> values) {
  std::string name = "recovered/integers_" + std::to_string(made++);
  onnx::TensorProto &tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(onnx::TensorProto::INT64);
  tensor.add_dims(static_cast<int64_t>(values.size()));
  for (int64_t value : values)
    tensor.add_int64_data(value);
  initializers[name] = &tensor;
  return name;
}
