// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/Import.h"
#include "frontend/common/ImportError.h"
#include "frontend/onnx/GraphImporter.h"
#include "frontend/onnx/Reader.h"

#include "llvm/Support/Path.h"

#include <new>
#include <set>

using namespace accc;
using namespace accc::onnx_import;

namespace {
/// The trained parameters and the buffers that the metadata names and the file does not hold: it
/// named those that it held when it was exported.
void findMissing(const onnx::ModelProto &model, const ExportMetadata &exported,
                 Recovery &recovery) {
  llvm::StringSet<> held;
  for (const onnx::TensorProto &tensor : model.graph().initializer())
    held.insert(tensor.name());
  std::set<std::string> missing;
  for (const auto &entry : exported)
    if ((!entry.second.isParameter || entry.second.isTrained) && !held.contains(entry.first()))
      missing.insert(entry.first().str());
  for (const std::string &name : missing)
    recovery.damage.add(Loss::Missing, name);
}

/// What the file says of its module's state, or what its exporter's traces prove.
ModelState readState(const std::shared_ptr<onnx::ModelProto> &model, llvm::StringRef directory,
                     mlir::MLIRContext &context) {
  ModelState state;
  state.exported = readExportMetadata(*model);
  if (state.exported) {
    findOptimizers(*model, state.recovery);
    findMissing(*model, *state.exported, state.recovery);
  } else {
    TensorReader tensors(context, model, directory);
    try {
      state.recovery = recoverExport(*model, tensors);
    } catch (const FileError &) {
      // The import goes on to all that is wrong with the model, this among it.
    }
  }
  return state;
}

/// Adds what was found in the graph that computes initial values to what is told of the model.
void addFindings(ImportResult &initial, ImportResult &result) {
  llvm::append_range(result.remarks, initial.remarks);
  llvm::append_range(result.problems, initial.problems);
  for (std::string &file : initial.dataFiles)
    if (!llvm::is_contained(result.dataFiles, file))
      result.dataFiles.push_back(std::move(file));
  result.dropIfWrong();
}

ImportResult failed(const std::string &message) {
  ImportResult result;
  result.problems.push_back({.message = message});
  return result;
}

template <typename Read>
ImportResult import(Read read, llvm::StringRef directory, const ImportOptions &options,
                    mlir::MLIRContext &context) {
  try {
    std::shared_ptr<onnx::ModelProto> model = read();
    checkModel(*model);
    auto importer = [&](const ImportOptions &with) {
      return GraphImporter(model, readState(model, directory, context), directory, with, context);
    };
    ImportResult result = importer(options).run();
    if (!result.problems.empty() || model->training_info_size() == 0 ||
        model->training_info(0).initialization_binding_size() == 0)
      return result;
    ImportResult initial = importer({}).runInitialization(result.weights);
    result.initialization = std::move(initial.module);
    addFindings(initial, result);
    return result;
  } catch (const ImportError &error) {
    return failed(error.message);
  } catch (const ImportAbort &error) {
    return failed(error.message);
  } catch (const std::bad_alloc &) {
    return failed("not enough memory to read the model");
  }
}
} // namespace

ImportResult accc::importOnnx(llvm::StringRef path, const ImportOptions &options,
                              mlir::MLIRContext &context) {
  return import([&] { return readModel(path); }, llvm::sys::path::parent_path(path), options,
                context);
}

ImportResult accc::importOnnxBytes(llvm::StringRef bytes, llvm::StringRef directory,
                                   const ImportOptions &options, mlir::MLIRContext &context) {
  return import([&] { return parseModel(bytes); }, directory, options, context);
}
