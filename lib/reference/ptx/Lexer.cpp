// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/ptx/Lexer.h"

#include <bit>
#include <cctype>
#include <charconv>
#include <cstdlib>

namespace accc::ptx {

void failParse(ErrorKind kind, unsigned line, std::string message) {
  Error error;
  error.kind = kind;
  error.line = line;
  error.message = "PTX line " + std::to_string(line) + ": " + std::move(message);
  throw ParseFailure{std::move(error)};
}

namespace {

bool startsWord(char c) {
  return std::isalpha((unsigned char)c) || c == '_' || c == '$' || c == '%';
}
bool continuesWord(char c) { return std::isalnum((unsigned char)c) || c == '_' || c == '$'; }

class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}

  Tokens run() {
    while (skipSpace())
      result.tokens.push_back(next());
    result.tokens.push_back({TokenKind::End, {}, 0, line});
    return std::move(result);
  }

private:
  char at(size_t i) const { return i < text.size() ? text[i] : '\0'; }

  /// False at the end of the text.
  bool skipSpace() {
    while (position < text.size()) {
      if (text[position] == '\n')
        ++line, ++position;
      else if (std::isspace((unsigned char)text[position]))
        ++position;
      else if (text.substr(position, 2) == "//")
        lineComment();
      else if (text.substr(position, 2) == "/*")
        blockComment();
      else
        return true;
    }
    return false;
  }

  void lineComment() {
    size_t end = std::min(text.find('\n', position), text.size());
    std::string_view comment = text.substr(position + 2, end - position - 2);
    constexpr std::string_view mark = "accc:";
    if (size_t start = comment.find(mark); start != comment.npos) {
      comment.remove_prefix(start + mark.size());
      while (!comment.empty() && std::isspace((unsigned char)comment.front()))
        comment.remove_prefix(1);
      while (!comment.empty() && std::isspace((unsigned char)comment.back()))
        comment.remove_suffix(1);
      result.labels.push_back({line, std::string(comment)});
    }
    position = end;
  }

  void blockComment() {
    size_t end = text.find("*/", position + 2);
    if (end == text.npos)
      failParse(ErrorKind::Syntax, line, "the comment does not end");
    for (; position < end + 2; ++position)
      line += text[position] == '\n';
  }

  Token make(TokenKind kind, size_t start, uint64_t bits = 0) const {
    return {kind, text.substr(start, position - start), bits, line};
  }

  Token next() {
    size_t start = position;
    char c = text[position];
    if (startsWord(c))
      return word(start);
    if (c == '.' && (continuesWord(at(position + 1)))) {
      ++position;
      while (continuesWord(at(position)) || at(position) == ':')
        ++position;
      return make(TokenKind::Directive, start);
    }
    if (std::isdigit((unsigned char)c))
      return number(start);
    if (c == '"') {
      size_t end = text.find('"', position + 1);
      if (end == text.npos)
        failParse(ErrorKind::Syntax, line, "the string does not end");
      position = end + 1;
      return {TokenKind::String, text.substr(start + 1, end - start - 1), 0, line};
    }
    if (std::string_view("{}()[]<>,;:=+-!|@~*/&").find(c) == std::string_view::npos)
      failParse(ErrorKind::Syntax, line, std::string("unexpected character '") + c + "'");
    ++position;
    return make(TokenKind::Punctuation, start);
  }

  Token word(size_t start) {
    ++position;
    for (;;) {
      if (continuesWord(at(position)))
        ++position;
      else if (at(position) == '.' && continuesWord(at(position + 1)))
        position += 2;
      else if (text.substr(position, 2) == "::" && continuesWord(at(position + 2)))
        position += 3;
      else
        return make(TokenKind::Word, start);
    }
  }

  Token number(size_t start) {
    char second = char(std::tolower((unsigned char)at(start + 1)));
    if (text[start] == '0' && (second == 'f' || second == 'd')) {
      unsigned digits = second == 'f' ? 8 : 16;
      uint64_t bits = integer(start + 2, start + 2 + digits, 16);
      position = start + 2 + digits;
      return make(second == 'f' ? TokenKind::Float32 : TokenKind::Float64, start, bits);
    }
    if (text[start] == '0' && (second == 'x' || second == 'b')) {
      position += 2;
      while (std::isxdigit((unsigned char)at(position)))
        ++position;
      return suffixed(start, integer(start + 2, position, second == 'x' ? 16 : 2));
    }
    while (std::isdigit((unsigned char)at(position)))
      ++position;
    if (at(position) == '.' || std::tolower((unsigned char)at(position)) == 'e') {
      char *end = nullptr;
      std::string rest(text.substr(start, 64)); // strtod needs a terminator
      double value = std::strtod(rest.c_str(), &end);
      position = start + (end - rest.c_str());
      return make(TokenKind::Float64, start, std::bit_cast<uint64_t>(value));
    }
    bool octal = text[start] == '0' && position > start + 1;
    return suffixed(start, integer(start, position, octal ? 8 : 10));
  }

  Token suffixed(size_t start, uint64_t bits) {
    Token token = make(TokenKind::Integer, start, bits);
    if (at(position) == 'U')
      ++position;
    return token;
  }

  uint64_t integer(size_t start, size_t end, int base) const {
    uint64_t value = 0;
    const char *first = text.data() + std::min(start, text.size());
    const char *last = text.data() + std::min(end, text.size());
    auto [stop, status] = std::from_chars(first, last, value, base);
    if (first == last || stop != last || status != std::errc())
      failParse(ErrorKind::Syntax, line, "malformed number");
    return value;
  }

  std::string_view text;
  size_t position = 0;
  unsigned line = 1;
  Tokens result;
};

} // namespace

Tokens tokenize(std::string_view text) {
  // Files of a host program may end with a zero byte.
  return Lexer(text.substr(0, text.find('\0'))).run();
}

} // namespace accc::ptx
