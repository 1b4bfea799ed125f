// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text from files, made harmless for terminals.
#ifndef ACCC_SUPPORT_PRINTABLETEXT_H
#define ACCC_SUPPORT_PRINTABLETEXT_H

#include <streambuf>
#include <string>
#include <string_view>

namespace accc {

/// The text as a terminal may show it: line feeds and tabs stay; every other control character
/// (escape sequences begin with one), and what changes the direction of text, is written as \u001b;
/// a byte that is no UTF-8 as \xff. Text that is printable stays as it is, and JSON stays the same
/// JSON.
std::string printable(std::string_view text);

/// A stream's buffer through which only printable text gets to another.
class PrintableBuffer : public std::streambuf {
public:
  explicit PrintableBuffer(std::streambuf *to) : to(to) {}

protected:
  int_type overflow(int_type c) override;
  std::streamsize xsputn(const char *text, std::streamsize size) override;
  int sync() override;

private:
  /// Passes on what is whole: all but the begin of a character whose end has not come yet.
  void pass();

  std::streambuf *to;
  std::string held;
};

} // namespace accc

#endif
