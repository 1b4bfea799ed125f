// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Expectations.h"

#include "ResultsFile.h"

#include <cstdlib>
#include <fstream>
#include <iostream>

Expectations::Expectations(const std::string &path, const std::string &program) {
  std::ifstream file(path);
  if (!file) {
    std::cerr << "cannot read " << path << "\n";
    std::exit(2);
  }
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#')
      continue;
    size_t space = line.find(' ');
    reasons[line.substr(0, space)] = space == std::string::npos ? "" : line.substr(space + 1);
  }
  if (std::string file = accc::test::resultsFile(program); !file.empty() && !program.empty())
    results.open(file);
}

void Expectations::note(const std::string &test, const std::string &failure) {
  seen[test] = true;
  bool listed = reasons.count(test);
  (failure.empty() ? passes : failures) += 1;
  bool expected = failure.empty() != listed;
  results << (!expected ? "failed"
              : listed  ? "skipped"
                        : "passed")
          << '\t' << test << '\t' << (listed ? reasons[test] : "") << std::endl;
  if (!failure.empty() && !listed)
    std::cout << "FAIL " << test << ": " << failure << "\n";
  else if (failure.empty() && listed)
    std::cout << "PASS " << test << ", though it is listed as failing: delete its line\n";
  else
    return;
  ++surprises;
}

bool Expectations::finish() {
  for (const auto &[test, reason] : reasons)
    if (!seen.count(test)) {
      std::cout << "LOST " << test << ": listed, but there is no such test\n";
      ++surprises;
    }
  return surprises == 0;
}
