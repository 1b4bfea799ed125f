// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where a program tells test/run.py which of its tests passed.
#ifndef ACCC_TEST_UNIT_RESULTSFILE_H
#define ACCC_TEST_UNIT_RESULTSFILE_H

#include <cstdlib>
#include <string>

namespace accc::test {

/// <program>.tsv in the folder that the environment's ACCC_TEST_RESULTS names, or "" where it names
/// none. One program may be several suites: what tells them apart is a part of the name, as in
/// <program>.cuda.256.tsv.
inline std::string resultsFile(const std::string &program) {
  const char *folder = std::getenv("ACCC_TEST_RESULTS");
  if (!folder)
    return "";
  std::string path = std::string(folder) + "/" + program;
  for (const char *name : {"ACCC_TEST_TARGET", "ACCC_SIZE_DIVISOR"})
    if (const char *value = std::getenv(name))
      path += std::string(".") + value;
  return path + ".tsv";
}

} // namespace accc::test

#endif
