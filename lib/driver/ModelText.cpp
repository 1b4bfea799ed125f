// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// IR text as a model.
#include "driver/Boundaries.h"

#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace accc;

/// The deepest nesting of brackets outside of strings and comments.
static int64_t nestingOf(StringRef text) {
  int64_t depth = 0, deepest = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"') {
      for (++i; i < text.size() && text[i] != '"' && text[i] != '\n'; ++i)
        i += text[i] == '\\';
    } else if (c == '/' && text.substr(i).starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
    } else if (StringRef("([{<").contains(c)) {
      deepest = std::max(deepest, ++depth);
    } else if (StringRef(")]}").contains(c) || (c == '>' && i > 0 && text[i - 1] != '-')) {
      depth = std::max<int64_t>(depth - 1, 0);
    }
  }
  return deepest;
}

OwningOpRef<ModuleOp> accc::readModelText(StringRef text, StringRef path, MLIRContext &context) {
  constexpr int64_t kDeepest = 256; // the parser descends into each bracket
  if (int64_t depth = nestingOf(text); depth > kDeepest) {
    emitError(UnknownLoc::get(&context))
        << "the IR text nests " << depth << " brackets; at most " << kDeepest << " are supported";
    return {};
  }
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, ParserConfig(&context), path);
  if (!module || failed(checkBoundary(*module, "import")))
    return {};
  return module;
}
