// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/PrintableText.h"

#include "llvm/Support/ConvertUTF.h"
#include "llvm/Support/FormatVariadic.h"

using namespace accc;

/// The length of the character that begins with this byte; 1 for one that begins none.
static size_t lengthAfter(unsigned char first) { return llvm::getNumBytesForUTF8(first); }

/// C0 and C1 control characters, DEL, and the marks that reorder the text around them.
static bool isControl(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e || c == 0x200f ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

/// Takes the character at the text's start; 0xfffd0000 and the byte where there is none.
static uint32_t takeCharacter(std::string_view &text) {
  auto first = static_cast<unsigned char>(text.front());
  size_t length = lengthAfter(first);
  const auto *source = reinterpret_cast<const llvm::UTF8 *>(text.data());
  if (length > text.size() || !llvm::isLegalUTF8Sequence(source, source + length)) {
    text.remove_prefix(1);
    return 0xfffd0000 | first;
  }
  llvm::UTF32 c = 0;
  (void)llvm::convertUTF8Sequence(&source, source + length, &c, llvm::strictConversion);
  text.remove_prefix(length);
  return c;
}

static std::string escape(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    std::string_view rest = text;
    uint32_t c = takeCharacter(rest);
    std::string_view source = text.substr(0, text.size() - rest.size());
    text = rest;
    if (c >= 0xfffd0000)
      result += llvm::formatv("\\x{0:x-2}", c & 0xff).str();
    else if (!isControl(c) || c == '\n' || c == '\t')
      result += source;
    else
      result += llvm::formatv("\\u{0:x-4}", c).str();
  }
  return result;
}

static bool isPlain(char c) { return c >= 0x20 && c < 0x7f; }

std::string accc::printable(std::string_view text) {
  if (llvm::all_of(text, [](char c) { return isPlain(c) || c == '\n'; }))
    return std::string(text);
  return escape(text);
}

// ---- PrintableBuffer ----

/// How many bytes at the end begin a character that is not whole yet.
static size_t countUnfinished(std::string_view text) {
  for (size_t back = 1; back <= std::min<size_t>(text.size(), 3); ++back) {
    auto c = static_cast<unsigned char>(text[text.size() - back]);
    if (c >= 0xc0)
      return lengthAfter(c) > back ? back : 0;
    if (c < 0x80)
      break;
  }
  return 0;
}

void PrintableBuffer::pass() {
  size_t unfinished = countUnfinished(held);
  std::string text = printable(std::string_view(held).substr(0, held.size() - unfinished));
  held.erase(0, held.size() - unfinished);
  to->sputn(text.data(), static_cast<std::streamsize>(text.size()));
}

std::streamsize PrintableBuffer::xsputn(const char *text, std::streamsize size) {
  held.append(text, static_cast<size_t>(size));
  pass();
  return size;
}

PrintableBuffer::int_type PrintableBuffer::overflow(int_type c) {
  if (traits_type::eq_int_type(c, traits_type::eof()))
    return traits_type::not_eof(c);
  char one = traits_type::to_char_type(c);
  xsputn(&one, 1);
  return c;
}

int PrintableBuffer::sync() {
  if (!held.empty()) { // nothing completes it any more
    std::string text = printable(held);
    held.clear();
    to->sputn(text.data(), static_cast<std::streamsize>(text.size()));
  }
  return to->pubsync();
}
