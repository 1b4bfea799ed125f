// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What somebody meant who mistyped a name.
#ifndef ACCC_SUPPORT_SUGGEST_H
#define ACCC_SUPPORT_SUGGEST_H

#include <string>
#include <string_view>
#include <vector>

namespace accc {

/// "; did you mean 'NAME'?" with the name of `known` that is closest to `name`, or nothing where
/// none is close: more than a third of its letters differ.
std::string didYouMean(std::string_view name, const std::vector<std::string> &known);

} // namespace accc

#endif
