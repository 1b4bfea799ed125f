// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/NamePattern.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

using namespace accc;
using llvm::StringRef;

static PCRE2_SPTR unitsOf(StringRef text) {
  return reinterpret_cast<PCRE2_SPTR>(text.data()); // char8_t of C
}

void NamePattern::Free::operator()(pcre2_real_code_8 *code) const { pcre2_code_free(code); }

llvm::Expected<NamePattern> NamePattern::parse(StringRef option, StringRef text) {
  // Names are UTF-8, or any bytes, of which an expression finds those parts that are.
  constexpr uint32_t kOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF;
  std::string full = (option + " " + text).str();
  if (text.empty()) // that of a variable of a script that is not set
    return llvm::createStringError(
        std::errc::invalid_argument,
        (full + ": the expression is empty: . finds every name").c_str());
  int error;
  PCRE2_SIZE place;
  Expression expression(
      pcre2_compile(unitsOf(text), text.size(), kOptions, &error, &place, nullptr));
  if (!expression) {
    char message[256] = "";
    pcre2_get_error_message(error, reinterpret_cast<PCRE2_UCHAR *>(message), sizeof(message));
    std::string where = (", behind '" + text.take_front(place) + "'").str();
    return llvm::createStringError(std::errc::invalid_argument,
                                   (full + ": " + message + where).c_str());
  }
  return NamePattern(std::move(expression), std::move(full));
}

bool NamePattern::isFoundIn(StringRef name) const {
  std::unique_ptr<pcre2_match_data, decltype(&pcre2_match_data_free)> match(
      pcre2_match_data_create_from_pattern(expression.get(), nullptr), pcre2_match_data_free);
  std::unique_ptr<pcre2_match_context, decltype(&pcre2_match_context_free)> limits(
      pcre2_match_context_create(nullptr), pcre2_match_context_free);
  if (match && limits) {
    // As long as it takes: giving up would be taken for another name.
    pcre2_set_match_limit(limits.get(), UINT32_MAX);
    pcre2_set_depth_limit(limits.get(), UINT32_MAX);
    pcre2_set_heap_limit(limits.get(), UINT32_MAX);
    int found =
        pcre2_match(expression.get(), unitsOf(name), name.size(), 0, 0, match.get(), limits.get());
    if (found >= 0 || found == PCRE2_ERROR_NOMATCH)
      return found >= 0;
  }
  llvm::report_fatal_error(llvm::Twine(text) + ": memory is not enough to look for it in '" + name +
                               "'",
                           /*gen_crash_diag=*/false);
}

bool NamePattern::matches(StringRef name, const OtherNames &otherNames) const {
  if (isFoundIn(name))
    return true;
  auto others = otherNames.find(name.str());
  return others != otherNames.end() &&
         llvm::any_of(others->second, [&](const std::string &other) { return isFoundIn(other); });
}
