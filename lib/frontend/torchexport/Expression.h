// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on sizes as the file has it in text: extents that are computed from others, and what
// PyTorch took for granted about the inputs.
#ifndef ACCC_FRONTEND_TORCHEXPORT_EXPRESSION_H
#define ACCC_FRONTEND_TORCHEXPORT_EXPRESSION_H

#include "frontend/aten/Call.h"

#include <map>
#include <string>

namespace accc::torchexport {

/// What an expression may name: symbols ("s77"), and what belongs to an input of the program, as
/// Python writes it behind the dict of all inputs: "['x'].size()[0]", "['states'][1].size()[0]".
using Names = std::map<std::string, aten::Local>;

/// The value of a Python expression, `4*s0 + 1` or `L['x'].size()[0] % 4 == 0`, or of what SymPy's
/// srepr writes, `Mul(Integer(4), Symbol('s0'))`. Throws ImportError where the text is none of
/// these, uses a name that is not known, or has no value.
aten::Local evaluate(llvm::StringRef expression, const Names &names);

/// The symbols that an expression of either form names, each once.
std::vector<std::string> symbolsOf(llvm::StringRef expression);

/// The whole number that `symbol` must be for the expression to be `value`, if the expression is a
/// multiple of it plus a number, and there is one.
std::optional<int64_t> solve(llvm::StringRef expression, const std::string &symbol, int64_t value,
                             const Names &names);

} // namespace accc::torchexport

#endif
