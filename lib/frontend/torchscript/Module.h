// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A TorchScript module as @forward: its state, its arguments, its results.
#ifndef ACCC_FRONTEND_TORCHSCRIPT_MODULE_H
#define ACCC_FRONTEND_TORCHSCRIPT_MODULE_H

#include "frontend/torchscript/ArgumentType.h"
#include "frontend/torchscript/Interpreter.h"
#include "frontend/torchscript/Objects.h"

#include <set>

namespace accc::torchscript {

/// The name of an input, "batch_words_0" of batch["words"][0].
struct InputName {
  std::string text;
  /// As --input spells it, with keys as the program has them: "batch_Words_0" of batch["Words"][0].
  std::string given;
  InputName element(const std::string &key) const {
    return {text + "_" + keyInName(key), given + "_" + key};
  }
};

class ModuleImporter : public Interpreter {
public:
  /// `written` are tensors of the module that its code writes into, as far as they are known.
  ModuleImporter(const Archive &archive, Storages &storages, const std::set<std::string> &written,
                 const ImportOptions &options, mlir::MLIRContext &context);

  ImportResult run();
  /// The tensors that were taken as known, but are written into: the import must begin anew.
  const std::set<std::string> &falselyKnown() const { return falseConstants; }

private:
  // ---- state ----
  void readVersion();
  void readConstants();
  Object *readModule();
  aten::MutableTensor addTensor(const StoredTensor &stored, const TensorName &name);
  void bindBuffers();

  // ---- inputs and outputs (Inputs.cpp, Outputs.cpp) ----
  Arguments importInputs(const Function &forward);
  /// An argument, or what an argument holds; `example` is null where the file has none.
  IValue importInput(const ArgumentType &type, const InputName &name, const Example *example);
  IValue importTensor(const InputName &name, const Example *example);
  IValue importList(const ArgumentType &type, const InputName &name, const Example *example);
  IValue importDict(const ArgumentType &type, const InputName &name, const Example *example);
  void refuseUnknownInputs(llvm::ArrayRef<Parameter> parameters);
  llvm::SmallVector<int64_t> inputShape(const std::string &name, const InputType &type);
  std::vector<ForwardOutput> importOutputs(const IValue &returned, ImportResult &result);

  /// A tensor of the module.
  struct State {
    aten::MutableTensor tensor;
    mlir::Value initial;
    std::string path;
  };
  const Archive &archive;
  ObjectReader reader;
  /// Those of --input that may mean the argument that is imported, in their order.
  std::vector<std::string> givenInputNames;
  std::set<std::string> inputNames, usedInputTypes;
  const std::set<std::string> &written;
  std::set<std::string> falseConstants;
  std::vector<State> state;
  std::map<std::string, TensorName> names; // by place: the name of tied tensors
  std::map<std::string, size_t> byPlace;
};

} // namespace accc::torchscript

#endif
