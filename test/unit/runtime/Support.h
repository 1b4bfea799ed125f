// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_TEST_RUNTIME_SUPPORT_H
#define ACCC_TEST_RUNTIME_SUPPORT_H

#include "accc/error.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace accc::test {

/// A folder that is there for one test.
class Folder {
public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "accc-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()));
    path = pattern;
  }
  Folder(const Folder &) = delete;
  Folder &operator=(const Folder &) = delete;
  ~Folder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string &name) const { return (path / name).string(); }
  /// How many files it holds.
  size_t size() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(path),
                                             std::filesystem::directory_iterator()));
  }

  std::filesystem::path path;
};

inline std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void writeFile(const std::string &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

/// Runs `action`, which must throw an Error of this kind; gives its message.
template <typename Action> std::string errorOf(ErrorKind kind, Action &&action) {
  try {
    action();
  } catch (const Error &error) {
    INFO(error.what());
    CHECK(error.kind() == kind);
    return error.what();
  }
  FAIL("no error");
  return "";
}

} // namespace accc::test

#endif // ACCC_TEST_RUNTIME_SUPPORT_H
