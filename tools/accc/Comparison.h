// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares tensors with goldens by PyTorch's own rule.
#ifndef ACCC_TOOLS_ACCC_COMPARISON_H
#define ACCC_TOOLS_ACCC_COMPARISON_H

#include "accc/tensor.h"

#include <optional>
#include <string>
#include <vector>

namespace accc::tool {

/// How one tensor compares.
struct Verdict {
  std::string name, shape;
  double worst = 0;    ///< the greatest absolute difference
  double relative = 0; ///< RMSE over the golden's root mean square
  /// "close", "rmse", "rounding" (these pass), or what is wrong.
  std::string how;
  bool passed() const { return how == "close" || how == "rmse" || how == "rounding"; }
};

/// What was measured beside a golden.
struct Measured {
  const Tensor *golden64 = nullptr;  ///< of a float64 run; nullptr: not known
  std::optional<double> noise = {};  ///< RMSE of runs from moved weights (Noise.h)
  std::optional<double> update = {}; ///< of a variable, the RMSE to what it was before training
};

/// Passes if |result - golden| <= tolerance (1 + |golden|) everywhere ("close"), or else if
/// rounding explains the difference: if the RMSE against golden64 is at most 2 times the golden's
/// own (3 times for fewer than 1000 elements and 1x1 convolutions, where a mean says little) plus
/// tolerance / 10 ("rmse"), or if the RMSE against the golden is at most as many times the noise
/// ("rounding"). A tolerance of 0 asks for the same bits. `result` may be null: missing.
/// Source: torch/_dynamo/utils.py, `same`.
Verdict judge(const std::string &name, const Tensor *result, const Tensor &golden,
              const Measured &measured, double tolerance);

/// Judges a piece of optimizer state: passes if the RMSE is at most 100 tolerances of the golden's
/// root mean square, and no element is off by more than ten times that and a tenth of itself
/// ("close"), or if rounding explains it. Sums of gradients and of their
/// squares are far below 1, where an absolute tolerance passes anything. What is at most noise for
/// the gradient that it sums (1e-5, see judge) does not count; of squares (`exp_avg_sq` and the
/// like) the square of that. Whole numbers are judged by judge().
/// Source: the normwise relative error ||x - y|| / ||y|| of Higham, "Accuracy and Stability of
/// Numerical Algorithms", 2nd edition, section 1.2 (norms: chapter 6).
Verdict judgeState(const std::string &name, const Tensor *result, const Tensor &golden,
                   const Measured &measured, double tolerance);

/// Judges a gradient, which may be as small: it must pass by judge() and, where the noise is known,
/// by judgeState() too, each by closeness or by rounding.
Verdict judgeGradient(const std::string &name, const Tensor *result, const Tensor &golden,
                      const Measured &measured, double tolerance);

/// Judges a parameter or buffer after training: it must pass by judge() and, where noise and update
/// are known, be off by at most 100 tolerances of the update (and of 1e-4 of the variable, whose
/// last bits rounding decides), or by what rounding explains. A variable that nothing updates, or
/// that is updated by something else, is close to the golden where the learning rate is small.
Verdict judgeUpdate(const std::string &name, const Tensor *result, const Tensor &golden,
                    const Measured &measured, double tolerance);

/// The RMSE between two tensors of one shape, of elements that are finite; 0 where there is none.
double distance(const Tensor &a, const Tensor &b);

/// Prints the table, only what failed if `failedOnly`, and counts.
void printVerdicts(const std::vector<Verdict> &verdicts, bool failedOnly);

} // namespace accc::tool

#endif
