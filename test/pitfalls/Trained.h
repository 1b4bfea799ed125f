// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models in ONNX's text syntax, compiled by the whole compiler for the target of ACCC_TEST_TARGET,
// run, and interpreted beside.
#ifndef ACCC_TEST_PITFALLS_TRAINED_H
#define ACCC_TEST_PITFALLS_TRAINED_H

#include "random/Trace.h"

#include "accc/accc.h"
#include "driver/Options.h"

#include <optional>
#include <string>
#include <vector>

namespace accc::test {

/// A model, what it is run on, and how it is trained.
struct TrainedModel {
  /// "g (float[2,3] x, float[3] w) => (float[2,3] y) { y = Mul(x, w) }". No output may be called
  /// `loss` unless it is the loss.
  std::string graph;
  /// Graph inputs that are trained variables with these initial values.
  Values parameters;
  /// The other graph inputs.
  Values inputs = {};
  /// What the gradients of outputs are: the loss is the sum of all elements of all float outputs,
  /// each times its weight here; an output that is not named has fixed weights between -1 and 1.
  /// Not used where `options` names a loss.
  Values cotangents = {};
  /// With `loss` empty, that above. The optimizer is SGD unless one is named; learning rate 1.
  CompileOptions options = {};
  int opset = 17;
  int steps = 1;
};

/// What became of it. Keys are those of a Trace: "grad_step y", "grad_step grad.w",
/// "train_step 1 new w".
struct Training {
  /// Of the compilation or of a run; empty if there was none.
  std::string error;
  /// What the library gave, and the reference interpreter in double precision.
  Trace library, reference;

  const ReferenceArray &output(const std::string &name) const;
  const ReferenceArray &gradient(const std::string &parameter) const;
  /// After the first step.
  const ReferenceArray &updated(const std::string &variable) const;
};

/// Compiles, runs all entry points with scratch memory and outputs full of NaN, and interprets.
Training train(const TrainedModel &model);

/// The same, and holds everything that the library gave against the interpreter: NaN and infinities
/// at the same places, the rest within `tolerance` of the tensor's norm.
Training trainAsInterpreted(const TrainedModel &model, double tolerance = 3e-6);

/// Trains under budgets of fewer and fewer bytes, from the first one down by `step`, until one is
/// too small; a check fails if that is so within four.
void trainWithin(TrainedModel model, int64_t budget, int64_t step,
                 llvm::function_ref<void(const Training &)> check);

/// A library for programs that do more than `train`; removed with this object.
class CompiledModel {
public:
  explicit CompiledModel(const TrainedModel &model);
  CompiledModel(const CompiledModel &) = delete;
  CompiledModel &operator=(const CompiledModel &) = delete;
  ~CompiledModel();

  /// Why there is no library.
  std::string error;
  Session session(SessionOptions options = {.learning_rate = 1, .threads = 1}) const;
  /// The message of a run of an entry point that must fail; a check fails if it has changed the
  /// variable.
  std::string failureOf(const std::string &entry, const std::string &variable) const;
  /// The inputs that the model says, weights of outputs included.
  TensorMap inputs;

private:
  std::string path;
};

/// The elements of a tensor, whatever its type.
std::vector<double> numbersOf(const Tensor &tensor);
bool sameBits(const Tensor &a, const Tensor &b);

/// An array of such elements, and one of numbers between `low` and `high` that are the same in each
/// run.
ReferenceArray array(std::vector<int64_t> shape, std::vector<double> values);
ReferenceArray filled(std::vector<int64_t> shape, double value);
ReferenceArray spread(std::vector<int64_t> shape, double low = -1, double high = 1,
                      uint64_t seed = 1);

/// Every element equal, NaN being equal to NaN.
void checkEqual(const ReferenceArray &found, const std::vector<double> &expected);
void checkNear(const ReferenceArray &found, const std::vector<double> &expected,
               double tolerance = 1e-5);
void checkFinite(const ReferenceArray &found);

/// Whether the tests run for a GPU (or its stand-in).
bool testsCuda();

} // namespace accc::test

#endif
