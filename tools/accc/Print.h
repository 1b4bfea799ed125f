// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the commands print on standard output.
#ifndef ACCC_TOOLS_ACCC_PRINT_H
#define ACCC_TOOLS_ACCC_PRINT_H

#include "support/PrintableText.h"

#include <iostream>

namespace accc::tool {

/// As printf, to std::cout.
[[gnu::format(printf, 1, 2)]] void print(const char *format, ...);

/// While it lives, names from files that get into std::cout are printable.
class PrintableOutput {
public:
  PrintableOutput() : buffer(std::cout.rdbuf()) { std::cout.rdbuf(&buffer); }
  PrintableOutput(const PrintableOutput &) = delete;
  PrintableOutput &operator=(const PrintableOutput &) = delete;
  ~PrintableOutput() {
    std::cout.flush();
    std::cout.rdbuf(before);
  }

private:
  std::streambuf *before = std::cout.rdbuf();
  PrintableBuffer buffer;
};

} // namespace accc::tool

#endif
