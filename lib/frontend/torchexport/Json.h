// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// JSON of a file that need not be trusted.
#ifndef ACCC_FRONTEND_TORCHEXPORT_JSON_H
#define ACCC_FRONTEND_TORCHEXPORT_JSON_H

#include "frontend/common/ImportError.h"

#include "llvm/ADT/StringRef.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <set>

namespace accc::torchexport {

/// A value inside a document, which outlives it. Every query throws ImportError, with the name of
/// the nearest member, if the value is not what it is asked for.
class Json {
public:
  /// The whole document; `name` is that of its file.
  Json(const nlohmann::json &value, llvm::StringRef name) : value(&value), key(name) {}

  /// Throws ImportError for text that is not JSON, or too deeply nested.
  static nlohmann::json parse(const std::string &text, llvm::StringRef name);

  bool has(const char *name) const { return value->is_object() && value->contains(name); }
  Json at(const char *name) const;
  /// The member, or nothing if it is absent or null.
  std::optional<Json> find(const char *name) const;
  size_t size() const;
  Json at(size_t index) const;
  /// The one member of a union, such as {"as_int": 3}: its name.
  std::string tag() const;
  Json content() const { return at(tag().c_str()); }

  int64_t integer() const;
  /// A number, or one of the words "Infinity", "-Infinity" and "NaN".
  double real() const;
  bool boolean() const;
  std::string string() const;
  /// The names of all members.
  std::vector<std::string> keys() const;
  /// All texts in it, at any depth.
  std::set<std::string> texts() const;

private:
  [[noreturn]] void wrong(const llvm::Twine &what) const;

  const nlohmann::json *value;
  std::string key; // the innermost name
};

} // namespace accc::torchexport

#endif
