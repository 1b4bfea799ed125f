// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Changes to a model's graph: new initialisers, and nodes that read them as the old ones were.
#ifndef ACCC_FRONTEND_ONNX_MODELEDITOR_H
#define ACCC_FRONTEND_ONNX_MODELEDITOR_H

#include "frontend/onnx/Proto.h"
#include "frontend/onnx/Tensors.h"

#include "llvm/ADT/StringMap.h"

namespace accc::onnx_import {

/// Adds initialisers and nodes; each name is added once, however often it is asked for. References
/// to initialisers stay good.
class ModelEditor {
public:
  ModelEditor(onnx::ModelProto &model, TensorReader &tensors);
  /// Puts the new nodes before all others.
  ~ModelEditor();
  ModelEditor(const ModelEditor &) = delete;
  ModelEditor &operator=(const ModelEditor &) = delete;

  /// The initialiser of this name, or null.
  const onnx::TensorProto *find(llvm::StringRef name) const;
  static bool isFloat(const onnx::TensorProto &tensor);
  /// The same, if it is of floats.
  const onnx::TensorProto *findFloat(llvm::StringRef name) const;
  Weight weightOf(const onnx::TensorProto &tensor) { return tensors.weight(tensor); }
  llvm::ArrayRef<char> bytesOf(const onnx::TensorProto &tensor);
  size_t elementSize(const onnx::TensorProto &tensor);
  /// The bytes of a matrix, its rows and columns exchanged.
  std::string transposed(const onnx::TensorProto &matrix);

  /// An initialiser of the element type of `like`.
  void addInitializer(llvm::StringRef name, const onnx::TensorProto &like,
                      llvm::ArrayRef<int64_t> dims, std::string bytes);
  void addCopy(llvm::StringRef name, const onnx::TensorProto &source);
  /// These make the parameter `name` of an initialiser, and give the name of the value that reads
  /// it as the initialiser was.
  std::string addTransposed(llvm::StringRef name, const onnx::TensorProto &source);
  std::string addReshaped(llvm::StringRef name, const onnx::TensorProto &source,
                          llvm::ArrayRef<int64_t> dims);

  /// These build nodes on values, and give the name of the result.
  std::string reshape(llvm::StringRef value, llvm::ArrayRef<int64_t> dims);
  std::string concatenate(llvm::ArrayRef<std::string> values, int64_t axis);
  /// Rows [from, to) of the first axis.
  std::string rows(llvm::StringRef value, int64_t from, int64_t to);

private:
  std::string addNode(llvm::StringRef opType, llvm::ArrayRef<std::string> inputs);
  std::string integers(llvm::ArrayRef<int64_t> values);

  onnx::GraphProto &graph;
  TensorReader &tensors;
  llvm::StringMap<const onnx::TensorProto *> initializers;
  llvm::StringMap<std::string> read; // what addTransposed and addReshaped gave, by parameter
  int oldNodes, made = 0;
};

} // namespace accc::onnx_import

#endif
