// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What `accc diff` found in the XML that CI systems show: JUnit's.
#ifndef ACCC_TOOLS_ACCC_JUNIT_H
#define ACCC_TOOLS_ACCC_JUNIT_H

#include "DiffReport.h"

namespace accc::tool {

/// Writes the report to `path`: one test case a section, and one a tensor that fails. Throws Error
/// (machine) where it cannot be written.
void writeJUnit(const DiffReport &report, const std::string &path);

} // namespace accc::tool

#endif
