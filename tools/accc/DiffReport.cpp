// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "DiffReport.h"

#include "Json.h"
#include "Print.h"
#include "accc/error.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace accc;
using namespace accc::tool;
using nlohmann::ordered_json;

static bool contains(const std::vector<std::string> &list, const std::string &name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

// ---- Verdicts ----

bool SectionChoice::compares(const std::string &section) const {
  return only.empty() || contains(only, section);
}

bool SectionChoice::failsOn(const std::string &section) const {
  const std::vector<std::string> byDefault = {kTraining, "interface", "numbers"};
  const std::vector<std::string> &failing = failOn ? *failOn : only.empty() ? byDefault : only;
  return contains(failing, section) || (section == kTraining && contains(failing, "manifest"));
}

void DiffReport::add(Section section) {
  if (choice.compares(section.name))
    sections.push_back(std::move(section));
}

void DiffReport::addNumbers(const std::function<Section()> &compare) {
  if (!choice.compares("numbers"))
    return;
  try {
    sections.push_back(compare());
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::machine)
      throw;
    sections.push_back({.name = "numbers", .failure = error.what()});
  }
}

static bool hasBadTensor(const Section &section) {
  return std::any_of(section.tensors.begin(), section.tensors.end(),
                     [](const Verdict &verdict) { return !verdict.passed(); });
}

std::string DiffReport::verdictOf(const Section &section) const {
  bool bad = hasBadTensor(section);
  if ((bad && choice.failsOn(section.name)) ||
      std::any_of(section.changes.begin(), section.changes.end(),
                  [](const Change &change) { return change.fails; }))
    return "fail";
  if (!section.failure.empty())
    return "not compared";
  if (bad || !section.changes.empty())
    return "different";
  return section.name == "numbers" || section.name == "bisection" ? "pass" : "same";
}

std::vector<std::string> DiffReport::failedSections() const {
  std::vector<std::string> failed;
  for (const Section &section : sections)
    if (verdictOf(section) == "fail")
      failed.push_back(section.name);
  return failed;
}

// ---- For people ----

std::string accc::tool::describe(const Change &change, const DiffReport &report) {
  if (!change.after)
    return change.what + " is missing in " + report.b;
  if (!change.before)
    return change.what + " is missing in " + report.a;
  if (change.before->empty())
    return change.what + ": " + *change.after;
  return change.what + ": " + *change.before + " -> " + *change.after;
}

static std::string join(const std::vector<std::string> &list) {
  std::string text;
  for (const std::string &item : list)
    text += (text.empty() ? "" : ", ") + item;
  return text;
}

static void printReport(const DiffReport &report, bool failedOnly) {
  for (const Section &section : report.sections) {
    print("%-10s %s\n", section.name.c_str(), report.verdictOf(section).c_str());
    for (const std::string &note : section.notes)
      print("  %s\n", note.c_str());
    if (!section.failure.empty())
      print("  %s\n", section.failure.c_str());
    for (const Change &change : section.changes)
      print("  %s %s\n", change.fails ? "*" : "~", describe(change, report).c_str());
    if (!section.tensors.empty())
      printVerdicts(section.tensors, failedOnly);
  }
  if (std::vector<std::string> failed = report.failedSections(); !failed.empty())
    print("failed: %s\n", join(failed).c_str());
}

// ---- For programs ----

static ordered_json valueOf(const std::optional<std::string> &value) {
  return value ? ordered_json(*value) : ordered_json();
}

static ordered_json numberOf(double value) {
  return std::isfinite(value) ? ordered_json(value) : ordered_json();
}

static bool isWhole(const DiffReport &report) {
  return std::all_of(report.sections.begin(), report.sections.end(),
                     [](const Section &section) { return section.failure.empty(); });
}

static ordered_json reportJson(const DiffReport &report, bool failedOnly) {
  std::vector<std::string> failed = report.failedSections();
  ordered_json sections = ordered_json::array();
  for (const Section &section : report.sections) {
    ordered_json changes = ordered_json::array(), tensors = ordered_json::array();
    for (const Change &change : section.changes)
      changes.push_back({{"what", change.what},
                         {"a", valueOf(change.before)},
                         {"b", valueOf(change.after)},
                         {"fails", change.fails}});
    for (const Verdict &v : section.tensors)
      if (!failedOnly || !v.passed())
        tensors.push_back({{"name", v.name},
                           {"shape", v.shape},
                           {"worst_abs", numberOf(v.worst)},
                           {"relative_rmse", numberOf(v.relative)},
                           {"verdict", v.how},
                           {"passed", v.passed()}});
    sections.push_back({{"name", section.name},
                        {"verdict", report.verdictOf(section)},
                        {"notes", section.notes},
                        {"failure", section.failure},
                        {"changes", changes},
                        {"tensors", tensors}});
  }
  return {{"a", report.a},
          {"b", report.b},
          {"verdict", !failed.empty()   ? "fail"
                      : isWhole(report) ? "pass"
                                        : "not compared"},
          {"failed", failed},
          {"tolerance", report.tolerance},
          {"sections", sections}};
}

void accc::tool::checkSections(const DiffReport &report) {
  for (const std::string &name : report.choice.only)
    if (std::none_of(report.sections.begin(), report.sections.end(),
                     [&](const Section &section) { return section.name == name; }))
      throw Error(ErrorKind::usage, "--only " + name + ": there is no such section to compare " +
                                        report.a + " with " +
                                        (report.b.empty() ? "itself" : report.b));
}

int accc::tool::tell(const DiffReport &report, const ReportOptions &options) {
  if (options.json)
    std::cout << toText(reportJson(report, options.failedOnly)) << "\n";
  else
    printReport(report, options.failedOnly);
  ExitCode code = !report.failedSections().empty() ? ExitCode::Data
                  : isWhole(report)                ? ExitCode::Done
                                                   : ExitCode::Machine;
  return static_cast<int>(code);
}
