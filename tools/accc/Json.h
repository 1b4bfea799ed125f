// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the commands print with --json.
#ifndef ACCC_TOOLS_ACCC_JSON_H
#define ACCC_TOOLS_ACCC_JSON_H

#include "accc/error.h"
#include "driver/Driver.h"

#include <nlohmann/json.hpp>

namespace accc::tool {

/// Indented, and UTF-8 whatever bytes a model has in its names.
std::string toText(const nlohmann::ordered_json &json);

/// {ok: false, problems: [{severity, fault, node, op, message}]} of the one error that a command
/// ended with.
nlohmann::ordered_json toJson(ErrorKind kind, const std::string &message);

/// {ok, problems: [{severity, fault, node, op, message}]}
nlohmann::ordered_json toJson(const Outcome &outcome);

/// What is wrong, without the library's own numbers.
std::string describe(const nlohmann::json::exception &error);

} // namespace accc::tool

#endif
