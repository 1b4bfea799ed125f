// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What somebody meant who mistyped a name, as this program knows it: not at all. In place of the
// compiler's own, which needs LLVM.
#include "support/Suggest.h"

std::string accc::didYouMean(std::string_view, const std::vector<std::string> &) { return ""; }
