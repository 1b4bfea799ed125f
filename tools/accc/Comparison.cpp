// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Comparison.h"
#include "Print.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

using namespace accc;
using namespace accc::tool;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<double> toDoubles(const Tensor &tensor) {
  Tensor wide = tensor.to(DType::f64);
  std::span<const double> data = std::as_const(wide).data<double>();
  return std::vector<double>(data.begin(), data.end());
}

/// What is no number, or infinite, has no distance.
double rmse(const std::vector<double> &a, const std::vector<double> &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    if (double difference = a[i] - b[i]; std::isfinite(difference))
      sum += difference * difference;
  return std::sqrt(sum / static_cast<double>(a.size()));
}

double rootMeanSquare(const std::vector<double> &values) {
  return rmse(values, std::vector<double>(values.size(), 0));
}
} // namespace

double accc::tool::distance(const Tensor &a, const Tensor &b) {
  if (a.shape() != b.shape() || a.size() == 0)
    return 0;
  return rmse(toDoubles(a), toDoubles(b));
}

/// Some gradients, a key's bias among them, are zero but for noise; they must not divide.
static constexpr double kNoise = 1e-5;

/// Lets a tensor that failed pass if rounding explains it but for `slack`; not where the bits must
/// be the same.
static void excuse(Verdict &verdict, const std::vector<double> &got,
                   const std::vector<double> &want, const Tensor &golden, const Measured &measured,
                   double tolerance, double slack) {
  if (verdict.how != "FAILED" || tolerance == 0)
    return;
  bool pointwise = golden.rank() == 4 && golden.dim(2) == 1 && golden.dim(3) == 1;
  double factor = golden.size() < 1000 || pointwise ? 3 : 2;
  if (measured.golden64) {
    std::vector<double> exact = toDoubles(*measured.golden64);
    if (exact.size() == got.size() && rmse(exact, got) <= factor * rmse(exact, want) + slack)
      verdict.how = "rmse";
  }
  if (measured.noise && rmse(got, want) <= factor * *measured.noise)
    verdict.how = "rounding";
}

/// The error of the worst element, relative to itself and to what is the size of an element.
static double worstElement(const std::vector<double> &got, const std::vector<double> &want,
                           double size) {
  double worst = 0;
  for (size_t i = 0; i < got.size(); ++i)
    if (double difference = std::abs(got[i] - want[i]); std::isfinite(difference))
      worst = std::max(worst, difference / (size + std::abs(want[i])));
  return worst;
}

/// Judges a tensor of floats, which judge() found to be of its golden's shape and finite, by the
/// size of what it tells; where `eachElement`, which has that size, also one by one.
static void judgeBySize(Verdict &verdict, const Tensor &result, const Tensor &golden,
                        const Measured &measured, double size, bool eachElement, double tolerance) {
  std::vector<double> got = toDoubles(result), want = toDoubles(golden);
  verdict.relative = rmse(got, want) / size;
  bool isClose = verdict.relative <= 100 * tolerance &&
                 (!eachElement || worstElement(got, want, size) <= 1000 * tolerance);
  verdict.how = isClose ? "close" : "FAILED";
  excuse(verdict, got, want, golden, measured, tolerance, 10 * tolerance * size);
}

static bool isFloat(const Tensor &tensor) {
  return tensor.dtype() == DType::f32 || tensor.dtype() == DType::f64 ||
         tensor.dtype() == DType::f16 || tensor.dtype() == DType::bf16;
}

Verdict accc::tool::judge(const std::string &name, const Tensor *result, const Tensor &golden,
                          const Measured &measured, double tolerance) {
  Verdict verdict{.name = name, .shape = to_string(golden.dtype(), golden.shape())};
  verdict.worst = verdict.relative = kInfinity;
  if (!result) {
    verdict.how = "missing";
    return verdict;
  }
  if (result->shape() != golden.shape()) {
    verdict.how = "is " + to_string(result->dtype(), result->shape());
    return verdict;
  }
  std::vector<double> got = toDoubles(*result), want = toDoubles(golden);
  verdict.worst = verdict.relative = 0;
  verdict.how = "close";
  if (got.empty())
    return verdict;

  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])))
      continue;
    double difference = std::abs(got[i] - want[i]);
    // A NaN or an infinity on one side only.
    if (!std::isfinite(difference)) {
      verdict.worst = verdict.relative = kInfinity;
      verdict.how = "not finite";
      return verdict;
    }
    verdict.worst = std::max(verdict.worst, difference);
    if (difference > tolerance * (1 + std::abs(want[i])))
      verdict.how = "FAILED";
  }
  verdict.relative = rmse(got, want) / std::max(rootMeanSquare(want), kNoise);
  excuse(verdict, got, want, golden, measured, tolerance, tolerance / 10);
  return verdict;
}

Verdict accc::tool::judgeState(const std::string &name, const Tensor *result, const Tensor &golden,
                               const Measured &measured, double tolerance) {
  Verdict verdict = judge(name, result, golden, {}, tolerance);
  bool isJudged = verdict.how == "close" || verdict.how == "FAILED";
  if (!isFloat(golden) || !isJudged || verdict.worst == 0)
    return verdict;
  double noise = name.find("_sq.") != std::string::npos ? kNoise * kNoise : kNoise;
  double size = std::max(rootMeanSquare(toDoubles(golden)), noise);
  judgeBySize(verdict, *result, golden, measured, size, /*eachElement=*/true, tolerance);
  return verdict;
}

Verdict accc::tool::judgeGradient(const std::string &name, const Tensor *result,
                                  const Tensor &golden, const Measured &measured,
                                  double tolerance) {
  Verdict verdict = judge(name, result, golden, measured, tolerance);
  if (!verdict.passed() || !measured.noise)
    return verdict;
  return judgeState(name, result, golden, measured, tolerance);
}

/// Of a variable, what an update must be to be more than rounding.
static constexpr double kLeastUpdate = 1e-4;

Verdict accc::tool::judgeUpdate(const std::string &name, const Tensor *result, const Tensor &golden,
                                const Measured &measured, double tolerance) {
  Verdict verdict = judge(name, result, golden, measured, tolerance);
  if (!verdict.passed() || verdict.worst == 0 || !isFloat(golden) || !measured.noise ||
      !measured.update)
    return verdict;
  double size = std::max(*measured.update, kLeastUpdate * rootMeanSquare(toDoubles(golden)));
  judgeBySize(verdict, *result, golden, measured, size, /*eachElement=*/false, tolerance);
  return verdict;
}

void accc::tool::printVerdicts(const std::vector<Verdict> &verdicts, bool failedOnly) {
  int width = 6, failed = 0, shapeWidth = 5;
  for (const Verdict &v : verdicts) {
    width = std::max(width, static_cast<int>(v.name.size()));
    shapeWidth = std::max(shapeWidth, static_cast<int>(v.shape.size()));
    failed += !v.passed();
  }
  print("%-*s  %-*s  worst abs  rel. rmse  verdict\n", width, "tensor", shapeWidth, "shape");
  for (const Verdict &v : verdicts)
    if (!failedOnly || !v.passed())
      print("%-*s  %-*s  %9.2e  %9.2e  %s\n", width, v.name.c_str(), shapeWidth, v.shape.c_str(),
            v.worst, v.relative, v.how.c_str());
  print("%zu of %zu tensors pass\n", verdicts.size() - failed, verdicts.size());
  auto bad =
      std::find_if(verdicts.begin(), verdicts.end(), [](const Verdict &v) { return !v.passed(); });
  if (bad != verdicts.end())
    print("first bad tensor: %s (%s)\n", bad->name.c_str(), bad->how.c_str());
}
