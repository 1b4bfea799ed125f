// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/element/BodyEmitter.h"

#include "ir/prim/Combine.h"
#include "support/Fault.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

Type BodyEmitter::registerType(Type elementType) {
  if (auto integer = dyn_cast<IntegerType>(elementType))
    return IntegerType::get(elementType.getContext(), integer.getWidth());
  return elementType;
}

namespace {
/// The type of an element in memory: a boolean is one byte.
Type memoryType(Type elementType) {
  if (elementType.isInteger(1))
    return IntegerType::get(elementType.getContext(), 8);
  return BodyEmitter::registerType(elementType);
}

unsigned alignment(Type type) {
  unsigned bits = type.getIntOrFloatBitWidth();
  return bits / 8;
}
} // namespace

BodyEmitter::BodyEmitter(exec::KernelOp kernel, func::FuncOp function, const KernelTarget &target,
                         ErrorTable &errors, unsigned numDims)
    : b(function.getContext()), location(kernel.getLoc()), machine(target), errors(errors),
      index(b, kernel.getLoc(), numDims), body(kernel.getBody().front()), function(function) {
  memo.emplace_back();
  index.setShortDivisions(target.lanesAreThreads());
  b.setInsertionPointToStart(&function.getBody().front());
  int32_t next = 0;
  for (BlockArgument argument : body.getArguments())
    pointers[argument] = target.getBuffer(b, function, next++);
  for (Value result : body.getTerminator()->getOperands()) {
    outputs.push_back(target.getBuffer(b, function, next++));
    outputTypes.push_back(result.getType());
  }
  status = target.getBuffer(b, function, next);
}

std::pair<Value, Value> BodyEmitter::tasks(int64_t count) {
  return machine.getTasks(
      b, function, [&] { return status; }, [&] { return index.constant(count); });
}

void BodyEmitter::setBuffers(ArrayRef<Value> newPointers) {
  for (BlockArgument argument : body.getArguments())
    pointers[argument] = newPointers[argument.getArgNumber()];
  outputs.assign(newPointers.begin() + body.getNumArguments(), newPointers.end());
  ownBuffers = false;
}

RankedTensorType BodyEmitter::outputType(unsigned output) const {
  return cast<RankedTensorType>(outputTypes[output]);
}

BodyEmitter::Scope::Scope(BodyEmitter &emitter, Memory *memory) : emitter(emitter), memory(memory) {
  Memory before;
  if (memory)
    std::swap(before, *memory);
  emitter.memo.push_back(std::move(before.values));
  emitter.index.pushScope(std::move(before.indices));
}

BodyEmitter::Scope::~Scope() {
  Memory after{std::move(emitter.memo.back()), emitter.index.popScope()};
  emitter.memo.pop_back();
  if (memory)
    *memory = std::move(after);
}

Value BodyEmitter::toVector(Value value) {
  if (isa<VectorType>(value.getType()) || index.width() == 1)
    return value;
  return b.create<vector::SplatOp>(location, VectorType::get({index.width()}, value.getType()),
                                   value);
}

Value BodyEmitter::convertFloat(Value value, Type to) {
  return prim::convertFloat(b, location, value, to);
}

// ---- Elements ----

Value BodyEmitter::remember(Value tensor, ArrayRef<AffineExpr> position, TypedAttr outside,
                            function_ref<Value(ArrayRef<AffineExpr>)> compute) {
  SmallVector<AffineExpr> simplified;
  for (AffineExpr e : position)
    simplified.push_back(index.simplify(e));
  Key key{tensor, AffineMap::get(64, 64, simplified, b.getContext()), outside};
  for (auto &scope : llvm::reverse(memo))
    if (auto it = scope.find(key); it != scope.end())
      return it->second;
  Value result = compute(simplified);
  memo.back()[key] = result;
  return result;
}

Value BodyEmitter::element(Value tensor, ArrayRef<AffineExpr> position) {
  return remember(tensor, position, {},
                  [&](ArrayRef<AffineExpr> at) { return compute(tensor, at); });
}

