// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compares libraries, and results computed elsewhere, with goldens of accc_export (PyTorch) or of
// `accc golden`.
#ifndef ACCC_TOOLS_ACCC_GOLDENS_H
#define ACCC_TOOLS_ACCC_GOLDENS_H

#include "DiffReport.h"
#include "Noise.h"

#include "driver/Options.h"

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace accc::tool {

// A folder of goldens:
//   meta.json             how to make the run
//   inputs.safetensors    the batch
//   initial.safetensors   parameters and buffers to start from; else those of the model
//   golden.safetensors    outputs, `loss` and `grad.<parameter>` of a grad_step; `losses` of all
//                         train_steps; `param.<variable>` and `state.<optimizer state>` after them;
//                         `eval_step <output>`, and `average_eval_step <output>` after
//                         the last train_step. Of a training step with a name: `grad_step.d loss`,
//                         `grad_step.d grad.<parameter>`, `losses.d`, `eval_step.d <output>`
//   golden64.safetensors  the same from a run in float64
// What small tensors are held to is in meta.json: `noise`, and `updates` of `param.<variable>`.
// Only meta.json and inputs.safetensors must be there, and one of the last two unless the model has
// dropout whose masks nobody else draws.
inline constexpr char kMetaFile[] = "meta.json", kInputsFile[] = "inputs.safetensors",
                      kInitialFile[] = "initial.safetensors", kGoldenFile[] = "golden.safetensors",
                      kGolden64File[] = "golden64.safetensors";

/// What meta.json says of the run.
struct GoldenMeta {
  /// How the model was compiled, without model and output; for the size alone that was recorded.
  CompileOptions compile;
  /// All sizes of the library.
  std::map<std::string, std::vector<int64_t>> dimensions = {};
  double learningRate = 1e-3;
  int64_t steps = 10, seed = 0;
  bool dropout = false;
  double lossMean = 0, lossDeviation = 0;
  bool isOwn = false; ///< `accc golden` wrote it
  /// How much of each tensor rounding decides, where that was measured.
  std::optional<Noise> noise = {};
  /// By the golden's name, how far training moved each variable, where that was recorded.
  std::optional<Updates> updates = {};
  std::string snapshot; ///< JSON: what describeForDiff() gave for the library; empty: not known

  bool isHalf = false;   ///< the model computes in 16-bit floats
  bool isDouble = false; ///< all floats of the model are f64

  /// What numbers are held to unless the user says something else: 1e-4; with bf16, of which a
  /// rounding is 2e-3, 1e-3, which is what elements of 0.5 and less are rounded by; in f64 1e-10,
  /// which a single number in f32 exceeds, of which a rounding is 6e-8.
  double tolerance() const {
    return isHalf || compile.precision == "bf16" ? 1e-3 : isDouble ? 1e-10 : 1e-4;
  }
};

/// Throws Error where there is none, or it cannot be read. `model` is the model's file, of which
/// `freeze` speaks.
GoldenMeta readGoldenMeta(const std::string &folder, const std::string &model);

/// A library's trajectory by the names of goldens.
TensorMap toGoldens(const Model &model, const Trajectory &trajectory);

/// Runs a library as the goldens of report.a were made, and holds its numbers against them.
void diffGoldens(const std::string &library, const std::string &folder, DiffReport &report);
/// Holds what `accc run` wrote against goldens: outputs, loss and gradients of the first step, and,
/// unless `params` is empty, the variables after the last.
void diffResults(const std::string &results, const std::string &params, const std::string &folder,
                 DiffReport &report);

} // namespace accc::tool

#endif
