// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Linear operators, whose derivative needs no second implementation: <A x, w> = <x, A* w>.
#ifndef ACCC_TEST_PITFALLS_ADJOINT_H
#define ACCC_TEST_PITFALLS_ADJOINT_H

#include "Trained.h"

namespace accc::test {

/// Nodes that compute `$y` from the parameter `x`, linearly, and its shape.
struct LinearPart {
  std::string body;
  std::vector<int64_t> shape;
};

/// The result of every part, and the gradient of all for x, are the interpreter's; and for each
/// part alone <y, w> is <x, gradient>. One library holds all parts.
void checkAdjoint(std::vector<int64_t> shape, const std::vector<LinearPart> &parts, int opset = 17);

} // namespace accc::test

#endif
