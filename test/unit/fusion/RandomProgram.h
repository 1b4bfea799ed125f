// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small random programs of prim, made to meet rewrite rules and to miss them narrowly.
#ifndef ACCC_TEST_UNIT_FUSION_RANDOMPROGRAM_H
#define ACCC_TEST_UNIT_FUSION_RANDOMPROGRAM_H

#include "ir/prim/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <random>
#include <string>

namespace accc::test {

/// A function @f of one block. Floats, where they are computed by sums and products alone, are
/// multiples of small powers of two: rules that reorder arithmetic give the same bits, and
/// comparisons of them the same answer.
class RandomProgram {
public:
  /// The same seed and number of ops give the same program, whatever the machine.
  RandomProgram(mlir::MLIRContext &context, uint32_t seed, int ops);

  mlir::ModuleOp module() { return *owned; }
  std::string text();
  /// Values for the arguments; of floats some are special where `specials` asks for it: zeros of
  /// both signs, infinities, NaN.
  std::vector<ReferenceArray> arguments(bool specials);

private:
  using Tensor = prim::Tensor;
  using Shape = llvm::SmallVector<int64_t>;

  int64_t below(int64_t limit) {
    return static_cast<int64_t>(random() % static_cast<uint32_t>(limit));
  }
  bool chance(int64_t one, int64_t of) { return below(of) < one; }
  int64_t oneOf(llvm::ArrayRef<int64_t> list) {
    return list[below(static_cast<int64_t>(list.size()))];
  }

  Tensor argument(mlir::RankedTensorType type);
  /// A value that is there, mostly one of the last.
  Tensor any();
  Tensor anyFloat();
  /// Of the type, where there is one; else an argument or a constant.
  Tensor like(Tensor x);
  double number();
  Shape permutation(int64_t rank);
  Shape someDimensions(int64_t rank);
  bool isFloat(Tensor x) { return mlir::isa<mlir::FloatType>(x.elementType()); }
  bool isBoolean(Tensor x) { return x.elementType().isInteger(1); }
  bool isExact(Tensor x) { return !inexact.contains(x.get()); }

  void addOp();
  Tensor view(Tensor x);
  Tensor slice(Tensor x);
  Tensor pad(Tensor x);
  Tensor concatenate(Tensor x);
  Tensor pointwise(Tensor x);
  Tensor choice(Tensor x);
  Tensor convert(Tensor x);
  Tensor reduction(Tensor x);
  Tensor contraction(Tensor x);
  Tensor indexed(Tensor x);

  mlir::OpBuilder builder;
  mlir::OwningOpRef<mlir::ModuleOp> owned;
  mlir::func::FuncOp function;
  mlir::Block *block = nullptr;
  std::mt19937 random;
  std::vector<Tensor> pool;
  llvm::DenseSet<mlir::Value> inexact;
};

} // namespace accc::test

#endif
