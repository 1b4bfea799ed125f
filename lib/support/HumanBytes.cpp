// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/HumanBytes.h"

#include <cstdio>

std::string accc::humanBytes(double bytes, int digits) {
  const char *units[] = {"B", "kB", "MB", "GB", "TB"};
  int unit = 0;
  while (bytes >= 1000 && unit < 4) {
    bytes /= 1000;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.*f %s", unit ? digits : 0, bytes, units[unit]);
  return text;
}