Value BodyEmitter::elementOr(Value tensor, ArrayRef<AffineExpr> position, TypedAttr outside) {
  return remember(tensor, position, outside, [&](ArrayRef<AffineExpr> at) {
    SmallVector<IndexRange> ranges;
    for (auto [expression, extent] :
         llvm::zip_equal(at, cast<RankedTensorType>(tensor.getType()).getShape()))
      ranges.push_back({expression, 0, extent});
    if (Value value = elementOfThread(tensor, at, ranges, outside))
      return value;
    return select(ranges, [&] { return element(tensor, at); }, [&] { return constant(outside); });
  });
}

/// A thread reads what lies in memory at the nearest index inside of the tensor and decides
/// afterwards whether that counts, so that its reads need not wait for conditions. Null where the
/// lanes' indices differ, or nothing is inside.
Value BodyEmitter::elementOfThread(Value tensor, ArrayRef<AffineExpr> position,
                                   ArrayRef<IndexRange> ranges, TypedAttr outside) {
  if (!machine.lanesAreThreads() || !pointers.contains(tensor) ||
      cast<RankedTensorType>(tensor.getType()).getNumElements() == 0)
    return {};
  SmallVector<AffineExpr> nearest(position);
  Value isInside;
  for (auto [at, range] : llvm::zip_equal(nearest, ranges)) {
    auto bounds = index.range(range.expression);
    if (bounds && (bounds->second < range.low || bounds->first >= range.high))
      return constant(outside);
    Value condition = index.inRange(range.expression, range.low, range.high);
    if (!condition)
      continue;
    LaneIndex lane = index.evaluate(range.expression);
    if (!lane.isUniform())
      return {};
    Value value = lane.base;
    value = b.create<arith::MaxSIOp>(location, value, index.constant(range.low));
    value = b.create<arith::MinSIOp>(location, value, index.constant(range.high - 1));
    at = index.addSymbol(value, range.high);
    isInside = isInside ? Value(b.create<arith::AndIOp>(location, isInside, condition)) : condition;
  }
  Value value = element(tensor, nearest);
  if (!isInside)
    return value;
  Value other = constant(outside);
  if (isa<VectorType>(value.getType()))
    other = toVector(other);
  return b.create<arith::SelectOp>(location, isInside, value, other);
}

Value BodyEmitter::apply(ArrayRef<Value> elements,
                         function_ref<Value(OpBuilder &, ValueRange)> rule) {
  SmallVector<Value> operands(elements);
  if (llvm::any_of(operands, [](Value value) { return isa<VectorType>(value.getType()); }))
    for (Value &operand : operands)
      operand = toVector(operand);
  return rule(b, operands);
}

Value BodyEmitter::compute(Value tensor, ArrayRef<AffineExpr> position) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (auto it = bound.find(tensor); it != bound.end()) {
    AffineExpr offset = linearise(type.getShape(), position);
    for (const Bound &each : it->second)
      if (offset == each.offset)
        return each.value;
  }
  if (auto it = pointers.find(tensor); it != pointers.end()) {
    if (recorder)
      recorder->reads.insert({tensor, linearise(type.getShape(), position)});
    return load(it->second, type, position);
  }
  Operation *op = tensor.getDefiningOp();
  switch (cast<Fusible>(op).getFusionClass()) {
  case FusionClass::Pointwise: {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(element(operand, position));
    return apply(operands, [&](OpBuilder &builder, ValueRange elements) {
      return cast<Pointwise>(op).emitScalar(builder, elements);
    });
  }
  case FusionClass::View:
    if (auto concatenation = dyn_cast<prim::ConcatenateOp>(op))
      if (Value picked = pick(concatenation, position))
        return picked;
    if (auto bits = dyn_cast<prim::RandomBitsOp>(op))
      return randomBits(bits, position);
    return cast<View>(op).emitElement(*this, position);
  case FusionClass::Window:
    return cast<Windowed>(op).emitElement(*this, position);
  default:
    // Fusion formed a kernel that its emitter does not handle; keep going with a value of the right
    // type so that the diagnostic, not a crash, ends the compile.
    emitBug(op->getLoc())
        << "this op's value is read inside a kernel at an index other than its own";
    return constant(cast<TypedAttr>(b.getZeroAttr(registerType(type.getElementType()))));
  }
}

Value BodyEmitter::constant(TypedAttr value) {
  Type type = registerType(value.getType());
  if (auto integer = dyn_cast<IntegerAttr>(value))
    value = IntegerAttr::get(type, integer.getValue());
  return b.create<arith::ConstantOp>(location, value);
}

