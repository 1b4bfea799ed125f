// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/Recovery.h"

#include "llvm/ADT/STLExtras.h"

using namespace accc::onnx_import;

void Recovery::add(llvm::StringRef name, const llvm::Twine &how, llvm::StringRef evidence) {
  std::string line = (name + ": " + how + " (" + evidence + ")").str();
  if (!llvm::is_contained(parameters, line))
    parameters.push_back(std::move(line));
}

void Recovery::addAlias(llvm::StringRef name, llvm::StringRef alias) {
  std::vector<std::string> &names = aliases[name.str()];
  if (!llvm::is_contained(names, alias))
    names.push_back(alias.str());
}

Recovery accc::onnx_import::recoverExport(onnx::ModelProto &model, TensorReader &tensors) {
  Recovery recovery;
  Evidence evidence(model);
  if (evidence.isTorchExport())
    recoverTorchExport(model, evidence, recovery, tensors);
  else if (evidence.isTorchScript())
    recoverTorchScript(model, recovery, tensors);
  return recovery;
}
