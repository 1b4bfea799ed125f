// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a file tells of the module that it was exported from.
#ifndef ACCC_FRONTEND_ONNX_EVIDENCE_H
#define ACCC_FRONTEND_ONNX_EVIDENCE_H

#include "frontend/onnx/Damage.h"
#include "frontend/onnx/Proto.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

#include <optional>
#include <string>
#include <vector>

namespace accc::onnx_import {

using Metadata = llvm::StringMap<std::string>;

/// The strings or messages, as bytes, of a field of this number that the library here does not
/// know: it is older than many files.
std::vector<std::string> unknownFields(const google::protobuf::Message &message, int field);

/// The metadata_props of a message whose field of this number holds them: ONNX 1.16 gave them to
/// these messages.
Metadata metadataOf(const google::protobuf::Message &message, int field);
Metadata metadataOf(const onnx::ValueInfoProto &value);
Metadata metadataOf(const onnx::NodeProto &node);

/// The strings of a Python list of strings, as repr() writes it.
std::vector<std::string> parsePythonList(llvm::StringRef text);

/// What the module's state holds, in the order of torch.export's signature.
struct StateEntry {
  std::string name;
  bool isParameter = false;
  bool isPersistent = true;
  std::string placeholder; // its name in the calls of torch.export's graph: "p_fc_weight"
};

class Evidence {
public:
  explicit Evidence(const onnx::ModelProto &model);

  /// torch.export's signature is in the file, and nodes name the modules that they come from.
  bool isTorchExport() const { return !state.empty() && hasScopes; }
  /// The names of nodes are paths of modules, as the TorchScript exporter writes them.
  bool isTorchScript() const { return hasPaths; }
  /// Variables of TensorFlow are named after the ops that read them, as tf2onnx, and Keras by it,
  /// write them.
  bool isTensorFlow() const { return hasVariableReads; }
  /// Whose export is meant where this one lost something.
  Exporter exporter() const {
    return isTensorFlow()    ? Exporter::TensorFlow
           : isTorchScript() ? Exporter::TorchScript
           : ofPyTorch       ? Exporter::TorchExport
                             : Exporter::Other;
  }
  /// onnxscript's optimizer, which the exporter of torch.export runs by default, went over the
  /// graph: it makes initialisers of all constants, older versions of large ones.
  bool isOptimized() const {
    return isTorchExport() && (!hasConstants || (!hasFoldedFrom && hasFolded));
  }
  /// The optimizer noted what it folded initialisers from, which older versions do not.
  bool tellsFolded() const { return hasFoldedFrom; }

  const std::vector<StateEntry> &signature() const { return state; }
  /// What of the state the forward pass writes.
  const std::vector<std::string> &written() const { return writtenState; }
  /// The place of a parameter or buffer in the signature, or nothing.
  std::optional<size_t> find(llvm::StringRef name) const;
  bool isParameter(llvm::StringRef name) const;
  /// Whether the signature has a parameter, buffer or constant of this name.
  bool isOfModule(llvm::StringRef name) const { return named.contains(name); }
  /// The parameter or buffer that an argument of a call is, "%p_fc_weight", or "".
  std::string stateOf(llvm::StringRef argument) const;

  /// The module that a node of an export of torch.export computes a part of ("encoder.layer.0", ""
  /// for the outermost), and the call in it ("linear_3").
  struct Scope {
    std::string module, call;
  };
  static std::optional<Scope> scopeOf(const onnx::NodeProto &node);
  /// The module of a node by what its exporter wrote down, for people: "encoder.layer.0". Of a node
  /// of the outermost module the call in it, of a node without traces its name.
  static std::string placeOf(const onnx::NodeProto &node);
  /// Whether the node stands for no call of the module's, in a file whose others do.
  static bool isMadeByOptimizer(const onnx::NodeProto &node);
  /// The rewriting rule of onnxscript that made the node, or "".
  static std::string ruleOf(const onnx::NodeProto &node);
  /// Everything that the value of an initialiser was computed from, if it was.
  std::vector<std::string> foldedFrom(llvm::StringRef initializer) const;

private:
  std::vector<StateEntry> state;
  std::vector<std::string> writtenState;
  llvm::StringSet<> named; // in the signature
  llvm::StringMap<size_t> order, placeholders;
  llvm::StringMap<std::vector<std::string>> folded;
  bool hasScopes = false, hasPaths = false, hasConstants = false, hasFolded = false,
       hasFoldedFrom = false, hasVariableReads = false, ofPyTorch = false;
};

/// The parts of a node name of the TorchScript exporter before the last: "encoder", "layer.0" and
/// "fc" of "/encoder/layer.0/fc/MatMul".
llvm::SmallVector<llvm::StringRef> pathOf(const onnx::NodeProto &node);
/// The module of such a path. A member of a list that is itself a module's call follows the list's
/// name and repeats it: "layers/layers.0".
std::string moduleOf(llvm::ArrayRef<llvm::StringRef> path, bool joinsLists);
/// Whether two names differ at most in the numbers by which paths tell the calls of one module
/// apart: "fc_1.weight" is of the second call of `fc`.
bool isOneModule(llvm::StringRef a, llvm::StringRef b);

/// Whether the exporter makes an initialiser of every constant, so that the file does not tell them
/// from parameters. Others are not known to.
bool writesConstantsAsInitializers(const onnx::ModelProto &model);

/// Whether an optimizer for inference gave the value its name: onnxsim ("_v_12") or ONNX Runtime,
/// which says what it fused ("ConvBnFusion_W_fc.weight").
bool isOfOptimizer(llvm::StringRef name);
/// Whether jax2onnx names a result of jax.lax.stop_gradient so: "stop_out_1", and in a loop
/// "scan_loop_0/stop_out_1".
bool isNameOfStopGradient(llvm::StringRef name);
/// "encoder.layer.0" of "encoder.layer.0.weight", and "weight".
llvm::StringRef ownerOf(llvm::StringRef name);
llvm::StringRef leafOf(llvm::StringRef name);
/// Whether the name is one of the module's own or of a module inside it.
bool isWithin(llvm::StringRef name, llvm::StringRef module);

} // namespace accc::onnx_import

#endif
