// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "JUnit.h"

#include "accc/error.h"
#include "driver/TextFile.h"

#include <algorithm>
#include <cstdio>

using namespace accc;
using namespace accc::tool;

/// For XML, which has no control characters.
static std::string escape(const std::string &text) {
  std::string result;
  for (char c : text)
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' ? '?' : c;
  return result;
}

/// One test case a section, and one a tensor that fails.
static std::string toXml(const DiffReport &report) {
  std::string cases, suite = "accc diff " + report.a + (report.b.empty() ? "" : " " + report.b);
  int tests = 0, failures = 0;
  auto add = [&](const std::string &name, bool failed, const std::string &message,
                 const std::string &details) {
    cases += "    <testcase classname=\"" + escape(suite) + "\" name=\"" + escape(name) + "\">\n";
    if (failed)
      cases +=
          "      <failure message=\"" + escape(message) + "\">" + escape(details) + "</failure>\n";
    else if (!details.empty())
      cases += "      <system-out>" + escape(details) + "</system-out>\n";
    cases += "    </testcase>\n";
    ++tests;
    failures += failed;
  };
  for (const Section &section : report.sections) {
    std::string details;
    for (const std::string &note : section.notes)
      details += note + "\n";
    for (const Change &change : section.changes)
      details += describe(change, report) + "\n";
    auto bad = std::count_if(section.tensors.begin(), section.tensors.end(),
                             [](const Verdict &v) { return !v.passed(); });
    if (!section.tensors.empty())
      details += std::to_string(section.tensors.size() - static_cast<size_t>(bad)) + " of " +
                 std::to_string(section.tensors.size()) + " tensors pass\n";
    std::string verdict = report.verdictOf(section);
    details += section.failure;
    add(section.name, verdict == "fail" || verdict == "not compared",
        section.name + (verdict == "fail" ? " differs" : " could not be compared"), details);
    for (const Verdict &v : section.tensors)
      if (!v.passed() && verdict == "fail") {
        char text[160];
        std::snprintf(text, sizeof text, ", worst absolute difference %.2e, relative RMSE %.2e",
                      v.worst, v.relative);
        add(section.name + " " + v.name, true, v.how, v.shape + text);
      }
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"" +
         escape(suite) + "\" tests=\"" + std::to_string(tests) + "\" failures=\"" +
         std::to_string(failures) + "\">\n" + cases + "  </testsuite>\n</testsuites>\n";
}

void accc::tool::writeJUnit(const DiffReport &report, const std::string &path) {
  if (std::string problem = writeTextFile(path, toXml(report)); !problem.empty())
    throw Error(ErrorKind::machine, problem);
}
