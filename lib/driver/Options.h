// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the command line says about a compilation. Free of LLVM, so that the tool is, too.
#ifndef ACCC_DRIVER_OPTIONS_H
#define ACCC_DRIVER_OPTIONS_H

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace accc {

/// An input whose type the model file does not say.
struct InputOption {
  /// As PyTorch calls it, "float32".
  std::string elementType;
  /// Sizes, or names of dynamic dimensions.
  std::vector<std::string> dimensions;
  /// Among the inputs that are given.
  size_t position = 0;
};

struct CompileOptions {
  /// The model file: .onnx, .pt2 of torch.export.save, .pt of torch.jit.save, or .mlir with a
  /// function @forward.
  std::string model;
  /// The library to write; with stopAfter the IR (empty: it goes to Outcome::text).
  std::string output;

  /// As --loss, --optimizer, --train and --average-weights: [STEP=]SPEC (readTrainingSteps).
  /// Without a loss nothing is trained.
  std::vector<std::string> losses, optimizers, train, averages;
  /// As --param-group: a regular expression, and the options or the optimizer of what it finds.
  std::vector<std::pair<std::string, std::string>> parameterGroups;
  std::vector<std::string> freeze;
  /// Libraries of custom operators (accc/custom_op.h).
  std::vector<std::string> customOps;
  /// By the dimension's name. Several values make a library for each of them, and for each
  /// combination with those of other dimensions.
  std::map<std::string, std::vector<int64_t>> dimensions;
  /// By the input's name.
  std::map<std::string, InputOption> inputs;
  /// What other open dimensions are taken as; 0: they are an error.
  int64_t openDimension = 0;

  /// What an exporter left out of the model (ImportOptions): dropouts without a training flag drop,
  /// batch normalisations in inference mode train, running variances are updated with the `biased`
  /// or `unbiased` variance (empty: as the program that wrote the file does).
  bool assumeDropoutTraining = false, assumeBatchNormTraining = false;
  std::string runningVariance;
  /// What an export lost of its module's parameters is no error where the model is trained.
  bool acceptDamagedExport = false;

  /// Of several targets, and several archs of one, the library takes the best that the machine can
  /// run (chooseTargets).
  std::vector<std::string> targets = {"cpu"}, archs;
  /// fp32; tf32: contractions of f32 may round their factors to TF32; bf16, fp16: what contractions
  /// read and give is stored in bf16 or f16 (RoundContractionsPass).
  std::string precision = "fp32";

  /// As --loss-scale; empty: dynamic with the precision fp16, else none.
  std::string lossScale;

  /// Attentions of 16-bit floats are calls of a library, where a target's has them: true, all that
  /// FormAttentionPass takes; false, none; by default those without a mask, or with a causal one.
  std::optional<bool> libraryAttention;

  /// Steps that train return the loss and no outputs of the model.
  bool lossOnly = false;

  /// Gradients of several batches can be added up before an update.
  bool accumulateGradients = false;

  /// Several processes train the model together, each on rows of its own: gradients are averaged.
  bool dataParallel = false;

  /// Batch norms take their statistics over the rows of all these processes.
  bool syncBatchNorm = false;

  /// Bytes that a step may take: state, inputs, outputs and scratch memory; 0: as many as it likes.
  int64_t memoryBudget = 0;

  /// embed, beside, none; empty: embed up to 16 MB, else beside.
  std::string weights;
  /// Files to write beside the library; empty: none.
  std::string header, report;
  /// A folder for the IR after every phase, as <number>-<phase>.mlir; empty: none.
  std::string dumpDir;
  /// The name of a phase (Phases.def); empty: all.
  std::string stopAfter;
};

} // namespace accc

#endif
