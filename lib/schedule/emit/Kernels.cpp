// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "schedule/emit/Kernels.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace accc;

exec::KernelOp KernelTable::insert(Region &body, prim::KernelKind kind, prim::KernelSpecAttr spec,
                                   StringRef label, Location loc) {
  exec::KernelOp &known =
      byBody[(prim::stringifyKernelKind(kind) + "\n" + prim::describeBody(body.front())).str()];
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
  known = b.create<exec::KernelOp>(loc, name, kind, label, spec);
  IRMapping mapping;
  body.cloneInto(&known.getBody(), mapping);
  return known;
}

exec::KernelOp KernelTable::get(prim::FusionOp fusion) {
  return insert(fusion.getBody(), fusion.getKind(), fusion.getSpecAttr(), fusion.getName(),
                fusion.getLoc());
}

exec::KernelOp KernelTable::get(exec::KernelOp kernel) {
  return insert(kernel.getBody(), kernel.getKind(), kernel.getSpecAttr(), kernel.getLabel(),
                kernel.getLoc());
}

exec::KernelOp KernelTable::get(prim::FusionEachOp fusion) {
  return insert(fusion.getBody(), prim::KernelKind::each, /*spec=*/{}, fusion.getName(),
                fusion.getLoc());
}

/// Gives a tensor of this type as it is.
static void buildCopy(Region &body, RankedTensorType type, Location loc) {
  Block &block = body.emplaceBlock();
  Value argument = block.addArgument(type, loc);
  OpBuilder b(type.getContext()); // the free region has none to give
  b.setInsertionPointToEnd(&block);
  b.create<prim::YieldOp>(loc, argument);
}

exec::KernelOp KernelTable::getCopy(RankedTensorType type, Location loc) {
  auto flat = RankedTensorType::get({type.getNumElements()}, type.getElementType());
  Region body;
  buildCopy(body, flat, loc);
  Builder b(type.getContext());
  auto none = b.getDenseI64ArrayAttr({});
  auto spec = prim::KernelSpecAttr::get(b.getContext(), b.getDenseI64ArrayAttr(flat.getShape()),
                                        /*reduced=*/none, /*levels=*/none,
                                        /*depths=*/b.getDenseI64ArrayAttr({0}),
                                        /*in_place=*/b.getDenseI64ArrayAttr({0}),
                                        b.getMultiDimIdentityMap(1));
  return insert(body, prim::KernelKind::loop, spec, "copy", loc);
}

exec::KernelOp KernelTable::getCopyEach(Type elementType, Location loc) {
  Region body;
  buildCopy(body, RankedTensorType::get({prim::FusionEachOp::kAnyExtent}, elementType), loc);
  return insert(body, prim::KernelKind::each, /*spec=*/{}, "copy", loc);
}

exec::ConstantOp KernelTable::getConstant(ElementsAttr value, Location loc) {
  exec::ConstantOp &known = constants[value];
  if (!known) {
    OpBuilder b = OpBuilder::atBlockEnd(program.getBody());
    known = b.create<exec::ConstantOp>(loc, "c" + std::to_string(constants.size() - 1), value);
  }
  return known;
}
