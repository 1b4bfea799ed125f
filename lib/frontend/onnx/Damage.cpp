// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/Damage.h"

#include "llvm/ADT/ArrayRef.h"

using namespace accc::onnx_import;

namespace {
struct Words {
  const char *one, *many;
};
} // namespace

static Words wordsFor(Loss loss) {
  switch (loss) {
  case Loss::FoldedBatchNorm:
    return {"batch norm folded into the layer before it",
            "batch norms folded into the layers before them"};
  case Loss::FrozenBatchNorm:
    return {"batch norm written in inference mode", "batch norms written in inference mode"};
  case Loss::FoldedConvolution:
    return {"convolution with another weight than its module's: a batch norm is folded into it",
            "convolutions with other weights than their modules': batch norms are folded into "
            "them"};
  case Loss::Folded:
    return {"parameter or buffer folded into a constant",
            "parameters or buffers folded into constants"};
  case Loss::Merged:
    return {"parameter with the values of another, which the module ties to it or not",
            "parameters with the values of others, which the module ties to them or not"};
  case Loss::Missing:
    return {"parameter or buffer that is not in the file, unused by the module or optimised away",
            "parameters or buffers that are not in the file, unused by the module or optimised "
            "away"};
  case Loss::DroppedStop:
    return {"place that reads the result of a detach() which the exporter's optimizer removed",
            "places that read the results of detach() which the exporter's optimizer removed"};
  case Loss::DroppedWrite:
    return {"buffer or parameter into which the module writes, and the file does not",
            "buffers or parameters into which the module writes, and the file does not"};
  case Loss::DroppedBias:
    return {"layer without a bias, which TensorFlow drops where it is zero",
            "layers without a bias, which TensorFlow drops where it is zero"};
  case Loss::Drawn:
    return {"layer whose random numbers were drawn when the model was exported",
            "layers whose random numbers were drawn when the model was exported"};
  case Loss::Optimized:
    return {"program optimized the file for inference, which merges parameters of equal value and "
            "drops those without effect",
            "programs optimized the file for inference, which merges parameters of equal value and "
            "drops those without effect"};
  }
  return {};
}

static std::string namesOf(llvm::ArrayRef<std::string> names) {
  constexpr size_t kMost = 4;
  std::string text;
  for (const std::string &name : names.take_front(kMost))
    text += (text.empty() ? "'" : ", '") + name + "'";
  return names.size() > kMost ? text + ", ..." : text;
}

std::string Damage::summary() const {
  std::string text;
  for (const auto &[loss, names] : lost) {
    Words words = wordsFor(loss);
    text += (text.empty() ? "" : "; ") + std::to_string(names.size()) + " " +
            (names.size() == 1 ? words.one : words.many) + " (" + namesOf(names.getArrayRef()) +
            ")";
  }
  return text;
}

std::string Damage::message(Exporter exporter) const {
  if (exporter == Exporter::TensorFlow && !lost.contains(Loss::Optimized))
    return "the export does not hold what is to be trained: " + summary() +
           ". Export the model as it is trained, with the rates of its dropout layers set to 0 and "
           "variables that differ (variable.assign_add(1e-4 * tf.random.normal(variable.shape)) "
           "for "
           "those that start from zeros or ones): tf2onnx.convert.from_function(tf.function(lambda "
           "x: model(x, training=True)), "
           "input_signature=...); --accept-damaged-export trains what the file holds";
  if (exporter == Exporter::Other || lost.contains(Loss::Optimized))
    return "the file does not hold what is to be trained: " + summary() +
           ". Compile it as it was before it was optimized for inference; "
           "--accept-damaged-export trains what the file holds";
  if (lost.contains(Loss::DroppedWrite)) // ONNX has no way to say so
    return "the export does not hold what is to be trained: " + summary() +
           ". Export again with accc_export.export(model, args, \"model.pt2\"); "
           "--accept-damaged-export trains what the file holds";
  bool isTorchScript = exporter == Exporter::TorchScript;
  bool batchNorms = lost.contains(Loss::FoldedBatchNorm) || lost.contains(Loss::FrozenBatchNorm);
  std::string call =
      isTorchScript
          ? "torch.onnx.export(model.train(), args, \"model.onnx\", dynamo=False, "
            "training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False)"
          : "torch.onnx.export(model.train(), args, \"model.onnx\", dynamo=True, optimize=False)";
  if (!isTorchScript && batchNorms)
    call += " and compile with --assume-batchnorm-training";
  std::string text = "the export does not hold what is to be trained: " + summary() +
                     ". Export again with accc_export.export(model, args, \"model.onnx\"), or " +
                     call;
  if (lost.contains(Loss::FrozenBatchNorm))
    text += "; --assume-batchnorm-training trains the batch norms that are in inference mode";
  return text + "; --accept-damaged-export trains what the file holds";
}
