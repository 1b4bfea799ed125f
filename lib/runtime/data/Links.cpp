// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "accc/links.h"

#include "accc/error.h"

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace accc {

/// As many as the kernel follows.
static constexpr int kMostLinks = 40;

std::string follow_links(const std::string &path) {
  if (char *real = ::realpath(path.c_str(), nullptr)) {
    std::string result = real;
    std::free(real);
    return result;
  }
  // Nothing is there yet, or what opens it says what is wrong.
  std::string target = path;
  for (int i = 0; i < kMostLinks; ++i) {
    char to[PATH_MAX];
    ssize_t size = ::readlink(target.c_str(), to, sizeof to);
    if (size <= 0 || size == sizeof to)
      return target;
    size_t slash = to[0] == '/' ? std::string::npos : target.rfind('/');
    target = (slash == std::string::npos ? "" : target.substr(0, slash + 1)) +
             std::string(to, static_cast<size_t>(size));
  }
  throw Error(ErrorKind::machine, "cannot write " + path + ": " + std::strerror(ELOOP));
}

} // namespace accc
