// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Comparison.h"
#include "Print.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

using namespace accc;
using namespace accc::tool;

namespace {
constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <typename T> std::vector<double> widen(const Tensor &tensor) {
  auto data = tensor.data<T>();
  return std::vector<double>(data.begin(), data.end());
}

std::vector<double> toDoubles(const Tensor &tensor) {
  switch (tensor.dtype()) {
  case DType::f32:
    return widen<float>(tensor);
  case DType::f64:
    return widen<double>(tensor);
  case DType::boolean:
    return widen<bool>(tensor);
  case DType::i8:
    return widen<int8_t>(tensor);
  case DType::i16:
    return widen<int16_t>(tensor);
  case DType::i32:
    return widen<int32_t>(tensor);
  case DType::i64:
    return widen<int64_t>(tensor);
  case DType::u8:
    return widen<uint8_t>(tensor);
  case DType::u16:
    return widen<uint16_t>(tensor);
  case DType::u32:
    return widen<uint32_t>(tensor);
  case DType::u64:
    return widen<uint64_t>(tensor);
  default:
    throw Error(ErrorKind::data,
                "tensors of " + std::string(to_string(tensor.dtype())) + " cannot be compared");
  }
}

double rmse(const std::vector<double> &a, const std::vector<double> &b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum / static_cast<double>(a.size()));
}
} // namespace

double accc::tool::distance(const Tensor &a, const Tensor &b) {
  if (a.shape() != b.shape() || a.size() == 0)
    return 0;
  double result = rmse(toDoubles(a), toDoubles(b));
  return std::isfinite(result) ? result : 0;
}

/// Some gradients, a key's bias among them, are zero but for noise; they must not divide.
static constexpr double kNoise = 1e-5;

/// Lets a tensor that failed pass if rounding explains it.
static void excuse(Verdict &verdict, const std::vector<double> &got,
                   const std::vector<double> &want, const Tensor &golden, const Rounding &rounding,
                   double tolerance) {
  if (verdict.how != "FAILED" || tolerance == 0)
    return;
  bool pointwise = golden.rank() == 4 && golden.dim(2) == 1 && golden.dim(3) == 1;
  double factor = golden.size() < 1000 || pointwise ? 3 : 2;
  if (rounding.golden64) {
    std::vector<double> exact = toDoubles(*rounding.golden64);
    if (exact.size() == got.size() &&
        rmse(exact, got) <= factor * rmse(exact, want) + tolerance / 10)
      verdict.how = "rmse";
  }
  if (rounding.noise && rmse(got, want) <= factor * *rounding.noise)
    verdict.how = "rounding";
}

Verdict accc::tool::judge(const std::string &name, const Tensor *result, const Tensor &golden,
                          const Rounding &rounding, double tolerance) {
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

  double squares = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    squares += want[i] * want[i];
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
  double scale = std::sqrt(squares / static_cast<double>(got.size()));
  verdict.relative = verdict.worst == 0 ? 0 : rmse(got, want) / std::max(scale, kNoise);
  excuse(verdict, got, want, golden, rounding, tolerance);
  return verdict;
}

Verdict accc::tool::judgeState(const std::string &name, const Tensor *result, const Tensor &golden,
                               const Rounding &rounding, double tolerance) {
  Verdict verdict = judge(name, result, golden, {}, tolerance);
  bool isFloat = golden.dtype() == DType::f32 || golden.dtype() == DType::f64;
  bool isJudged = verdict.how == "close" || verdict.how == "FAILED";
  if (!isFloat || !isJudged || verdict.worst == 0)
    return verdict;
  std::vector<double> got = toDoubles(*result), want = toDoubles(golden);
  double scale = rmse(want, std::vector<double>(want.size(), 0));
  double noise = name.find("_sq.") != std::string::npos ? kNoise * kNoise : kNoise;
  verdict.relative = rmse(got, want) / std::max(scale, noise);
  verdict.how = verdict.relative <= 100 * tolerance ? "close" : "FAILED";
  excuse(verdict, got, want, golden, rounding, tolerance);
  return verdict;
}

Verdict accc::tool::judgeGradient(const std::string &name, const Tensor *result,
                                  const Tensor &golden, const Rounding &rounding,
                                  double tolerance) {
  Verdict verdict = judge(name, result, golden, rounding, tolerance);
  if (verdict.how != "close" || !rounding.noise)
    return verdict;
  return judgeState(name, result, golden, rounding, tolerance);
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
