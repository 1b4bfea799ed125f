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
