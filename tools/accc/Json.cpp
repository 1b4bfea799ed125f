// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Json.h"

using namespace accc;
using nlohmann::ordered_json;

std::string accc::tool::toText(const ordered_json &json) {
  return json.dump(2, ' ', /*ensure_ascii=*/false, ordered_json::error_handler_t::replace);
}

ordered_json accc::tool::toJson(const Outcome &outcome) {
  ordered_json problems = ordered_json::array();
  for (const Problem &problem : outcome.problems)
    problems.push_back(
        {{"severity", problem.severity == Problem::Severity::Error ? "error" : "warning"},
         {"fault", nameOf(problem.fault)},
         {"node", problem.node},
         {"op", problem.op},
         {"message", problem.message}});
  return {{"ok", outcome.code == ExitCode::Done}, {"problems", problems}};
}
