// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef ACCC_RUNTIME_CPU_SUBNORMALS_H
#define ACCC_RUNTIME_CPU_SUBNORMALS_H

#include "Team.h"

namespace accc::detail {

/// While it lives, floats below 1.18e-38 count as zero, as operands and as results, on all threads
/// of a team and nowhere else. Training makes them (a mask of -100 before a softmax, squares of
/// small gradients) and nothing follows from them, but a product of one takes the CPU a hundred
/// times as long: a fifth of Swin-T's step was spent on them.
class FlushSubnormals {
public:
  explicit FlushSubnormals(const Team &team);
  FlushSubnormals(const FlushSubnormals &) = delete;
  FlushSubnormals &operator=(const FlushSubnormals &) = delete;
  ~FlushSubnormals();

private:
  const Team &team;
};

} // namespace accc::detail

#endif // ACCC_RUNTIME_CPU_SUBNORMALS_H
