// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parameters of nn.LSTM, nn.GRU and nn.RNN, out of what an exporter makes of them for ONNX.
#ifndef ACCC_FRONTEND_ONNX_RECOVERRECURRENT_H
#define ACCC_FRONTEND_ONNX_RECOVERRECURRENT_H

#include "frontend/onnx/ModelEditor.h"

#include <array>

namespace accc::onnx_import {

bool isRecurrent(const onnx::NodeProto &node);

/// The parameters of one layer, as nn.RNNBase names them; the second direction's end in "_reverse".
/// Weights of the inputs, of the state, biases of the inputs, of the state.
std::vector<std::array<std::string, 4>> recurrentNames(llvm::StringRef module, int layer,
                                                       int directions);

/// How many directions the node's weights have, or 0 where its inputs 1 to 3 are not initialisers
/// of the shapes that ONNX asks for.
int recurrentDirections(const onnx::NodeProto &node, const ModelEditor &editor);

/// Gives the node its module's parameters under these names, one entry a direction, through nodes
/// that order their gates as ONNX has them. The node has that many directions.
void recoverRecurrent(onnx::NodeProto &node, ModelEditor &editor,
                      llvm::ArrayRef<std::array<std::string, 4>> names);

} // namespace accc::onnx_import

#endif
