// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which op becomes which formula, and the calls for f64.

#include "codegen/math/Math.h"
#include "codegen/math/MathFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;

namespace accc::codegen {

/// The element type where `type` is a float scalar or a vector of known length, else null.
static FloatType elementOf(Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.isScalable() ? FloatType() : dyn_cast<FloatType>(vector.getElementType());
  return dyn_cast<FloatType>(type);
}

namespace {
template <typename Op, auto formula> struct ExpandFunction : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    FloatType element = elementOf(op.getType());
    if (!element || element.getWidth() > 32)
      return rewriter.notifyMatchFailure(op, "not f32, f16 or bf16, scalar or vector");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    auto operand = [&](unsigned i) {
      return convert(Expr(builder, op->getOperand(i)), builder.getF32Type());
    };
    Expr result = [&] {
      if constexpr (std::is_invocable_v<decltype(formula), Expr, Expr>)
        return formula(operand(0), operand(1));
      else
        return formula(operand(0));
    }();
    rewriter.replaceOp(op, convert(result, element).getValue());
    return success();
  }
};

/// On floats of `bits` bits, `function(operands...)` for each element.
struct CallLibrary : RewritePattern {
  CallLibrary(MLIRContext *context, StringRef op, const std::string &function, unsigned bits = 64)
      : RewritePattern(op, /*benefit=*/2, context), function(function), bits(bits) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    Type type = op->getResult(0).getType();
    FloatType element = elementOf(type);
    if (!element || element.getWidth() != bits)
      return rewriter.notifyMatchFailure(op, "another element type");
    func::FuncOp callee = declare(op, element, rewriter);
    auto call = [&](ValueRange operands) {
      return rewriter.create<func::CallOp>(op->getLoc(), callee, operands).getResult(0);
    };
    auto vector = dyn_cast<VectorType>(type);
    if (!vector) {
      rewriter.replaceOp(op, call(op->getOperands()));
      return success();
    }
    Value result = rewriter.create<arith::ConstantOp>(op->getLoc(), rewriter.getZeroAttr(vector));
    SmallVector<int64_t> strides = computeStrides(vector.getShape());
    for (int64_t i = 0; i < vector.getNumElements(); ++i) {
      SmallVector<int64_t> at = delinearize(i, strides);
      SmallVector<Value> operands;
      for (Value operand : op->getOperands())
        operands.push_back(rewriter.create<vector::ExtractOp>(op->getLoc(), operand, at));
      result = rewriter.create<vector::InsertOp>(op->getLoc(), call(operands), result, at);
    }
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  func::FuncOp declare(Operation *op, FloatType element, PatternRewriter &rewriter) const {
    Operation *table = SymbolTable::getNearestSymbolTable(op);
    if (auto known = SymbolTable::lookupSymbolIn(table, function))
      return cast<func::FuncOp>(known);
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(&table->getRegion(0).front());
    SmallVector<Type> operands(op->getNumOperands(), element);
    auto callee = rewriter.create<func::FuncOp>(
        op->getLoc(), function, rewriter.getFunctionType(operands, TypeRange(element)));
    callee.setPrivate();
    return callee;
  }

  std::string function;
  unsigned bits;
};

/// f64: the reciprocal of the native root.
struct ExpandRsqrtF64 : OpRewritePattern<math::RsqrtOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::RsqrtOp op, PatternRewriter &rewriter) const override {
    FloatType element = elementOf(op.getType());
    if (!element || !element.isF64())
      return rewriter.notifyMatchFailure(op, "not f64, scalar or vector");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, elementary::rsqrt(Expr(builder, op.getOperand())).getValue());
    return success();
  }
};

/// An operation on f32 that would be expanded to several.
template <typename From, typename To> struct UseInstruction : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;

  LogicalResult matchAndRewrite(From op, PatternRewriter &rewriter) const override {
    FloatType element = elementOf(op.getType());
    if (!element || !element.isF32())
      return rewriter.notifyMatchFailure(op, "not of f32");
    rewriter.replaceOpWithNewOp<To>(op, op.getType(), op->getOperands());
    return success();
  }
};

