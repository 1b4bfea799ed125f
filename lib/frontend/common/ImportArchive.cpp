// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/ImportArchive.h"

#include "frontend/common/ImportError.h"

#include <new>

using namespace accc;
using namespace accc::frontend;

static ImportResult guarded(llvm::function_ref<ImportResult()> import) {
  ImportResult result;
  try {
    return import();
  } catch (const ImportError &error) {
    result.problems.push_back({.message = error.message});
  } catch (const ImportAbort &error) {
    result.problems.push_back({.message = error.message});
  } catch (const std::bad_alloc &) {
    result.problems.push_back({.message = "not enough memory to read the model"});
  }
  return result;
}

ImportResult accc::frontend::importArchive(llvm::StringRef path, ArchiveImporter import) {
  return guarded([&] { return import(Archive(path.str())); });
}

ImportResult accc::frontend::importArchiveBytes(llvm::StringRef bytes, ArchiveImporter import) {
  Archive::Record record{llvm::ArrayRef<char>(bytes.data(), bytes.size()), nullptr};
  return guarded([&] { return import(Archive(record)); });
}
