// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/Kernels.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace accc;

namespace {
/// Text that is equal for equal bodies: every op in generic form, without locations.
std::string fingerprint(Region &body, StringRef kind) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << kind << "\n";
  DenseMap<Value, unsigned> numbers;
  Block &block = body.front();
  for (BlockArgument argument : block.getArguments()) {
    numbers[argument] = static_cast<unsigned>(numbers.size());
    os << argument.getType() << ",";
  }
  for (Operation &op : block) {
    os << "\n" << op.getName() << "(";
    for (Value operand : op.getOperands())
      os << numbers.lookup(operand) << ",";
    os << ")" << op.getAttrDictionary() << ":";
    for (Value result : op.getResults()) {
      os << result.getType() << ",";
      numbers[result] = static_cast<unsigned>(numbers.size());
    }
  }
  return text;
}
} // namespace

exec::KernelOp KernelTable::insert(Region &body, StringRef kind, StringRef label, Location loc) {
  exec::KernelOp &known = byBody[fingerprint(body, kind)];
  if (known)
    return known;
  std::string name = label.str();
  for (char &c : name)
    if (!isalnum(static_cast<unsigned char>(c)))
      c = '_';
  unsigned number = names[name]++;
  if (number > 0)
    name += "." + std::to_string(number);
  OpBuilder b = OpBuilder::atBlockEnd(program.getBody());
  known = b.create<exec::KernelOp>(loc, name, kind, label);
  IRMapping mapping;
  body.cloneInto(&known.getBody(), mapping);
  return known;
}

exec::KernelOp KernelTable::get(prim::FusionOp fusion) {
  return insert(fusion.getBody(), fusion.getKind(), fusion.getName(), fusion.getLoc());
}

exec::KernelOp KernelTable::get(exec::KernelOp kernel) {
  return insert(kernel.getBody(), kernel.getKind(), kernel.getLabel(), kernel.getLoc());
}

namespace {
/// The extent that stands for any in the body of a kernel of kind `each`.
constexpr int64_t kAnyExtent = int64_t(1) << 30;

/// Rewrites the body of a fusion for flat tensors into `flat`; false if it is not elementwise.
bool flatten(prim::FusionOp fusion, Block &flat) {
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(fusion.getOutputs().front().getType()).getShape();
  if (fusion.getKind() != "loop" || shape.empty())
    return false;
  auto flatType = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return tensor.getRank() == 0 ? tensor : tensor.clone(ArrayRef<int64_t>{kAnyExtent});
  };
  int64_t elements = ReferenceArray::count(shape);
  auto fits = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return tensor.getRank() == 0 || tensor.getNumElements() == elements;
  };
  IRMapping mapping;
  Block &body = fusion.getBody().front();
  for (BlockArgument argument : body.getArguments()) {
    if (!fits(argument.getType()))
      return false;
    mapping.map(argument, flat.addArgument(flatType(argument.getType()), argument.getLoc()));
  }
  OpBuilder b(fusion.getContext());
  b.setInsertionPointToEnd(&flat);
  for (Operation &op : body) {
    if (isa<prim::YieldOp>(op)) {
      b.clone(op, mapping);
      continue;
    }
    Type type = op.getResult(0).getType();
    if (op.getNumResults() != 1 || !fits(type))
      return false;
    if (isa<prim::ReshapeOp>(op)) {
      if (op.getOperand(0).getType() != type &&
          cast<RankedTensorType>(op.getOperand(0).getType()).getRank() == 0)
        return false;
      mapping.map(op.getResult(0), mapping.lookup(op.getOperand(0)));
    } else if (auto constant = dyn_cast<prim::ConstantOp>(op)) {
      auto value = cast<DenseElementsAttr>(constant.getValue());
      mapping.map(op.getResult(0),
                  b.create<prim::ConstantOp>(op.getLoc(), flatType(type),
                                             value.resizeSplat(cast<ShapedType>(flatType(type)))));
    } else if (auto broadcast = dyn_cast<prim::BroadcastOp>(op)) {
      if (broadcast.getOperand().getType().getRank() != 0)
        return false;
      mapping.map(op.getResult(0),
                  b.create<prim::BroadcastOp>(op.getLoc(), flatType(type),
                                              mapping.lookup(broadcast.getOperand()),
                                              broadcast.getDimensions()));
    } else if (cast<Fusible>(op).getFusionClass() == FusionClass::Pointwise) {
      OperationState state(op.getLoc(), op.getName());
      for (Value operand : op.getOperands())
        state.addOperands(mapping.lookup(operand));
      state.addTypes(flatType(type));
      state.addAttributes(op.getAttrs());
      mapping.map(op.getResult(0), b.create(state)->getResult(0));
    } else {
      return false;
    }
  }
  return true;
}
} // namespace

exec::KernelOp KernelTable::getEach(prim::FusionOp fusion) {
  Region body;
  if (!flatten(fusion, body.emplaceBlock()))
    return {};
  return insert(body, "each", fusion.getName(), fusion.getLoc());
}

exec::KernelOp KernelTable::getCopy(RankedTensorType type, Location loc) {
  Region body;
  Block &block = body.emplaceBlock();
  auto flat = RankedTensorType::get({type.getNumElements()}, type.getElementType());
  Value argument = block.addArgument(flat, loc);
  OpBuilder b(type.getContext()); // the free region has none to give
  b.setInsertionPointToEnd(&block);
  b.create<prim::YieldOp>(loc, argument);
  return insert(body, "loop", "copy", loc);
}

exec::ConstantOp KernelTable::getConstant(ElementsAttr value, Location loc) {
  exec::ConstantOp &known = constants[value];
  if (!known) {
    OpBuilder b = OpBuilder::atBlockEnd(program.getBody());
    known = b.create<exec::ConstantOp>(loc, "c" + std::to_string(constants.size() - 1), value);
  }
  return known;
}
