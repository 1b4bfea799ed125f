// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Json.h"

using namespace accc;
using nlohmann::ordered_json;

std::string accc::tool::toText(const ordered_json &json) {
  return json.dump(2, ' ', /*ensure_ascii=*/false, ordered_json::error_handler_t::replace);
}

std::string accc::tool::describe(const nlohmann::json::exception &error) {
  std::string text = error.what(); // "[json.exception.type_error.302] type must be ..."
  size_t end = text.find("] ");
  return text.starts_with("[json.") && end != std::string::npos ? text.substr(end + 2) : text;
}
