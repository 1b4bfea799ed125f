// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX text to tokens.
#ifndef ACCC_REFERENCE_PTX_LEXER_H
#define ACCC_REFERENCE_PTX_LEXER_H

#include "reference/ptx/Error.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace accc::ptx {

/// What parsing throws; Module::parse() catches it.
struct ParseFailure {
  Error error;
};

[[noreturn]] void failParse(ErrorKind kind, unsigned line, std::string message);

enum class TokenKind : uint8_t {
  Word,        ///< an identifier, register or opcode, with all its `.suffixes`
  Directive,   ///< `.reg`, with its dot
  Integer,     ///< `bits` is the value
  Float32,     ///< `0f3f800000`: `bits` is the pattern
  Float64,     ///< `0d3ff0000000000000`, or decimal: `bits` is the pattern of the double
  String,      ///< `text` is what the quotes hold
  Punctuation, ///< one character
  End,
};

struct Token {
  TokenKind kind = TokenKind::End;
  std::string_view text;
  uint64_t bits = 0;
  unsigned line = 0;

  bool is(char c) const { return kind == TokenKind::Punctuation && text[0] == c; }
};

/// A `// accc: NAME` comment: what the instructions below it compute.
struct Label {
  unsigned line = 0;
  std::string name;
};

struct Tokens {
  std::vector<Token> tokens; ///< the last is End; the texts are parts of the text
  std::vector<Label> labels; ///< by line
};

/// Throws ParseFailure for a character that is none of PTX.
Tokens tokenize(std::string_view text);

} // namespace accc::ptx

#endif
