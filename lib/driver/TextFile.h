// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A text file that appears whole or not at all (Files.h). Free of LLVM, so that the tool is, too.
#ifndef ACCC_DRIVER_TEXTFILE_H
#define ACCC_DRIVER_TEXTFILE_H

#include <string>

namespace accc {

/// Returns what went wrong, in one line; empty if nothing.
std::string writeTextFile(const std::string &path, const std::string &text);

} // namespace accc

#endif