Value BodyEmitter::indexValue(AffineExpr expression, Type elementType) {
  expression = index.simplify(expression);
  Value value = index.materialise(index.evaluate(expression));
  Type scalar = registerType(elementType), target = scalar;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    target = vector.clone(scalar);
  if (isa<FloatType>(scalar))
    return b.create<arith::SIToFPOp>(location, target, value);
  if (scalar.getIntOrFloatBitWidth() < 64)
    return b.create<arith::TruncIOp>(location, target, value);
  return value;
}

void BodyEmitter::reportWhere(Value condition, StringRef message) {
  Value code = index.constant(errors.statusFor(message));
  auto report = b.create<scf::IfOp>(location, condition, /*withElseRegion=*/false);
  OpBuilder inner = report.getThenBodyBuilder();
  machine.report(inner, location, status, code);
}

AffineExpr BodyEmitter::symbol(Value integer, int64_t bound, StringRef message) {
  Type type = integer.getType();
  auto vector = dyn_cast<VectorType>(type);
  if (recorder && vector)
    recorder->wholeVectors = false;
  Type scalar = vector ? vector.getElementType() : type;
  if (scalar.getIntOrFloatBitWidth() < 64) {
    Type wide = vector ? Type(vector.clone(b.getI64Type())) : b.getI64Type();
    integer = b.create<arith::ExtSIOp>(location, wide, integer);
  }
  auto splat = [&](int64_t n) -> Value {
    Value c = index.constant(n);
    return vector ? Value(b.create<vector::SplatOp>(location, integer.getType(), c)) : c;
  };
  // Unsigned comparison finds negative indices too.
  Value good = b.create<arith::CmpIOp>(location, arith::CmpIPredicate::ult, integer, splat(bound));
  Value bad = b.create<arith::XOrIOp>(
      location, good,
      b.create<arith::ConstantOp>(
          location, good.getType(),
          vector ? TypedAttr(DenseElementsAttr::get(cast<VectorType>(good.getType()), true))
                 : TypedAttr(b.getBoolAttr(true))));
  Value anyBad = bad;
  if (vector) {
    if (Value mask = currentMask())
      bad = b.create<arith::AndIOp>(location, bad, mask);
    anyBad = b.create<vector::ReductionOp>(location, vector::CombiningKind::OR, bad);
  }
  reportWhere(anyBad, (message + ": indices are 0 to " + Twine(bound - 1)).str());
  // Whatever it was, memory inside the tensor is read instead.
  return index.addSymbol(b.create<arith::SelectOp>(location, good, integer, splat(0)), bound);
}

Value BodyEmitter::currentMask() { return masks.empty() ? tailMask : masks.back(); }

void BodyEmitter::pushMask(Value condition) {
  Value outer = currentMask();
  masks.push_back(outer ? Value(b.create<arith::AndIOp>(location, outer, condition)) : condition);
}

