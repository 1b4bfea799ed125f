// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the programs that train compare, and how they count what is wrong.
#ifndef ACCC_TEST_TRAINING_EXPECT_H
#define ACCC_TEST_TRAINING_EXPECT_H

#include <accc/accc.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>

inline std::atomic<int> wrong = 0;

/// Prints and counts what does not hold.
inline void expect(bool holds, const std::string &what) {
  if (holds)
    return;
  std::printf("%s\n", what.c_str());
  ++wrong;
}

/// To the bit.
inline bool equal(const accc::Tensor &a, const accc::Tensor &b) {
  return a.size_bytes() == b.size_bytes() && std::memcmp(a.raw(), b.raw(), a.size_bytes()) == 0;
}

inline accc::TensorMap variables(accc::Trainer &trainer) {
  accc::TensorMap result;
  for (const accc_variable &variable : trainer.model().variables())
    result.emplace(variable.tensor.name, trainer.parameter(variable.tensor.name).clone());
  return result;
}

inline accc::TensorMap gradientsOf(const accc::Result &result) {
  accc::TensorMap gradients;
  for (const auto &[name, tensor] : result.tensors())
    if (name.starts_with("grad."))
      gradients.emplace(name, tensor.clone());
  return gradients;
}

#endif
