// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Print.h"

#include <cstdarg>
#include <cstdio>
#include <string>

void accc::tool::print(const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  std::string text(static_cast<size_t>(std::vsnprintf(nullptr, 0, format, arguments)), '\0');
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  va_end(arguments);
  std::cout << text;
}