Value BodyEmitter::select(ArrayRef<IndexRange> ranges, function_ref<Value()> inside,
                          function_ref<Value()> outside) {
  Value condition;
  for (const IndexRange &range : ranges) {
    auto bounds = index.range(index.simplify(range.expression));
    if (bounds && (bounds->second < range.low || bounds->first >= range.high))
      return outside();
    Value c = index.inRange(range.expression, range.low, range.high);
    if (!c)
      continue;
    if (condition && isa<VectorType>(c.getType()) != isa<VectorType>(condition.getType())) {
      c = toVector(c);
      condition = toVector(condition);
    }
    condition = condition ? Value(b.create<arith::AndIOp>(location, condition, c)) : c;
  }
  if (!condition)
    return inside();
  if (isa<VectorType>(condition.getType())) {
    if (recorder)
      recorder->wholeVectors = false;
    Value a, c;
    {
      Scope scope(*this);
      pushMask(condition);
      a = toVector(inside());
      masks.pop_back();
    }
    {
      Scope scope(*this);
      Value flipped = b.create<arith::XOrIOp>(
          location, condition,
          b.create<arith::ConstantOp>(
              location, DenseElementsAttr::get(cast<VectorType>(condition.getType()), true)));
      pushMask(flipped);
      c = toVector(outside());
      masks.pop_back();
    }
    return b.create<arith::SelectOp>(location, condition, a, c);
  }
  // The same for all lanes: a branch.
  OpBuilder::InsertPoint before = b.saveInsertionPoint();
  auto emitBranch = [&](Block *block, function_ref<Value()> body) {
    Scope scope(*this);
    b.setInsertionPointToStart(block);
    return toVector(body());
  };
  // The type of the result is known only once a branch has been emitted: build the regions first.
  auto thenBlock = std::make_unique<Block>(), elseBlock = std::make_unique<Block>();
  Value a = emitBranch(thenBlock.get(), inside), c = emitBranch(elseBlock.get(), outside);
  b.restoreInsertionPoint(before);
  auto branch = b.create<scf::IfOp>(location, TypeRange{a.getType()}, condition, false, false);
  branch.getThenRegion().push_back(thenBlock.release());
  branch.getElseRegion().push_back(elseBlock.release());
  OpBuilder::atBlockEnd(&branch.getThenRegion().front()).create<scf::YieldOp>(location, a);
  OpBuilder::atBlockEnd(&branch.getElseRegion().front()).create<scf::YieldOp>(location, c);
  return branch.getResult(0);
}

void BodyEmitter::bind(Value tensor, ArrayRef<AffineExpr> position, Value value) {
  AffineExpr offset = linearise(cast<RankedTensorType>(tensor.getType()).getShape(), position);
  SmallVector<Bound, 1> &known = bound[tensor];
  llvm::erase_if(known, [&](const Bound &each) { return each.offset == offset; });
  known.push_back({offset, value});
}

// ---- Memory ----

AffineExpr BodyEmitter::linearise(ArrayRef<int64_t> shape, ArrayRef<AffineExpr> position) {
  AffineExpr offset = getAffineConstantExpr(0, b.getContext());
  int64_t stride = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    offset = offset + position[d] * stride;
    stride *= shape[d];
  }
  return index.simplify(offset);
}

Value BodyEmitter::address(Value pointer, Type memoryType, Value offset) {
  auto pointerType = LLVM::LLVMPointerType::get(b.getContext());
  Type resultType = pointerType;
  if (auto vector = dyn_cast<VectorType>(offset.getType()))
    resultType =
        LLVM::getFixedVectorType(pointerType, static_cast<unsigned>(vector.getNumElements()));
  return b.create<LLVM::GEPOp>(location, resultType, memoryType, pointer,
                               ArrayRef<LLVM::GEPArg>{offset});
}

Value BodyEmitter::load(Value pointer, RankedTensorType type, ArrayRef<AffineExpr> position) {
  AffineExpr offset = linearise(type.getShape(), position);
  LaneIndex at = index.evaluate(offset);
  auto byItself = [&] { return load(pointer, type.getElementType(), at, startsAligned(offset)); };
  if (at.lanes)
    if (Value value = loadNeighbours(pointer, type, offset, byItself))
      return value;
  return byItself();
}

bool BodyEmitter::startsAligned(AffineExpr offset) const {
  return index.width() > 1 && index.startsAligned(offset);
}

void BodyEmitter::recordAccess(Type scalar, const LaneIndex &at, bool aligned) {
  if (!recorder || at.isUniform())
    return;
  recorder->wholeVectors &= !at.lanes && at.stride == 1 && aligned;
  recorder->widestBytes = std::max<int64_t>(recorder->widestBytes, alignment(scalar));
  recorder->narrowestBytes = std::min<int64_t>(recorder->narrowestBytes, alignment(scalar));
}

/// Of neighbours in memory. A thread's access of several bytes must be aligned to all of them;
/// buffers are (ACCC_ALIGNMENT). A CPU's vectors need not be.
unsigned BodyEmitter::vectorAlignment(Type scalar, bool aligned) const {
  bool whole = aligned && machine.lanesAreThreads();
  return alignment(scalar) * static_cast<unsigned>(whole ? index.width() : 1);
}

