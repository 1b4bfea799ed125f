// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/RecoverRecurrent.h"

#include <cstring>

using namespace accc::onnx_import;

namespace {
enum Input { Weights = 1, StateWeights = 2, Biases = 3 };

/// For each gate in the order of ONNX, its place in PyTorch's: LSTM is i, o, f, c there and
/// i, f, c, o here; GRU is z, r, h there and r, z, h here.
llvm::ArrayRef<int> gateOrder(llvm::StringRef opType) {
  static constexpr int lstm[] = {0, 3, 1, 2}, gru[] = {1, 0, 2}, rnn[] = {0};
  if (opType == "LSTM")
    return lstm;
  if (opType == "GRU")
    return gru;
  return rnn;
}

class Layer {
public:
  Layer(onnx::NodeProto &node, ModelEditor &editor)
      : node(node), editor(editor), gates(gateOrder(node.op_type())) {}

  void recoverWeights(Input input, llvm::ArrayRef<std::string> names) {
    const onnx::TensorProto &packed = *editor.find(node.input(input));
    std::vector<std::string> directions;
    for (const auto &[d, name] : llvm::enumerate(names)) {
      int64_t rows = packed.dims(1), columns = packed.dims(2);
      addParameter(name, packed, static_cast<int64_t>(d) * rows, {rows, columns});
      directions.push_back(editor.reshape(inOnnxOrder(name, rows), {1, rows, columns}));
    }
    node.set_input(input, editor.concatenate(directions, 0));
  }

  void recoverBiases(llvm::ArrayRef<std::array<std::string, 4>> names) {
    const onnx::TensorProto &packed = *editor.find(node.input(Biases));
    std::vector<std::string> directions;
    for (const auto &[d, each] : llvm::enumerate(names)) {
      int64_t rows = packed.dims(1) / 2;
      std::vector<std::string> halves;
      for (int64_t half : {0, 1}) {
        const std::string &name = each[2 + half];
        addParameter(name, packed, (2 * static_cast<int64_t>(d) + half) * rows, {rows});
        halves.push_back(inOnnxOrder(name, rows));
      }
      directions.push_back(editor.reshape(editor.concatenate(halves, 0), {1, 2 * rows}));
    }
    node.set_input(Biases, editor.concatenate(directions, 0));
  }

private:
  /// The parameter of these extents whose rows, gate by gate, stand from this row of `packed` on.
  void addParameter(llvm::StringRef name, const onnx::TensorProto &packed, int64_t row,
                    llvm::ArrayRef<int64_t> dims) {
    llvm::ArrayRef<char> from = editor.bytesOf(packed);
    size_t rowSize = (dims.size() == 2 ? dims[1] : 1) * editor.elementSize(packed);
    size_t gateSize = dims[0] / gates.size() * rowSize;
    std::string to(dims[0] * rowSize, '\0');
    for (const auto &[place, gate] : llvm::enumerate(gates))
      std::memcpy(to.data() + gate * gateSize, from.data() + row * rowSize + place * gateSize,
                  gateSize);
    editor.addInitializer(name, packed, dims, std::move(to));
  }

  std::string inOnnxOrder(llvm::StringRef name, int64_t rows) {
    int64_t each = rows / static_cast<int64_t>(gates.size());
    std::vector<std::string> parts;
    for (int gate : gates)
      parts.push_back(gates.size() == 1 ? name.str()
                                        : editor.rows(name, gate * each, (gate + 1) * each));
    return editor.concatenate(parts, 0);
  }

  onnx::NodeProto &node;
  ModelEditor &editor;
  llvm::ArrayRef<int> gates;
};
} // namespace

bool accc::onnx_import::isRecurrent(const onnx::NodeProto &node) {
  return node.op_type() == "LSTM" || node.op_type() == "GRU" || node.op_type() == "RNN";
}

std::vector<std::array<std::string, 4>>
accc::onnx_import::recurrentNames(llvm::StringRef module, int layer, int directions) {
  static constexpr const char *kinds[] = {"weight_ih_l", "weight_hh_l", "bias_ih_l", "bias_hh_l"};
  std::vector<std::array<std::string, 4>> names;
  for (int d = 0; d < directions; ++d) {
    auto &direction = names.emplace_back();
    for (const auto &[i, kind] : llvm::enumerate(kinds))
      direction[i] = module.str() + (module.empty() ? "" : ".") + kind + std::to_string(layer) +
                     (d ? "_reverse" : "");
  }
  return names;
}

int accc::onnx_import::recurrentDirections(const onnx::NodeProto &node, const ModelEditor &editor) {
  if (node.input_size() <= StateWeights)
    return 0;
  auto gates = static_cast<int64_t>(gateOrder(node.op_type()).size());
  const onnx::TensorProto *w = editor.findFloat(node.input(Weights)),
                          *r = editor.findFloat(node.input(StateWeights)), *b = nullptr;
  if (!w || !r || w->dims_size() != 3 || r->dims_size() != 3 || w->dims(0) != r->dims(0) ||
      w->dims(1) != r->dims(1) || w->dims(1) % gates != 0 || w->dims(0) < 1 || w->dims(0) > 2)
    return 0;
  if (node.input_size() > Biases && !node.input(Biases).empty()) {
    b = editor.findFloat(node.input(Biases));
    if (!b || b->dims_size() != 2 || b->dims(0) != w->dims(0) || b->dims(1) != 2 * w->dims(1))
      return 0;
  }
  return static_cast<int>(w->dims(0));
}

void accc::onnx_import::recoverRecurrent(onnx::NodeProto &node, ModelEditor &editor,
                                         llvm::ArrayRef<std::array<std::string, 4>> names) {
  Layer layer(node, editor);
  for (Input input : {Weights, StateWeights}) {
    std::vector<std::string> each;
    for (const auto &direction : names)
      each.push_back(direction[input - 1]);
    layer.recoverWeights(input, each);
  }
  if (node.input_size() > Biases && !node.input(Biases).empty())
    layer.recoverBiases(names);
}
