// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of an archive, by the names of its classes and functions.
#ifndef ACCC_FRONTEND_TORCHSCRIPT_CODE_H
#define ACCC_FRONTEND_TORCHSCRIPT_CODE_H

#include "frontend/common/Archive.h"
#include "frontend/torchscript/Ast.h"

#include <map>
#include <string>

namespace accc::torchscript {

/// Reads files as they are needed. Throws ImportError where one is not the code of a module.
class Code {
public:
  explicit Code(const frontend::Archive &archive) : archive(archive) {}

  /// The class "__torch__.torchvision.models.resnet.ResNet", or null.
  const Class *findClass(llvm::StringRef name);
  /// The function "__torch__.torch.nn.functional.relu", or null.
  const Function *findFunction(llvm::StringRef name);

  /// Where the author of the model wrote what is at a position of a file: "model.py, line 12", or
  /// the place in the archive's code where nothing is known of that.
  std::string sourceOf(const File &file, size_t position);

private:
  /// Where one piece of a file's text comes from.
  struct Source {
    size_t begin; // in the file
    std::string place;
  };
  const File *findFile(llvm::StringRef module);
  std::vector<Source> readSources(const File &file);

  const frontend::Archive &archive;
  std::map<std::string, std::unique_ptr<const File>, std::less<>> files; // null: there is none
  std::map<const File *, std::vector<Source>> sources;
};

} // namespace accc::torchscript

#endif