/// f32 to bf16, of vectors two at a time. There is no intrinsic that gives integers, as which bf16
/// is moved.
struct UseRounding : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op, PatternRewriter &rewriter) const override {
    FloatType from = elementOf(op.getIn().getType()), to = elementOf(op.getType());
    auto vector = dyn_cast<VectorType>(op.getType());
    if (!from || !from.isF32() || !to || !to.isBF16() || (vector && vector.getRank() != 1))
      return rewriter.notifyMatchFailure(op, "not f32 to bf16, scalar or vector");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (!vector) {
      rewriter.replaceOp(op, round(b, op.getIn(), to));
      return success();
    }
    Value result = b.create<arith::ConstantOp>(b.getZeroAttr(vector));
    int64_t count = vector.getNumElements();
    for (int64_t i = 0; i + 1 < count; i += 2) {
      Value low = b.create<vector::ExtractOp>(op.getIn(), i),
            high = b.create<vector::ExtractOp>(op.getIn(), i + 1);
      Value word =
          instruction(b, b.getI32Type(), "cvt.rn.bf16x2.f32 $0, $1, $2;", "=r,f,f", {high, low});
      Value pair = b.create<vector::BitCastOp>(
          VectorType::get({2}, to),
          b.create<vector::SplatOp>(VectorType::get({1}, word.getType()), word));
      result = b.create<vector::InsertStridedSliceOp>(pair, result, i, 1);
    }
    if (count % 2 != 0) {
      Value last = b.create<vector::ExtractOp>(op.getIn(), count - 1);
      result = b.create<vector::InsertOp>(round(b, last, to), result, count - 1);
    }
    rewriter.replaceOp(op, result);
    return success();
  }

private:
  static Value instruction(ImplicitLocOpBuilder &b, Type result, StringRef text,
                           StringRef registers, ValueRange operands) {
    return b
        .create<LLVM::InlineAsmOp>(result, operands, text, registers, /*has_side_effects=*/false,
                                   /*is_align_stack=*/false, LLVM::AsmDialectAttr(), ArrayAttr())
        .getRes();
  }
  static Value round(ImplicitLocOpBuilder &b, Value x, Type to) {
    Value bits = instruction(b, b.getI16Type(), "cvt.rn.bf16.f32 $0, $1;", "=h,f", x);
    return b.create<arith::BitcastOp>(to, bits);
  }
};

/// 1 / x of f32.
struct UseReciprocal : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::DivFOp op, PatternRewriter &rewriter) const override {
    FloatType element = elementOf(op.getType());
    if (!element || !element.isF32() || !matchPattern(op.getLhs(), m_OneFloat()))
      return rewriter.notifyMatchFailure(op, "not 1 / x of f32");
    ImplicitLocOpBuilder builder(op.getLoc(), rewriter);
    rewriter.replaceOp(op, device::reciprocal(Expr(builder, op.getRhs())).getValue());
    return success();
  }
};
} // namespace

void populateElementaryFunctionPatterns(RewritePatternSet &patterns, PatternBenefit benefit) {
#define ACCC_FUNCTION(OP, NAME, LIBM, ULP)                                                         \
  patterns.add<ExpandFunction<math::OP, &elementary::NAME>>(patterns.getContext(), benefit);
#include "codegen/math/MathBounds.def"
}

static void populateCallPatterns(RewritePatternSet &patterns, const std::string &prefix) {
  patterns.add<ExpandRsqrtF64>(patterns.getContext(), /*benefit=*/2);
#define ACCC_FUNCTION(OP, NAME, LIBM, ULP)                                                         \
  if (StringRef(LIBM) != "")                                                                       \
    patterns.add<CallLibrary>(patterns.getContext(), math::OP::getOperationName(), prefix + LIBM);
#include "codegen/math/MathBounds.def"
}

void populateHostPatterns(RewritePatternSet &patterns) {
  populateCallPatterns(patterns, "");
  patterns.add<ExpandFunction<arith::RemFOp, &elementary::remainder>>(patterns.getContext());
}

void populateDevicePatterns(RewritePatternSet &patterns) {
  constexpr int preferred = 3; // to the formula
#define ACCC_DEVICE_FUNCTION(OP, NAME, ULP)                                                        \
  patterns.add<ExpandFunction<math::OP, &device::NAME>>(patterns.getContext(), preferred);
#include "codegen/math/MathDeviceBounds.def"
  patterns.add<UseReciprocal, UseRounding, UseInstruction<arith::MaximumFOp, LLVM::MaximumOp>,
               UseInstruction<arith::MinimumFOp, LLVM::MinimumOp>>(patterns.getContext());
  populateCallPatterns(patterns, "__nv_");
  StringRef remainder = arith::RemFOp::getOperationName();
  patterns.add<CallLibrary>(patterns.getContext(), remainder, "__nv_fmod");
  patterns.add<CallLibrary>(patterns.getContext(), remainder, "__nv_fmodf", 32);
}

} // namespace accc::codegen
