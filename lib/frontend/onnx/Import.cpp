// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/Import.h"
#include "frontend/common/ImportError.h"
#include "frontend/onnx/GraphImporter.h"
#include "frontend/onnx/Reader.h"

#include "llvm/Support/Path.h"

#include <new>

using namespace accc;
using namespace accc::onnx_import;

namespace {
/// What the file says of its module's state, or what its exporter's traces prove.
ModelState readState(const std::shared_ptr<onnx::ModelProto> &model, llvm::StringRef directory,
                     mlir::MLIRContext &context) {
  ModelState state;
  state.exported = readExportMetadata(*model);
  if (!state.exported) {
    TensorReader tensors(context, model, directory);
    try {
      state.recovery = recoverExport(*model, tensors);
    } catch (const FileError &) {
      // The import goes on to all that is wrong with the model, this among it.
    }
  }
  return state;
}

template <typename Read>
ImportResult import(Read read, llvm::StringRef directory, const ImportOptions &options,
                    mlir::MLIRContext &context) {
  ImportResult result;
  try {
    std::shared_ptr<onnx::ModelProto> model = read();
    checkModel(*model);
    return GraphImporter(model, readState(model, directory, context), directory, options, context)
        .run();
  } catch (const ImportError &error) {
    result.problems.push_back({"", "", error.message});
  } catch (const ImportAbort &error) {
    result.problems.push_back({"", "", error.message});
  } catch (const std::bad_alloc &) {
    result.problems.push_back({"", "", "not enough memory to read the model"});
  }
  return result;
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
