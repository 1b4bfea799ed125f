// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tokens of Python text.
#ifndef ACCC_FRONTEND_TORCHSCRIPT_LEXER_H
#define ACCC_FRONTEND_TORCHSCRIPT_LEXER_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"

#include <string>

namespace accc::torchscript {

struct Token {
  enum class Kind { Name, Number, String, Symbol, Newline, Indent, Dedent, End };
  Kind kind = Kind::End;
  /// Of a string without its quotes, with its escapes resolved.
  std::string text = {};
  size_t position = 0;
};

class Lexer {
public:
  Lexer(llvm::StringRef path, llvm::StringRef text) : path(path), text(text) {}

  /// Throws ImportError.
  Token next();
  /// Throws ImportError with the file and the line of a position.
  [[noreturn]] void refuse(size_t position, const llvm::Twine &what) const;

private:
  Token make(Token::Kind kind, size_t length);
  /// Indentation at the beginning of a line.
  bool startLine(Token &token);
  Token string();
  Token number();

  llvm::StringRef path, text;
  size_t at = 0;
  llvm::SmallVector<size_t> indentation = {0};
  int64_t brackets = 0;
  size_t pendingDedents = 0;
  bool isLineStart = true;
};

/// The number of the line, from 1, of a position.
size_t lineOf(llvm::StringRef text, size_t position);

} // namespace accc::torchscript

#endif
