// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/torchscript/Import.h"
#include "frontend/torchscript/Module.h"

#include <new>

using namespace mlir;
using namespace accc;
using namespace accc::torchscript;

bool accc::isTorchScript(llvm::StringRef path) {
  try {
    Archive archive(path.str());
    return llvm::any_of(archive.names(),
                        [](llvm::StringRef name) { return name.starts_with("code/"); });
  } catch (const ImportError &) {
    return false; // the other importer says what is wrong with the archive
  }
}

/// Which tensors are written into shows only at the end of an import: then it begins anew.
static ImportResult importArchive(const Archive &archive, const ImportOptions &options,
                                  MLIRContext &context) {
  Storages storages(archive);
  std::set<std::string> written;
  while (true) {
    ModuleImporter importer(archive, storages, written, options, context);
    ImportResult result = importer.run();
    size_t known = written.size();
    written.insert(importer.writtenConstants().begin(), importer.writtenConstants().end());
    if (written.size() == known)
      return result;
  }
}

template <typename Open>
static ImportResult import(Open open, const ImportOptions &options, MLIRContext &context) {
  ImportResult result;
  try {
    return importArchive(open(), options, context);
  } catch (const ImportError &error) {
    result.problems.push_back({.message = error.message});
  } catch (const ImportAbort &error) {
    result.problems.push_back({.message = error.message});
  } catch (const std::bad_alloc &) {
    result.problems.push_back({.message = "not enough memory to read the model"});
  }
  return result;
}

ImportResult accc::importTorchScript(llvm::StringRef path, const ImportOptions &options,
                                     MLIRContext &context) {
  return import([&] { return Archive(path.str()); }, options, context);
}

ImportResult accc::importTorchScriptBytes(llvm::StringRef bytes, const ImportOptions &options,
                                          MLIRContext &context) {
  Archive::Record record{llvm::ArrayRef<char>(bytes.data(), bytes.size()), nullptr};
  return import([&] { return Archive(record); }, options, context);
}