Value BodyEmitter::load(Value pointer, Type elementType, const LaneIndex &at, bool aligned) {
  Type scalar = memoryType(elementType);
  unsigned align = alignment(scalar);
  recordAccess(scalar, at, aligned);
  Value result;
  if (at.isUniform() && masks.empty()) {
    result = b.create<LLVM::LoadOp>(location, scalar, address(pointer, scalar, at.base), align);
  } else if (index.width() == 1) {
    result = b.create<LLVM::LoadOp>(location, scalar, address(pointer, scalar, at.base), align);
  } else {
    auto vectorType = VectorType::get({index.width()}, scalar);
    Value mask = currentMask();
    if (!at.lanes && at.stride == 1) {
      Value from = address(pointer, scalar, at.base);
      if (!mask)
        result =
            b.create<LLVM::LoadOp>(location, vectorType, from, vectorAlignment(scalar, aligned));
      else
        result = b.create<LLVM::MaskedLoadOp>(
            location, vectorType, from, mask,
            ValueRange{b.create<arith::ConstantOp>(location, b.getZeroAttr(vectorType))},
            b.getI32IntegerAttr(static_cast<int32_t>(align)));
    } else if (!at.lanes && at.stride == 2 && !mask) {
      result = loadEverySecond(pointer, scalar, at.base);
    } else {
      Value offsets = index.materialise(at);
      if (!isa<VectorType>(offsets.getType()))
        offsets = b.create<vector::SplatOp>(
            location, VectorType::get({index.width()}, b.getI64Type()), offsets);
      if (!mask)
        mask = b.create<arith::ConstantOp>(
            location,
            DenseElementsAttr::get(VectorType::get({index.width()}, b.getI1Type()), true));
      result = b.create<LLVM::masked_gather>(
          location, vectorType, address(pointer, scalar, offsets), mask,
          ValueRange{b.create<arith::ConstantOp>(location, b.getZeroAttr(vectorType))},
          b.getI32IntegerAttr(static_cast<int32_t>(align)));
    }
  }
  if (!elementType.isInteger(1))
    return result;
  Value zero = b.create<arith::ConstantOp>(location, b.getZeroAttr(result.getType()));
  return b.create<arith::CmpIOp>(location, arith::CmpIPredicate::ne, result, zero);
}

Value BodyEmitter::loadInput(Value input, AffineExpr offset) {
  return load(pointers.lookup(input), cast<RankedTensorType>(input.getType()).getElementType(),
              index.evaluate(offset), /*aligned=*/false);
}

Value BodyEmitter::loadOutput(unsigned output, ArrayRef<AffineExpr> position) {
  return load(outputs[output], outputType(output), position);
}

void BodyEmitter::store(unsigned output, ArrayRef<AffineExpr> position, Value value) {
  RankedTensorType type = outputType(output);
  AffineExpr offset = linearise(type.getShape(), position);
  Type scalar = memoryType(type.getElementType());
  LaneIndex at = index.evaluate(offset);
  if (at.isUniform() && index.width() > 1 && isa<VectorType>(value.getType()))
    value = b.create<vector::ExtractOp>(location, value, ArrayRef<int64_t>{0});
  if (!at.isUniform())
    value = toVector(value);
  if (type.getElementType().isInteger(1)) {
    Type wide = scalar;
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      wide = vector.clone(scalar);
    value = b.create<arith::ExtUIOp>(location, wide, value);
  }
  Value pointer = outputs[output];
  unsigned align = alignment(scalar);
  bool aligned = startsAligned(offset);
  recordAccess(scalar, at, aligned);
  Value mask = currentMask();
  if (at.isUniform()) {
    b.create<LLVM::StoreOp>(location, value, address(pointer, scalar, at.base), align);
  } else if (!at.lanes && at.stride == 1) {
    Value to = address(pointer, scalar, at.base);
    if (mask)
      b.create<LLVM::MaskedStoreOp>(location, value, to, mask, align);
    else
      b.create<LLVM::StoreOp>(location, value, to, vectorAlignment(scalar, aligned));
  } else {
    Value offsets = index.materialise(at);
    if (!mask)
      mask = b.create<arith::ConstantOp>(
          location, DenseElementsAttr::get(VectorType::get({index.width()}, b.getI1Type()), true));
    b.create<LLVM::masked_scatter>(location, value, address(pointer, scalar, offsets), mask,
                                   b.getI32IntegerAttr(static_cast<int32_t>(align)));
  }
}
