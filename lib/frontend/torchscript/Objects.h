// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The objects that an archive stores: modules with their attributes, tensors, constants.
#ifndef ACCC_FRONTEND_TORCHSCRIPT_OBJECTS_H
#define ACCC_FRONTEND_TORCHSCRIPT_OBJECTS_H

#include "frontend/pickle/Tensors.h"
#include "frontend/torchscript/Code.h"
#include "frontend/torchscript/IValue.h"

namespace accc::torchscript {

using pickle::Storages;
using pickle::StoredTensor;

/// What a module holds under one of its attributes.
struct TensorName {
  std::string path;
  enum class Kind { Parameter, Buffer, Plain } kind = Kind::Plain;
};

/// An example input of `forward` that a trace kept: a tensor's shape and element type, or what
/// holds several. What is neither has no parts.
struct Example {
  mlir::RankedTensorType tensor;
  /// By position or by key.
  std::vector<std::pair<std::string, Example>> parts = {};
  bool isGiven() const { return tensor || !parts.empty(); }
};

class ObjectReader {
public:
  /// Makes of a stored tensor what the program works with. Called for each of a tensor's names.
  using MakeTensor =
      llvm::function_ref<aten::MutableTensor(const StoredTensor &stored, const TensorName &name)>;

  ObjectReader(mlir::MLIRContext &context, const frontend::Archive &archive, Storages &storages,
               Code &code, Heap &heap)
      : context(context), archive(archive), storages(storages), code(code), heap(heap) {}

  /// The value of a pickle, "data" or "constants", whose storages lie in the folder of that name.
  /// Tensors inside are called by their paths, which begin with `name`. Throws ImportError.
  IValue read(llvm::StringRef pickle, const std::string &name, MakeTensor make);
  /// The example of each argument of `forward` that a trace kept. Nothing where there are none.
  std::vector<Example> readExamples();

private:
  struct Walk;
  IValue convert(const pickle::Value &value, const TensorName &name, Walk &walk);
  IValue convertObject(const pickle::Value &value, const TensorName &name, Walk &walk);
  IValue convertCall(const pickle::Value &value, const TensorName &name, Walk &walk);
  Example convertExample(const pickle::Value &value, int64_t &budget);

  mlir::MLIRContext &context;
  const frontend::Archive &archive;
  Storages &storages;
  Code &code;
  Heap &heap;
};

} // namespace accc::torchscript

#endif
