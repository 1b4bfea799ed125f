// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX tensors and types as ours.
#ifndef ACCC_FRONTEND_ONNX_TENSORS_H
#define ACCC_FRONTEND_ONNX_TENSORS_H

#include "frontend/common/TensorTypes.h"
#include "frontend/onnx/ExternalData.h"
#include "frontend/onnx/Proto.h"

#include "mlir/IR/BuiltinAttributes.h"

namespace accc::onnx_import {

/// The element type of an ONNX data type (TensorProto.DataType). Throws ImportError, naming the
/// type, for those that accc does not have: strings, complex numbers, 8-bit floats and everything
/// narrower.
mlir::Type elementType(mlir::MLIRContext &context, int32_t dataType);

/// Where the bytes of a model's tensors are: in the message, or in files beside it.
class TensorReader {
public:
  TensorReader(mlir::MLIRContext &context, std::shared_ptr<const onnx::ModelProto> model,
               llvm::StringRef directory)
      : context(context), model(std::move(model)), files(directory) {}

  /// The tensor's bytes, without a copy where the file already holds them as we do. Throws
  /// ImportError if their number does not fit the type.
  Weight weight(const onnx::TensorProto &tensor);
  /// The tensor as an attribute.
  mlir::DenseElementsAttr attribute(const onnx::TensorProto &tensor);
  /// A sparse tensor, made dense.
  mlir::DenseElementsAttr attribute(const onnx::SparseTensorProto &tensor);

  mlir::RankedTensorType type(const onnx::TensorProto &tensor) const;

  /// The files beside the model that were read.
  std::vector<std::string> dataFiles() const { return files.paths(); }
  /// What is wrong with those that cannot be read.
  std::vector<std::string> fileProblems() const { return files.problems(); }

private:
  mlir::MLIRContext &context;
  std::shared_ptr<const onnx::ModelProto> model;
  ExternalData files;
};

} // namespace accc::onnx_import

#endif
