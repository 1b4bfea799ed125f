// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lanes that read neighbours, but not one each: registers and a shuffle cost far less than a
// gather.
#include "codegen/element/BodyEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

// The last element between is masked out: it may lie behind the end of the buffer.
Value BodyEmitter::loadEverySecond(Value pointer, Type scalar, Value base) {
  int64_t width = index.width();
  auto wide = VectorType::get({2 * width}, scalar);
  SmallVector<bool> mask(2 * width, true);
  mask.back() = false;
  SmallVector<int64_t> even;
  for (int64_t i = 0; i < width; ++i)
    even.push_back(2 * i);
  Value both = b.create<LLVM::MaskedLoadOp>(
      location, wide, address(pointer, scalar, base),
      b.create<arith::ConstantOp>(
          location, DenseElementsAttr::get(VectorType::get({2 * width}, b.getI1Type()), mask)),
      ValueRange{b.create<arith::ConstantOp>(location, b.getZeroAttr(wide))},
      b.getI32IntegerAttr(static_cast<int32_t>(scalar.getIntOrFloatBitWidth() / 8)));
  return b.create<vector::ShuffleOp>(location, both, both, even);
}

/// Where each lane reads one of a few neighbours, and which is known: reads these once. `byItself`
/// loads lane by lane. Null where neighbours are not known or too many.
Value BodyEmitter::loadNeighbours(Value pointer, RankedTensorType type, AffineExpr offset,
                                  function_ref<Value()> byItself) {
  Type scalar = registerType(type.getElementType());
  if (machine.lanesAreThreads() || scalar.isInteger(1))
    return {};
  std::optional<SmallVector<int64_t>> apart = index.lanesApart(offset);
  if (!apart)
    return {};
  int64_t least = *llvm::min_element(*apart), count = *llvm::max_element(*apart) - least + 1;
  if (count > index.width())
    return {};
  if (recorder)
    recorder->wholeVectors = false;
  Value first = b.create<arith::AddIOp>(location, index.inFirst(offset), index.constant(least));
  for (int64_t &lane : *apart)
    lane -= least;
  auto read = [&]() -> Value {
    Value some =
        b.create<LLVM::LoadOp>(location, VectorType::get({count}, scalar),
                               address(pointer, scalar, first), scalar.getIntOrFloatBitWidth() / 8);
    return b.create<vector::ShuffleOp>(location, some, some, *apart);
  };
  if (!currentMask())
    return read();
  // Lanes that do not take part may be outside of the buffer.
  Value end = b.create<arith::AddIOp>(location, first, index.constant(count));
  Value isInside = b.create<arith::AndIOp>(
      location,
      b.create<arith::CmpIOp>(location, arith::CmpIPredicate::sge, first, index.constant(0)),
      b.create<arith::CmpIOp>(location, arith::CmpIPredicate::sle, end,
                              index.constant(type.getNumElements())));
  auto branch = b.create<scf::IfOp>(location, VectorType::get({index.width()}, scalar), isInside,
                                    /*withElseRegion=*/true);
  auto yield = [&](Block *block, function_ref<Value()> load) {
    Scope scope(*this);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(block);
    b.create<scf::YieldOp>(location, load());
  };
  yield(branch.thenBlock(), read);
  yield(branch.elseBlock(), byItself);
  return branch.getResult(0);
}
