// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the compiler and its tools say on standard error, in one style: "accc: error: ...". Free of
// LLVM.
#ifndef ACCC_SUPPORT_LOG_H
#define ACCC_SUPPORT_LOG_H

#include <string>
#include <vector>

namespace accc {

/// From the gravest on.
enum class LogLevel { Error, Warning, Note, Debug };

/// Their names, in this order: error, warning, note, debug.
const std::vector<std::string> &logLevelNames();

/// What is less grave is not printed; at first LogLevel::Warning.
void setLogLevel(LogLevel level);
bool isLogged(LogLevel level);

/// Prints "accc: <level>: <text>". Text may come from a file: it is made printable, and what
/// follows a line feed is indented, so that it passes for no message of its own. From any thread.
///
/// The level is coloured on a terminal, unless the environment's NO_COLOR is set to something or
/// TERM is dumb; elsewhere where CLICOLOR_FORCE is set to something other than 0.
void log(LogLevel level, const std::string &text);

/// Writes what standard output still holds. Says so where that cannot be, as on a full disk, and
/// returns false: the result of the command is lost.
bool flushOutput();

} // namespace accc

#endif
