// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions compute the op however the dimensions of their operands lie, and whatever their
// extents: what the layout pass leaves is what a library call can read.
#include "kernels/Batch.h"

#include "ir/exec/Exec.h"
#include "ir/prim/Prim.h"
#include "layout/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/Pass/PassManager.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <random>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

constexpr int kContractions = 256;

class Contraction {
public:
  Contraction(MLIRContext &context, std::mt19937 &random) : context(context), random(random) {
    // Empty ones are as likely as all others together.
    bool isEmpty = below(2) == 0;
    for (int64_t &extent : pairs)
      extent = isEmpty ? below(3) : 1 + below(3);
    batches = below(3);
    lhs = side(below(3));
    rhs = side(below(3));
  }

  /// The function @f of it, its layout chosen.
  OwningOpRef<ModuleOp> laidOut() {
    OpBuilder b(&context);
    Location loc = b.getUnknownLoc();
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    b.setInsertionPointToEnd(module->getBody());
    auto function = b.create<func::FuncOp>(loc, "f", b.getFunctionType({lhs.type, rhs.type}, {}));
    Block *body = function.addEntryBlock();
    b.setInsertionPointToEnd(body);
    auto order = llvm::to_vector(llvm::seq<size_t>(0, lhs.paired.size()));
    std::shuffle(order.begin() + batches, order.end(), random); // of the contracted pairs
    auto dimensions = [&](const Side &side, size_t from, size_t to) {
      SmallVector<int64_t> result;
      for (size_t i = from; i < to; ++i)
        result.push_back(side.paired[order[i]]);
      return result;
    };
    auto count = static_cast<size_t>(batches), all = order.size();
    Value product = b.create<prim::DotGeneralOp>(
        loc, body->getArgument(0), body->getArgument(1), dimensions(lhs, 0, count),
        dimensions(rhs, 0, count), dimensions(lhs, count, all), dimensions(rhs, count, all));
    b.create<func::ReturnOp>(loc, product);
    function.setFunctionType(b.getFunctionType({lhs.type, rhs.type}, product.getType()));
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    label = text;
    PassManager passes(&context);
    passes.addNestedPass<func::FuncOp>(createLayOutContractionsPass());
    REQUIRE(succeeded(passes.run(*module)));
    return module;
  }

  std::vector<ReferenceArray> arguments() {
    std::vector<ReferenceArray> arrays{ReferenceArray(lhs.type.getShape()),
                                       ReferenceArray(rhs.type.getShape())};
    for (ReferenceArray &array : arrays)
      for (double &value : array.values) // sums of their products are exact
        value = static_cast<double>(below(9) - 4);
    return arrays;
  }

  std::string label;

private:
  struct Side {
    RankedTensorType type;
    SmallVector<int64_t> paired; ///< where the pairs lie: the batch's, then the contracted
  };

  int64_t below(int64_t bound) {
    return static_cast<int64_t>(random() % static_cast<uint32_t>(bound));
  }

  /// The pairs and some free dimensions, in any order.
  Side side(int64_t numFree) {
    SmallVector<int64_t> extents(std::begin(pairs), std::end(pairs));
    for (int64_t i = 0; i < numFree; ++i)
      extents.push_back(1 + below(3));
    SmallVector<int64_t> place(extents.size());
    std::iota(place.begin(), place.end(), 0);
    std::shuffle(place.begin(), place.end(), random);
    SmallVector<int64_t> shape(extents.size());
    for (auto [extent, at] : llvm::zip_equal(extents, place))
      shape[at] = extent;
    place.truncate(std::size(pairs));
    return {RankedTensorType::get(shape, Float32Type::get(&context)), place};
  }

  MLIRContext &context;
  std::mt19937 &random;
  int64_t pairs[4] = {};
  int64_t batches = 0;
  Side lhs, rhs;
};

} // namespace

TEST_CASE("contractions of dimensions in any order and of any extent") {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, prim::PrimDialect, exec::ExecDialect>();
  std::mt19937 random(1);
  Batch batch(context);
  for (int i = 0; i < kContractions; ++i) {
    Contraction contraction(context, random);
    OwningOpRef<ModuleOp> module = contraction.laidOut();
    batch.add(std::move(module), contraction.arguments(), contraction.label);
  }
  for (const std::string &failure : batch.run())
    FAIL_CHECK(failure);
}
