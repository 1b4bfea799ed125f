// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The main function of every unit test executable, compiled once.
//
// One line for each test case (or, where it has sections, for each innermost section) goes to
// resultsFile(): passed, failed or skipped; the name; the reason of a skip. A test is skipped by
// `WARN("skipped: <reason>"); return;`.
#define CATCH_CONFIG_MAIN
#include "ResultsFile.h"

#include <catch2/catch.hpp>

#include <fstream>

namespace {
class ResultLines : public Catch::TestEventListenerBase {
public:
  using TestEventListenerBase::TestEventListenerBase;

  void testRunStarting(const Catch::TestRunInfo &info) override {
    TestEventListenerBase::testRunStarting(info);
    if (std::string path = accc::test::resultsFile(info.name); !path.empty())
      file.open(path);
  }

  void sectionStarting(const Catch::SectionInfo &info) override {
    TestEventListenerBase::sectionStarting(info);
    if (!open.empty())
      open.back().innermost = false;
    open.push_back({(open.empty() ? "" : open.back().path + " / ") + info.name});
  }

  bool assertionEnded(const Catch::AssertionStats &stats) override {
    for (const Catch::MessageInfo &message : stats.infoMessages)
      if (stats.assertionResult.getResultType() == Catch::ResultWas::Warning &&
          message.message.rfind("skipped: ", 0) == 0 && !open.empty())
        open.back().skipReason = message.message.substr(9);
    return true;
  }

  void sectionEnded(const Catch::SectionStats &stats) override {
    Section section = open.back();
    open.pop_back();
    // Counts include those of inner sections, which have their own line.
    size_t failed = stats.assertions.failed;
    if (!open.empty())
      open.back().failedInside += failed;
    if (failed > section.failedInside)
      line("failed", section);
    else if (section.innermost)
      line(section.skipReason.empty() ? "passed" : "skipped", section);
    TestEventListenerBase::sectionEnded(stats);
  }

private:
  struct Section {
    std::string path, skipReason = {};
    size_t failedInside = 0;
    bool innermost = true;
  };

  void line(const char *status, const Section &section) {
    if (file.is_open())
      file << status << '\t' << section.path << '\t' << section.skipReason << std::endl;
  }

  std::vector<Section> open;
  std::ofstream file;
};
CATCH_REGISTER_LISTENER(ResultLines)
} // namespace
