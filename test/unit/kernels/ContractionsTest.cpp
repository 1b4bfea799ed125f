// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Contractions compute the op however the dimensions of their operands lie, and whatever their
// extents, also of parts of tensors: what the passes leave is what a library call can read.
#include "kernels/Batch.h"

#include "fusion/Passes.h"
#include "ir/exec/Exec.h"
#include "ir/prim/Tensor.h"
#include "layout/Passes.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
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
  /// `ofParts`: each factor is a part of an argument, its dimensions in another order.
  Contraction(MLIRContext &context, std::mt19937 &random, bool ofParts)
      : context(context), random(random), ofParts(ofParts) {
    // Empty ones are as likely as all others together; they are no parts.
    bool isEmpty = !ofParts && below(2) == 0;
    for (int64_t &extent : pairs)
      extent = isEmpty ? below(3) : 1 + below(3);
    batches = below(3);
    for (Side *each : {&lhs, &rhs}) {
      *each = side(below(3));
      each->argument = ofParts ? around(*each) : each->type;
    }
  }

  /// The function @f of it, its layout chosen.
  OwningOpRef<ModuleOp> laidOut() {
    OpBuilder b(&context);
    Location loc = b.getUnknownLoc();
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    b.setInsertionPointToEnd(module->getBody());
    auto function =
        b.create<func::FuncOp>(loc, "f", b.getFunctionType({lhs.argument, rhs.argument}, {}));
    Block *body = function.addEntryBlock();
    b.setInsertionPointToEnd(body);
    auto factor = [&](const Side &side, unsigned i) {
      prim::Tensor argument(b, loc, body->getArgument(i));
      return ofParts ? partOf(argument, side).get() : argument.get();
    };
    Value left = factor(lhs, 0), right = factor(rhs, 1);
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
        loc, left, right, dimensions(lhs, 0, count), dimensions(rhs, 0, count),
        dimensions(lhs, count, all), dimensions(rhs, count, all));
    b.create<func::ReturnOp>(loc, product);
    function.setFunctionType(b.getFunctionType({lhs.argument, rhs.argument}, product.getType()));
    std::string text;
    llvm::raw_string_ostream(text) << *module;
    label = text;
    PassManager passes(&context);
    passes.addNestedPass<func::FuncOp>(createLayOutContractionsPass());
    passes.addNestedPass<func::FuncOp>(createViewContractionOperandsPass({"cuda", {}}));
    REQUIRE(succeeded(passes.run(*module)));
    return module;
  }

  std::vector<ReferenceArray> arguments() {
    std::vector<ReferenceArray> arrays{ReferenceArray(lhs.argument.getShape()),
                                       ReferenceArray(rhs.argument.getShape())};
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
    RankedTensorType argument;
    SmallVector<int64_t> starts, order; ///< of a part of the argument, and of its dimensions
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
    return {RankedTensorType::get(shape, Float32Type::get(&context)), place, {}, {}, {}};
  }

  /// An argument that the side is a part of. Its rows have multiples of four elements, and so many
  /// are before the part: others would be copied.
  RankedTensorType around(Side &side) {
    side.order.resize(side.type.getRank());
    std::iota(side.order.begin(), side.order.end(), 0);
    if (below(2) == 0)
      std::shuffle(side.order.begin(), side.order.end(), random);
    SmallVector<int64_t> shape =
        applyPermutation(side.type.getShape(), invertPermutationVector(side.order));
    for (int64_t &extent : shape) {
      bool isInner = &extent == &shape.back();
      int64_t start = below(2) * (isInner ? 4 : 1);
      side.starts.push_back(start);
      extent += start + below(2);
      if (isInner)
        extent = (extent + 3) / 4 * 4;
    }
    return side.type.clone(shape);
  }

  static prim::Tensor partOf(const prim::Tensor &argument, const Side &side) {
    SmallVector<int64_t> limits(side.starts),
        extents = applyPermutation(side.type.getShape(), invertPermutationVector(side.order));
    for (auto [limit, extent] : llvm::zip_equal(limits, extents))
      limit += extent;
    return argument.slice(side.starts, limits).transpose(side.order);
  }

  MLIRContext &context;
  std::mt19937 &random;
  bool ofParts;
  int64_t pairs[4] = {};
  int64_t batches = 0;
  Side lhs, rhs;
};

} // namespace

TEST_CASE("contractions of dimensions in any order and of any extent") {
  bool ofParts = GENERATE(false, true);
  MLIRContext context;
  context.loadDialect<func::FuncDialect, prim::PrimDialect, exec::ExecDialect>();
  std::mt19937 random(1);
  Batch batch(context);
  int views = 0;
  for (int i = 0; i < kContractions; ++i) {
    Contraction contraction(context, random, ofParts);
    OwningOpRef<ModuleOp> module = contraction.laidOut();
    module->walk([&](prim::GemmOp) { ++views; });
    batch.add(std::move(module), contraction.arguments(), contraction.label);
  }
  INFO(views);
  CHECK((views > kContractions / 8) == ofParts);
  for (const std::string &failure : batch.run())
    FAIL_CHECK(failure);
}
