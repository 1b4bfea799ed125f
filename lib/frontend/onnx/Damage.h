// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an export lost of a module, in one message.
#ifndef ACCC_FRONTEND_ONNX_DAMAGE_H
#define ACCC_FRONTEND_ONNX_DAMAGE_H

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace accc::onnx_import {

enum class Loss {
  FoldedBatchNorm, // into the convolution before it
  FrozenBatchNorm, // written in inference mode
  FoldedConvolution,
  Folded, // into a constant, with other values
  Merged, // or tied: the file does not tell
  Missing,
  DroppedStop,  // of gradients: detach()
  DroppedWrite, // into a buffer or parameter, by the forward pass
  DroppedBias,  // of zeros
  Drawn,        // random numbers, once
  Optimized,    // for inference, by a program of this name
};

/// Whose export is advised in place of the one that lost something.
enum class Exporter { TorchExport, TorchScript, TensorFlow, Other };

class Damage {
public:
  /// `name` is a module for batch norms and convolutions, of a stop what read it, else a parameter;
  /// counted once.
  void add(Loss loss, llvm::StringRef name) { lost[loss].insert(name.str()); }
  bool empty() const { return lost.empty(); }
  /// "2 batch norms folded into convolutions ('1', '5'); 1 parameter folded into a constant ('p')"
  std::string summary() const;
  /// The same as an error, with the export that loses nothing.
  std::string message(Exporter exporter) const;

private:
  std::map<Loss, llvm::SetVector<std::string, std::vector<std::string>, std::set<std::string>>>
      lost;
};

} // namespace accc::onnx_import

#endif
