// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `accc diff` found, section by section: which of it fails, and how it is told.
#ifndef ACCC_TOOLS_ACCC_DIFFREPORT_H
#define ACCC_TOOLS_ACCC_DIFFREPORT_H

#include "Comparison.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace accc::tool {

/// The sections, in the order in which they are shown.
inline constexpr const char *kSections[] = {"manifest", "interface", "kernels", "memory",
                                            "numbers"};
/// The options in the manifest that say how a model is trained: --fail-on takes them by themselves.
inline constexpr char kTraining[] = "training";

/// Which sections are compared, and which of them fail the command where they differ.
struct SectionChoice {
  std::vector<std::string> only;                  ///< empty: all that apply
  std::optional<std::vector<std::string>> failOn; ///< of kSections, and kTraining

  bool compares(const std::string &section) const;
  /// What is named; else whatever is compared by name; else training, interface and numbers.
  bool failsOn(const std::string &section) const;
};

/// Something that differs other than a tensor.
struct Change {
  std::string what;
  std::optional<std::string> before, after; ///< none: it is not there
  bool fails = false;
};

struct Section {
  std::string name;
  std::vector<std::string> notes = {}; ///< said in any case
  std::vector<Change> changes = {};
  std::vector<Verdict> tensors = {}; ///< of `numbers`
  std::string failure = {};          ///< why this machine cannot compare it; empty: it can
};

struct DiffReport {
  std::string a, b;        ///< what is compared: `before` and `after` speak of these
  double tolerance = 1e-4; ///< of numbers, absolute and relative; 0: the same bits
  SectionChoice choice;
  std::vector<Section> sections = {};

  /// Adds a section if it was asked for.
  void add(Section section);
  /// Adds the numbers, if they were asked for. Where this machine cannot run what gives them (an
  /// Error of the kind machine), the section says why, and hides no other.
  void addNumbers(const std::function<Section()> &compare);
  /// "same", "different" (which does not fail), "pass", "fail" or "not compared".
  std::string verdictOf(const Section &section) const;
  std::vector<std::string> failedSections() const;
};

/// How it is told.
struct ReportOptions {
  bool failedOnly = false; ///< of tensors
  bool json = false;
};

/// "what: before -> after", or where it is missing.
std::string describe(const Change &change, const DiffReport &report);

/// Throws Error (usage) where a section was asked for that the two sides do not have.
void checkSections(const DiffReport &report);

/// Tells it; gives the exit code: 1 if a section fails, else 3 if one could not be compared.
int tell(const DiffReport &report, const ReportOptions &options);

} // namespace accc::tool

#endif
