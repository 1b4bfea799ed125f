// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Views, drawn at random, of a tensor whose elements are numbered by their places in it.
#include "ir/prim/StridedView.h"
#include "Program.h"
#include "ir/prim/Prim.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FormatVariadic.h"

#include <catch2/catch.hpp>

#include <numeric>
#include <random>

using namespace mlir;
using namespace accc;
using namespace accc::test;
using accc::prim::StridedView;

namespace {

ReferenceArray numbered(ArrayRef<int64_t> shape) {
  ReferenceArray array(shape);
  std::iota(array.values.begin(), array.values.end(), 0.0);
  return array;
}

/// The places of the elements, in the order of their indices.
std::vector<double> placesOf(const StridedView &view) {
  std::vector<double> places;
  ReferenceArray::forEachIndex(view.shape, [&](ArrayRef<int64_t> index) {
    int64_t place = view.offset;
    for (auto [i, stride] : llvm::zip_equal(index, view.strides))
      place += i * stride;
    places.push_back(static_cast<double>(place));
  });
  return places;
}

const char *const slices =
    "%0 = prim.transpose %x {permutation = array<i64: 2, 0, 1, 3>} : (tensor<4x6x3x8xf32>) -> "
    "tensor<3x4x6x8xf32>\n"
    "%1 = prim.slice %0 {starts = array<i64: 1, 1, 0, 2>, limits = array<i64: 3, 4, 6, 8>, "
    "strides = array<i64: 1, 2, 3, 2>} : (tensor<3x4x6x8xf32>) -> tensor<2x2x2x3xf32>\n";

} // namespace

TEST_CASE("a view through transposes, slices and reshapes is where their elements are") {
  // The last op of each, and whether its result is a view.
  auto [text, type, isView] = GENERATE(table<std::string, std::string, bool>({
      {"", "2x2x2x3", true},
      {"%2 = prim.transpose %1 {permutation = array<i64: 3, 1, 0, 2>} : (tensor<2x2x2x3xf32>) -> "
       "tensor<3x2x2x2xf32>\n",
       "3x2x2x2", true},
      {"%2 = prim.reshape %1 : (tensor<2x2x2x3xf32>) -> tensor<1x2x2x1x2x3x1xf32>\n",
       "1x2x2x1x2x3x1", true},
      {"%2 = prim.reshape %1 : (tensor<2x2x2x3xf32>) -> tensor<2x2x6xf32>\n", "2x2x6", false},
      {"%2 = prim.reshape %1 : (tensor<2x2x2x3xf32>) -> tensor<2x2x3x2xf32>\n", "2x2x3x2", false},
  }));
  std::string source = llvm::formatv("func.func @f(%x: tensor<4x6x3x8xf32>) -> tensor<{0}xf32> {{\n"
                                     "{1}{2}return %{3} : tensor<{0}xf32>\n}\n",
                                     type, slices, text, text.empty() ? 1 : 2);
  INFO(source);
  Program program(source);
  std::optional<StridedView> view = StridedView::all({4, 6, 3, 8});
  for (Operation &op : program.function().front().without_terminator())
    if (view)
      view = view->through(&op);
  REQUIRE(view.has_value() == isView);
  if (view) {
    CHECK(placesOf(*view) == program.run(numbered({4, 6, 3, 8}))[0].values);
    CHECK(view->last() == static_cast<int64_t>(placesOf(*view).back()));
    CHECK(view->elements() == 24);
  }
}

TEST_CASE("reshapes of views keep their elements in order, where strides can") {
  std::mt19937 random(3);
  int found = 0, missing = 0;
  for (int i = 0; i < 2000; ++i) {
    StridedView view = StridedView::all({4, 6, 2, 3});
    if (random() % 2)
      view = *view.sliced({0, 2, 0, 0}, {4, random() % 2 ? 4 : 6, 2, 3}, {1, 1, 1, 1});
    SmallVector<int64_t> order = {0, 1, 2, 3};
    if (random() % 2)
      std::swap(order[random() % 4], order[random() % 4]);
    view = view.transposed(order);
    // Another shape of as many elements: factors, joined and split at random.
    SmallVector<int64_t> shape(view.shape);
    for (int step = 0; step < 3; ++step) {
      size_t at = random() % shape.size();
      if (random() % 2 && at + 1 < shape.size()) {
        shape[at + 1] *= shape[at];
        shape.erase(shape.begin() + at);
      } else {
        int64_t factor = shape[at] % 2 == 0 ? 2 : shape[at] % 3 == 0 ? 3 : 1;
        shape[at] /= factor;
        shape.insert(shape.begin() + at + random() % 2, factor);
      }
    }
    auto reshaped = view.reshaped(shape);
    ++(reshaped ? found : missing);
    if (!reshaped)
      continue;
    CHECK(placesOf(*reshaped) == placesOf(view));
    CHECK(llvm::all_of(reshaped->strides, [](int64_t stride) { return stride > 0; }));
    CHECK(reshaped->reshaped(view.shape).has_value()); // and back
    CHECK(placesOf(*reshaped->reshaped(view.shape)) == placesOf(view));
  }
  CHECK(found > 500);
  CHECK(missing > 200);
}

TEST_CASE("a view where a result is leads to where the operand is") {
  Program program(R"(func.func @f(%x: tensor<2x6x4xf32>) -> tensor<4x2x3x2xf32> {
    %0 = prim.transpose %x {permutation = array<i64: 2, 0, 1>} : (tensor<2x6x4xf32>) -> tensor<4x2x6xf32>
    %1 = prim.reshape %0 : (tensor<4x2x6xf32>) -> tensor<4x2x3x2xf32>
    return %1 : tensor<4x2x3x2xf32>
  })");
  std::vector<double> at = program.run(numbered({2, 6, 4}))[0].values;
  std::optional<StridedView> view = StridedView::all({4, 2, 3, 2});
  Operation *reshape = program.function().front().getTerminator()->getPrevNode();
  view = view->before(reshape);
  REQUIRE(view);
  view = view->before(reshape->getPrevNode());
  REQUIRE(view);
  CHECK(view->shape == SmallVector<int64_t>{2, 6, 4});
  // at[place in the result] is the place in the operand
  std::vector<double> places = placesOf(*view);
  for (auto [operand, place] : llvm::enumerate(places))
    CHECK(at[static_cast<size_t>(place)] == static_cast<double>(operand));
}

TEST_CASE("types of views") {
  MLIRContext context;
  Type element = Float32Type::get(&context);
  StridedView view = {{2, 3}, {8, 2}, 5};
  CHECK(StridedView::of(view.type(element)) == view);
  CHECK(!StridedView::of(MemRefType::get({ShapedType::kDynamic, 3}, element)));
  CHECK(!StridedView::of(StridedView{{2, 3}, {-8, 2}, 8}.type(element)));
}
