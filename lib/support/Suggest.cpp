// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/Suggest.h"

#include "llvm/ADT/StringRef.h"

using llvm::StringRef;

/// The edit distance, in which two letters that changed places are one mistake, and so is an end
/// that is missing.
static unsigned distance(StringRef a, StringRef b) {
  if (a.size() >= 3 && b.starts_with_insensitive(a))
    return 1;
  if (a.size() == b.size())
    for (size_t i = 0; i + 1 < a.size(); ++i) {
      std::string swapped = a.str();
      std::swap(swapped[i], swapped[i + 1]);
      if (b.equals_insensitive(swapped))
        return 1;
    }
  return a.edit_distance_insensitive(b);
}

std::string accc::didYouMean(std::string_view name, const std::vector<std::string> &known) {
  unsigned least = static_cast<unsigned>(name.size() + 2) / 3 + 1;
  const std::string *best = nullptr;
  for (const std::string &candidate : known)
    if (unsigned d = distance(name, candidate); d < least && d < candidate.size()) {
      least = d;
      best = &candidate;
    }
  return best ? "; did you mean '" + *best + "'?" : "";
}
