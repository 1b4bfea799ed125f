// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random chains of views, as one kernel where fusion takes them together, against the interpreter.
// The environment variables ACCC_CHAINS_SEED and ACCC_CHAINS_COUNT ask for others, or for more.
#include "kernels/Batch.h"

#include "ir/exec/Exec.h"
#include "ir/prim/Tensor.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <numeric>
#include <random>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

using Shape = SmallVector<int64_t>;
constexpr int64_t kMostElements = 3000;
constexpr int64_t kMostRank = 5;

int64_t fromEnvironment(const char *name, int64_t otherwise) {
  const char *text = std::getenv(name);
  return text && *text ? std::atoll(text) : otherwise;
}

/// Builds one function after the other.
class ChainMaker {
public:
  ChainMaker(MLIRContext &context, uint64_t seed) : builder(&context), random(seed) {}

  /// A module with @f: views of numbered elements, in some of them summed along a dimension at the
  /// end. The numbers are its argument, or an iota.
  OwningOpRef<ModuleOp> make() {
    Location loc = builder.getUnknownLoc();
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    Shape shape = someShape(below(3) + 1);
    Type elements[] = {builder.getF32Type(), builder.getF64Type(), builder.getI32Type(),
                       builder.getIntegerType(16), builder.getI64Type()};
    auto flat = RankedTensorType::get({ReferenceArray::count(shape)}, elements[below(5)]);
    builder.setInsertionPointToEnd(module->getBody());
    auto function = builder.create<func::FuncOp>(loc, "f", builder.getFunctionType({flat}, {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    prim::Tensor x = below(4) == 0 ? prim::iota(builder, loc, flat, 0)
                                   : prim::Tensor(builder, loc, function.getArgument(0));
    x = x.reshape(shape);
    for (int64_t steps = 3 + below(4); steps > 0;)
      if (std::optional<prim::Tensor> next = view(x);
          next && next->size() > 0 && next->size() <= kMostElements) {
        x = *next;
        --steps;
      }
    if (x.rank() > 0 && below(4) == 0)
      x = prim::sum(x, below(x.rank()));
    builder.create<func::ReturnOp>(loc, x.get());
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(function.front())))
      if (isOpTriviallyDead(&op)) // what was too large
        op.erase();
    function.setFunctionType(builder.getFunctionType({flat}, {x.type()}));
    return module;
  }

private:
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(bound));
  }
  int64_t between(int64_t low, int64_t high) { return low + below(high - low + 1); }
  int64_t someExtent() {
    constexpr int64_t extents[] = {1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 12, 16};
    return extents[below(std::size(extents))];
  }
  Shape someShape(int64_t rank) {
    Shape shape;
    for (int64_t d = 0; d < rank; ++d)
      shape.push_back(someExtent());
    return shape;
  }

  /// A view of x of some kind, or nothing where that kind does not suit x. What is too large to be
  /// gone on with is left unused.
  std::optional<prim::Tensor> view(prim::Tensor x) {
    switch (below(9)) {
    case 0:
      return broadcast(x);
    case 1:
    case 2:
      return reshape(x);
    case 3:
      return transpose(x);
    case 4:
      return slice(x);
    case 5:
      return pad(x);
    case 6:
      return concatenate(x);
    case 7:
      return x.rank() == 0 ? std::nullopt : std::optional(x.reverse(below(x.rank())));
    default:
      return gather(x);
    }
  }

  /// New dimensions between the old ones, and extents of 1 repeated.
  std::optional<prim::Tensor> broadcast(prim::Tensor x) {
    Shape shape, dimensions;
    for (int64_t d = 0; d <= x.rank(); ++d) {
      if (static_cast<int64_t>(shape.size()) + x.rank() - d < kMostRank && below(3) == 0)
        shape.push_back(someExtent());
      if (d == x.rank())
        break;
      dimensions.push_back(static_cast<int64_t>(shape.size()));
      shape.push_back(x.dim(d) == 1 && below(2) ? someExtent() : x.dim(d));
    }
    if (ReferenceArray::count(shape) > kMostElements)
      return std::nullopt;
    return x.broadcast(shape, dimensions);
  }

  /// The elements in other extents: primes dealt out at random.
  std::optional<prim::Tensor> reshape(prim::Tensor x) {
    Shape shape(static_cast<size_t>(between(1, kMostRank - 1)), 1);
    int64_t rest = x.size();
    for (int64_t prime = 2; rest > 1;)
      if (rest % prime == 0) {
        shape[static_cast<size_t>(below(static_cast<int64_t>(shape.size())))] *= prime;
        rest /= prime;
      } else {
        ++prime;
      }
    return x.reshape(shape);
  }

  std::optional<prim::Tensor> transpose(prim::Tensor x) {
    Shape permutation(static_cast<size_t>(x.rank()));
    std::iota(permutation.begin(), permutation.end(), 0);
    for (int64_t i = x.rank(); i > 1; --i)
      std::swap(permutation[i - 1], permutation[below(i)]);
    return x.transpose(permutation);
  }

  std::optional<prim::Tensor> slice(prim::Tensor x) {
    Shape starts, limits, strides;
    for (int64_t extent : x.shape()) {
      starts.push_back(below(std::min<int64_t>(extent, 4)));
      limits.push_back(between(std::max(starts.back() + 1, extent - 3), extent));
      strides.push_back(below(2) ? 1 : between(1, 3));
    }
    return x.slice(starts, limits, strides);
  }

  std::optional<prim::Tensor> pad(prim::Tensor x) {
    Shape low, high, interior;
    for (int64_t extent : x.shape()) {
      bool crops = extent > 3 && below(4) == 0;
      low.push_back(crops ? -below(2) : below(3));
      high.push_back(crops ? -below(2) : below(3));
      interior.push_back(below(3) ? 0 : between(1, 2));
    }
    return x.pad(-7, low, high, interior);
  }

  /// With itself, or with a piece of it in another order.
  std::optional<prim::Tensor> concatenate(prim::Tensor x) {
    if (x.rank() == 0)
      return std::nullopt;
    int64_t dimension = below(x.rank());
    prim::Tensor other = below(2) ? x : x.reverse(below(x.rank()));
    if (below(2))
      other = other.sliceDim(dimension, 0, between(1, x.dim(dimension)));
    if (below(2))
      return prim::concatenate({other, x}, dimension);
    return prim::concatenate({x, other, x}, dimension);
  }

  std::optional<prim::Tensor> gather(prim::Tensor x) {
    if (x.rank() == 0 || x.rank() >= kMostRank)
      return std::nullopt;
    int64_t axis = below(x.rank());
    auto type = RankedTensorType::get(someShape(below(3)), builder.getI64Type());
    if (x.size() / x.dim(axis) * type.getNumElements() > kMostElements)
      return std::nullopt;
    std::vector<int64_t> indices;
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      indices.push_back(below(x.dim(axis)));
    auto constant = builder.create<prim::ConstantOp>(
        x.getLoc(), DenseElementsAttr::get(type, ArrayRef<int64_t>(indices)));
    return x.gather(x.wrap(constant), axis);
  }

  OpBuilder builder;
  std::mt19937_64 random;
};

std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}
} // namespace

TEST_CASE("random chains of views read the elements that the interpreter reads") {
  auto seed = fromEnvironment("ACCC_CHAINS_SEED", 20241122);
  auto count = fromEnvironment("ACCC_CHAINS_COUNT", 400);
  WARN(count << " chains of views with ACCC_CHAINS_SEED=" << seed);
  MLIRContext context;
  context.loadDialect<func::FuncDialect, prim::PrimDialect, exec::ExecDialect>();
  ChainMaker maker(context, static_cast<uint64_t>(seed));
  Batch batch(context);
  for (int64_t i = 0; i < count; ++i) {
    OwningOpRef<ModuleOp> module = maker.make();
    REQUIRE(succeeded(verify(*module)));
    auto function = *module->getOps<func::FuncOp>().begin();
    ReferenceArray numbers(cast<RankedTensorType>(function.getArgument(0).getType()).getShape());
    std::iota(numbers.values.begin(), numbers.values.end(), 1);
    std::string text = textOf(*module);
    batch.add(std::move(module), {numbers}, text);
  }
  for (const std::string &failure : batch.run())
    FAIL_CHECK(failure);
}
