// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/torchscript/Lexer.h"
#include "frontend/common/ImportError.h"

#include "llvm/ADT/StringExtras.h"

using namespace accc;
using namespace accc::torchscript;
using llvm::StringRef;
using llvm::Twine;
using Kind = Token::Kind;

// Blocks in blocks; early returns make them deep.
static constexpr size_t kDeepestBlock = 200;

size_t accc::torchscript::lineOf(StringRef text, size_t position) {
  return text.take_front(position).count('\n') + 1;
}

void Lexer::refuse(size_t position, const Twine &what) const {
  frontend::fail(path + ", line " + Twine(lineOf(text, position)) + ": " + what);
}

Token Lexer::make(Kind kind, size_t length) {
  Token token{kind, text.substr(at, length).str(), at};
  at += length;
  return token;
}

bool Lexer::startLine(Token &token) {
  while (true) {
    size_t begin = at;
    while (at < text.size() && text[at] == ' ')
      ++at;
    if (at < text.size() && (text[at] == '\n' || text[at] == '#')) { // an empty line
      at = std::min(text.find('\n', at), text.size());
      at += at < text.size();
      continue;
    }
    isLineStart = at == text.size(); // at the end there is no line
    size_t width = at == text.size() ? 0 : at - begin;
    if (width > indentation.back()) {
      if (indentation.size() > kDeepestBlock)
        refuse(at, "blocks are nested too deeply");
      indentation.push_back(width);
      token = {Kind::Indent, "", at};
      return true;
    }
    while (width < indentation.back()) {
      indentation.pop_back();
      ++pendingDedents;
    }
    if (width != indentation.back())
      refuse(at, "the indentation fits no block");
    return false;
  }
}

Token Lexer::string() {
  Token token{Kind::String, "", at};
  char quote = text[at++];
  while (true) {
    if (at >= text.size() || text[at] == '\n')
      refuse(token.position, "a string does not end");
    char c = text[at++];
    if (c == quote)
      return token;
    if (c != '\\') {
      token.text += c;
      continue;
    }
    if (at >= text.size())
      refuse(token.position, "a string does not end");
    char escaped = text[at++];
    static constexpr StringRef plain = "abfnrtv", meaning = "\a\b\f\n\r\t\v";
    if (size_t known = plain.find(escaped); known != StringRef::npos) {
      token.text += meaning[known];
    } else if (escaped == 'x' && at + 2 <= text.size() && llvm::isHexDigit(text[at]) &&
               llvm::isHexDigit(text[at + 1])) {
      token.text += llvm::hexFromNibbles(text[at], text[at + 1]);
      at += 2;
    } else if (escaped >= '0' && escaped <= '7') {
      unsigned value = static_cast<unsigned>(escaped - '0');
      for (int i = 0; i < 2 && at < text.size() && text[at] >= '0' && text[at] <= '7'; ++i)
        value = value * 8 + static_cast<unsigned>(text[at++] - '0');
      token.text += static_cast<char>(value);
    } else {
      token.text += escaped; // a quote, a backslash
    }
  }
}

/// The end of the number that begins here, with the sign of an exponent.
static size_t endOfNumber(llvm::StringRef text, size_t at) {
  size_t end = at;
  while (end < text.size() && (llvm::isAlnum(text[end]) || text[end] == '.' ||
                               ((text[end] == '-' || text[end] == '+') && end > at &&
                                (text[end - 1] == 'e' || text[end - 1] == 'E'))))
    ++end;
  return end;
}

Token Lexer::number() {
  size_t end = endOfNumber(text, at);
  // The imaginary part of a complex number: 1.+2.j
  if (end < text.size() && (text[end] == '+' || text[end] == '-'))
    if (size_t last = endOfNumber(text, end + 1); text[last - 1] == 'j')
      end = last;
  return make(Kind::Number, end - at);
}

Token Lexer::next() {
  Token token;
  if (isLineStart && brackets == 0 && startLine(token))
    return token;
  if (pendingDedents > 0) {
    --pendingDedents;
    return {Kind::Dedent, "", at};
  }
  while (at < text.size()) {
    char c = text[at];
    if (c == ' ' || (c == '\n' && brackets > 0)) {
      ++at;
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (c == '\n') {
      isLineStart = true;
      return make(Kind::Newline, 1);
    } else if (llvm::isAlpha(c) || c == '_') {
      size_t end = at;
      while (end < text.size() && (llvm::isAlnum(text[end]) || text[end] == '_'))
        ++end;
      return make(Kind::Name, end - at);
    } else if (c == '"' || c == '\'') {
      return string();
    } else if (llvm::isDigit(c) ||
               (c == '.' && at + 1 < text.size() && llvm::isDigit(text[at + 1]))) {
      return number();
    } else if (text.substr(at, 2) == "->") {
      return make(Kind::Symbol, 2);
    } else if (StringRef("()[]{}:,=.-@").contains(c)) {
      brackets += StringRef("([{").contains(c) - StringRef(")]}").contains(c);
      if (brackets < 0)
        refuse(at, "a bracket closes that was not opened");
      return make(Kind::Symbol, 1);
    } else {
      refuse(at, "the character '" + Twine(llvm::isPrint(c) ? c : '?') +
                     "' is none that TorchScript writes");
    }
  }
  if (brackets > 0)
    refuse(at, "a bracket is not closed");
  if (!isLineStart) { // the last line
    isLineStart = true;
    return {Kind::Newline, "", at};
  }
  while (indentation.size() > 1) {
    indentation.pop_back();
    ++pendingDedents;
  }
  if (pendingDedents > 0) {
    --pendingDedents;
    return {Kind::Dedent, "", at};
  }
  return {Kind::End, "", at};
}
