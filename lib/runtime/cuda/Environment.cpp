// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Environment.h"

#include "accc/error.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

bool accc::detail::environmentFlag(const char *name, bool otherwise) {
  const char *value = std::getenv(name);
  return value && *value ? std::string_view(value) != "0" : otherwise;
}

uint64_t accc::detail::environmentBytes(const char *name, uint64_t otherwise) {
  const char *value = std::getenv(name);
  uint64_t bytes = otherwise;
  if (value && *value) {
    const char *end = value + std::strlen(value);
    if (auto [rest, error] = std::from_chars(value, end, bytes);
        error != std::errc() || rest != end)
      throw Error(ErrorKind::usage,
                  std::string(name) + "=" + value + ": expected a number of bytes");
  }
  return bytes;
}
