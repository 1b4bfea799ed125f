// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which tests of a foreign suite do not pass, and why.
#ifndef ACCC_TEST_CONFORMANCE_EXPECTATIONS_H
#define ACCC_TEST_CONFORMANCE_EXPECTATIONS_H

#include <fstream>
#include <map>
#include <string>

/// Lines of "test reason..."; `#` begins a comment. A test that is not listed must pass.
class Expectations {
public:
  /// Ends the process if the file cannot be read. `program` names the file of test/run.py's
  /// results.
  Expectations(const std::string &path, const std::string &program);

  bool isListed(const std::string &test) const { return reasons.count(test); }
  /// Of a test that is listed.
  const std::string &reason(const std::string &test) const { return reasons.at(test); }

  /// Notes an outcome (`failure` is empty for a pass) and reports it if it is not the expected one.
  /// Also tells test/run.py, as one line for each test, where it asks for that.
  void note(const std::string &test, const std::string &failure);
  /// Reports listed tests that do not exist. True if all was as expected.
  bool finish();

  int passed() const { return passes; }
  int failed() const { return failures; }

private:
  std::map<std::string, std::string> reasons;
  std::map<std::string, bool> seen;
  std::ofstream results;
  int passes = 0, failures = 0, surprises = 0;
};

#endif
