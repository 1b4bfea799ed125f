// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Json.h"

using namespace accc;
using nlohmann::ordered_json;

std::string accc::tool::toText(const ordered_json &json) {
  return json.dump(2, ' ', /*ensure_ascii=*/false, ordered_json::error_handler_t::replace);
}
