// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiled model written by hand (fake_model.c), in its variants.
#ifndef ACCC_TEST_RUNTIME_FAKEMODEL_H
#define ACCC_TEST_RUNTIME_FAKEMODEL_H

#include "accc/accc.h"

namespace accc::test {

/// The path of a variant, as CMakeLists.txt names it.
inline std::string fake(const std::string &name) {
  return std::string(FAKE_MODELS) + "/" + name + ".so";
}

inline TensorMap batch() {
  return {{"x", Tensor::of<float>({4, 3}, {1, 0, 2, -1, 1, 0, 0.5f, 0.5f, 1, 2, -1, 1})},
          {"target", Tensor::of<float>({4, 1}, {1, -1, 0.5f, 2})}};
}

/// The values of its parameters.
inline std::vector<float> parameters(Session &session) {
  std::vector<float> values;
  for (const char *name : {"linear.weight", "linear.bias"})
    for (float value : session.variable(name).data<float>())
      values.push_back(value);
  return values;
}

} // namespace accc::test

#endif // ACCC_TEST_RUNTIME_FAKEMODEL_H
