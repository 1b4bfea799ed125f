// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/torchscript/Import.h"

#include "frontend/common/ImportArchive.h"
#include "frontend/common/ImportAttempts.h"
#include "frontend/torchscript/Module.h"

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

static ImportResult importModule(const Archive &archive, const ImportOptions &options,
                                 MLIRContext &context) {
  Storages storages(archive);
  return importUntilWritesAreKnown([&](const std::set<std::string> &written) -> ImportAttempt {
    ModuleImporter importer(archive, storages, written, options, context);
    ImportResult result = importer.run();
    return {std::move(result), importer.falselyKnown()};
  });
}

ImportResult accc::importTorchScript(llvm::StringRef path, const ImportOptions &options,
                                     MLIRContext &context) {
  return frontend::importArchive(
      path, [&](const Archive &archive) { return importModule(archive, options, context); });
}

ImportResult accc::importTorchScriptBytes(llvm::StringRef bytes, const ImportOptions &options,
                                          MLIRContext &context) {
  return frontend::importArchiveBytes(
      bytes, [&](const Archive &archive) { return importModule(archive, options, context); });
}
