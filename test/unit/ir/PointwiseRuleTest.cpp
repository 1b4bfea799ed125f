// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every pointwise op's element rule, compiled and run on scalars and on vectors, against the
// samples that the interpreter is held to as well.
#include "PointwiseRows.h"
#include "Program.h"

#include "ir/interfaces/Interfaces.h"
#include "ir/interfaces/ReferenceValues.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/TargetSelect.h"

#include <catch2/catch.hpp>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

/// Builds, for one sample, a function of pointers (operands, then the result) that loads all
/// elements, applies the rule and stores; `lanes` at a time.
class RuleFunction {
public:
  RuleFunction(ModuleOp module, StringRef name, Pointwise op, int64_t count, int64_t lanes)
      : builder(module.getBodyRegion()), loc(module.getLoc()), op(op), lanes(lanes) {
    builder.setInsertionPointToEnd(module.getBody());
    pointer = LLVM::LLVMPointerType::get(builder.getContext());
    SmallVector<Type> pointers(op->getNumOperands() + 1, pointer);
    auto function = builder.create<LLVM::LLVMFuncOp>(
        loc, name,
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), pointers));
    Block &block = *function.addEntryBlock(builder);
    builder.setInsertionPointToStart(&block);
    for (int64_t start = 0; start < count; start += lanes) {
      SmallVector<Value> operands;
      for (auto [i, operand] : llvm::enumerate(op->getOperands()))
        operands.push_back(load(block.getArgument(i), getElementTypeOrSelf(operand), start));
      store(op.emitScalar(builder, operands), block.getArguments().back(), start);
    }
    builder.create<LLVM::ReturnOp>(loc, ValueRange());
  }

private:
  Type lanesOf(Type element) const {
    return lanes == 1 ? element : VectorType::get(lanes, element);
  }
  /// The type of an element in memory: without a sign, booleans as bytes.
  Type stored(Type element) const {
    if (auto integer = dyn_cast<IntegerType>(element))
      return builder.getIntegerType(std::max(8u, integer.getWidth()));
    return element;
  }
  Value address(Value base, Type element, int64_t start) {
    return builder.create<LLVM::GEPOp>(loc, pointer, stored(element), base,
                                       LLVM::GEPArg(static_cast<int32_t>(start)));
  }
  Value load(Value base, Type element, int64_t start) {
    Value value = builder.create<LLVM::LoadOp>(loc, lanesOf(stored(element)),
                                               address(base, element, start), /*alignment=*/1);
    if (element.isInteger(1))
      value = builder.create<arith::TruncIOp>(loc, lanesOf(element), value);
    return value;
  }
  void store(Value value, Value base, int64_t start) {
    Type element = getElementTypeOrSelf(value.getType());
    CHECK(value.getType() == lanesOf(element));
    Value target = address(base, element, start);
    if (element.isInteger(1))
      value = builder.create<arith::ExtUIOp>(loc, lanesOf(builder.getI8Type()), value);
    builder.create<LLVM::StoreOp>(loc, value, target, /*alignment=*/1);
  }

  mutable OpBuilder builder;
  Location loc;
  Pointwise op;
  int64_t lanes;
  Type pointer;
};

std::unique_ptr<ExecutionEngine> compile(ModuleOp module) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  PassManager passes(module.getContext());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  passes.addPass(arith::createArithExpandOpsPass(expand));
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addNestedPass<LLVM::LLVMFuncOp>(createConvertMathToLLVMPass());
  passes.addPass(createConvertMathToLibmPass());
  passes.addPass(createConvertVectorToLLVMPass());
  passes.addPass(createArithToLLVMConversionPass());
  passes.addPass(createConvertFuncToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  REQUIRE(succeeded(passes.run(module)));
  ExecutionEngineOptions options;
  auto transformer = makeOptimizingTransformer(0, 0, nullptr);
  options.transformer = transformer;
  auto engine = ExecutionEngine::create(module, options);
  REQUIRE(bool(engine));
  return std::move(*engine);
}

/// Runs a compiled sample on its operands' bytes.
std::vector<double> run(ExecutionEngine &engine, StringRef name, const PointwiseRow &row,
                        Operation *op) {
  std::vector<std::vector<char>> buffers;
  for (auto [values, operand] : llvm::zip_equal(row.operands, op->getOperands()))
    buffers.push_back(toBytes(array(values), cast<RankedTensorType>(operand.getType())));
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  buffers.push_back(toBytes(ReferenceArray(type.getShape(), 1), type));
  SmallVector<void *> pointers;
  for (std::vector<char> &buffer : buffers)
    pointers.push_back(buffer.data());
  SmallVector<void *> packed;
  for (void *&each : pointers)
    packed.push_back(&each);
  bool ran = !engine.invokePacked(name, packed);
  REQUIRE(ran);
  return fromBytes(type, buffers.back()).values;
}

double toleranceOf(Type element) { return element.isF64() ? 1e-14 : 2e-6; }

} // namespace

TEST_CASE("element rules of pointwise ops compute the op, on scalars and on vectors") {
  context()
      .loadDialect<arith::ArithDialect, math::MathDialect, LLVM::LLVMDialect,
                   vector::VectorDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context()));
  std::vector<Program> programs;
  std::vector<Operation *> ops;
  for (const PointwiseRow &row : pointwiseRows()) {
    programs.emplace_back(row.text());
    ops.push_back(&programs.back().function().getBody().front().front());
    for (int64_t lanes : {int64_t(1), row.count()})
      RuleFunction(*module, llvm::formatv("row{0}x{1}", ops.size() - 1, lanes).str(),
                   cast<Pointwise>(ops.back()), row.count(), lanes);
  }
  auto engine = compile(*module);
  for (auto [i, row] : llvm::enumerate(pointwiseRows()))
    for (int64_t lanes : {int64_t(1), row.count()}) {
      INFO(row.text() << lanes << " lanes");
      std::string name = llvm::formatv("row{0}x{1}", i, lanes);
      CHECK(difference(run(*engine, name, row, ops[i]), row.expected,
                       toleranceOf(getElementTypeOrSelf(ops[i]->getResult(0)))) == "");
    }
}
