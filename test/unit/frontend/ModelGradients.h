// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Results and gradients of models in ONNX's text syntax, by the reference interpreter.
#ifndef ACCC_TEST_UNIT_FRONTEND_MODELGRADIENTS_H
#define ACCC_TEST_UNIT_FRONTEND_MODELGRADIENTS_H

#include "ModelText.h"

namespace accc::test {

using Inputs = std::map<std::string, ReferenceArray>;

/// Uniform numbers; the same tests get the same.
ReferenceArray random(std::vector<int64_t> shape, double least = -1, double greatest = 1);

void checkClose(const ReferenceArray &actual, const ReferenceArray &expected);

/// The model's result `y`.
ReferenceArray resultOf(const std::string &text, const Inputs &inputs, int opset = 22);

/// The gradient of the sum of y^2 with respect to each of the inputs `wanted` is that of finite
/// differences.
void checkGradients(const std::string &text, const Inputs &inputs,
                    const std::vector<std::string> &wanted, int opset = 22);

} // namespace accc::test

#endif
