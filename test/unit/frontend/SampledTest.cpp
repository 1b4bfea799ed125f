// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Images sampled in regions and at computed places, and their windows: what PyTorch's exporter does
// not write, or not in all forms. The rest is compared with PyTorch in test/training/exported.
#include "ModelGradients.h"

#include "reference/interpreter/Interpreter.h"

#include "mlir/IR/Diagnostics.h"
#include <catch2/catch.hpp>

#include <cmath>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {

/// Image, x1, y1, x2, y2: inside, across edges, thin, empty.
ReferenceArray regionRows() {
  return array({4, 5}, {1, 1, 2, 9, 7, 0, -3, 4, 6.2, 15, 1, 5, 5, 5, 8, 0, 30, 30, 40, 44});
}

/// The same for RoiAlign: corners, and images.
Inputs regionsAndImages(ReferenceArray x) {
  ReferenceArray rows = regionRows(), corners({4, 4}), images({4});
  for (int64_t i = 0; i < 4; ++i) {
    images.at({i}) = rows.at({i, 0});
    for (int64_t j = 0; j < 4; ++j)
      corners.at({i, j}) = rows.at({i, j + 1});
  }
  return {{"x", std::move(x)}, {"rois", corners}, {"images", images}};
}

} // namespace

// ---- regions ----

TEST_CASE("MaxRoiPool: the greatest element of each bin") {
  const char *text = R"(g (float[2,2,6,7] x, float[4,5] rois) => (float[4,2,2,3] y) {
    y = MaxRoiPool <pooled_shape = [2, 3], spatial_scale = 0.5> (x, rois) })";
  ReferenceArray x = random({2, 2, 6, 7}), rois = regionRows(), expected({4, 2, 2, 3});
  ReferenceArray::forEachIndex(expected.shape, [&](llvm::ArrayRef<int64_t> at) {
    auto side = [&](int64_t first, int64_t bins, int64_t bin, int64_t extent) {
      double start = std::round(rois.at({at[0], first}) / 2),
             end = std::round(rois.at({at[0], first + 2}) / 2),
             size = std::max(end - start + 1, 1.0) / static_cast<double>(bins);
      auto clip = [&](double v) {
        return static_cast<int64_t>(std::min(std::max(v + start, 0.0), double(extent)));
      };
      return std::pair(clip(std::floor(double(bin) * size)),
                       clip(std::ceil(double(bin + 1) * size)));
    };
    auto [top, bottom] = side(2, 2, at[2], 6);
    auto [left, right] = side(1, 3, at[3], 7);
    bool isEmpty = top >= bottom || left >= right;
    double greatest = isEmpty ? 0 : -9;
    for (int64_t i = top; i < bottom; ++i)
      for (int64_t j = left; j < right; ++j)
        greatest = std::max(greatest, x.at({int64_t(rois.at({at[0], 0})), at[1], i, j}));
    expected.at(at) = greatest;
  });
  checkClose(resultOf(text, {{"x", x}, {"rois", rois}}), expected);
  checkGradients(text, {{"x", x}, {"rois", rois}}, {"x"});
}

TEST_CASE("RoiAlign: the greatest of weighted elements") {
  for (const char *options : {"sampling_ratio = 2", "sampling_ratio = 0"}) {
    std::string text = std::string(R"(g (float[2,2,8,9] x, float[4,4] rois, int64[4] images)
      => (float[4,2,2,2] y) { y = RoiAlign <mode = "max", output_height = 2, output_width = 2,
      spatial_scale = 0.5, )") +
                       options + "> (x, rois, images) }";
    Inputs inputs = regionsAndImages(random({2, 2, 8, 9}, 0.5, 1.5));
    checkGradients(text, inputs, {"x"});
  }
  // A sample in the middle of four elements takes a quarter of the greatest.
  const char *one =
      R"(g (float[1,1,2,2] x, float[1,4] rois, int64[1] images) => (float[1,1,1,1] y) {
      y = RoiAlign <mode = "max", sampling_ratio = 1> (x, rois, images) })";
  Inputs inputs = {{"x", array({1, 1, 2, 2}, {1, 2, 8, 4})},
                   {"rois", array({1, 4}, {0, 0, 2, 2})},
                   {"images", array({1}, {0})}};
  checkClose(resultOf(one, inputs), array({1, 1, 1, 1}, {2}));
}

TEST_CASE("RoiAlign: without a number of samples, regions are no larger than the image") {
  const char *text =
      R"(g (float[1,1,4,4] x, float[1,4] rois, int64[1] images) => (float[1,1,1,1] y) {
      y = RoiAlign <output_height = 1, output_width = 1> (x, rois, images) })";
  Inputs inputs = {{"x", ReferenceArray({1, 1, 4, 4}, 2.0)},
                   {"rois", array({1, 4}, {0, 0, 4, 4})},
                   {"images", array({1}, {0})}};
  checkClose(resultOf(text, inputs), array({1, 1, 1, 1}, {2}));
  Imported model = importText(text, {}, 22);
  llvm::SmallVector<ReferenceArray> values = {inputs.at("x"), array({1, 4}, {0, 0, 4, 6}),
                                              inputs.at("images")},
                                    results;
  mlir::ScopedDiagnosticHandler handler(model.context.get(), [](mlir::Diagnostic &diagnostic) {
    CHECK_THAT(diagnostic.str(), Contains("out of range"));
  });
  CHECK(failed(interpret(model.forward(), values, results)));
}

TEST_CASE("RoiAlign: regions of images that are not there") {
  const char *text =
      R"(g (float[2,1,4,4] x, float[1,4] rois, int64[1] images) => (float[1,1,1,1] y) {
      y = RoiAlign <sampling_ratio = 1> (x, rois, images) })";
  Imported model = importText(text, {}, 22);
  mlir::ScopedDiagnosticHandler handler(model.context.get(), [](mlir::Diagnostic &diagnostic) {
    CHECK_THAT(diagnostic.str(), Contains("out of range"));
  });
  for (double image : {-1.0, 2.0, 4294967296.0}) {
    llvm::SmallVector<ReferenceArray> values = {ReferenceArray({2, 1, 4, 4}),
                                                array({1, 4}, {0, 0, 4, 4}), array({1}, {image})},
                                      results;
    CHECK(failed(interpret(model.forward(), values, results)));
  }
}

TEST_CASE("RoiAlign: before operator set 16, regions are at least one element large") {
  const char *text =
      R"(g (float[1,1,4,4] x, float[1,4] rois, int64[1] images) => (float[1,1,1,1] y) {
      y = RoiAlign <sampling_ratio = 1> (x, rois, images) })";
  Inputs inputs = {{"x", array({1, 1, 4, 4}, {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3})},
                   {"rois", array({1, 4}, {1, 1, 1, 1})},
                   {"images", array({1}, {0})}};
  checkClose(resultOf(text, inputs, 10), array({1, 1, 1, 1}, {1.5}));
  checkClose(resultOf(text, inputs, 16), array({1, 1, 1, 1}, {0.5}));
}

// ---- grids ----

TEST_CASE("AffineGrid: places of elements, mapped") {
  for (bool corners : {false, true}) {
    std::string text =
        std::string("g (float[2,2,3] theta) => (float[2,1,4,2] y) "
                    "<int64[4] size = {2, 3, 1, 4}> { y = AffineGrid <align_corners = ") +
        (corners ? "1" : "0") + "> (theta, size) }";
    ReferenceArray theta = random({2, 2, 3}), expected({2, 1, 4, 2});
    ReferenceArray::forEachIndex(expected.shape, [&](llvm::ArrayRef<int64_t> at) {
      double place = corners ? -1 + double(at[2]) * 2 / 3 : (2 * double(at[2]) + 1) / 4 - 1;
      expected.at(at) = theta.at({at[0], at[3], 0}) * place + theta.at({at[0], at[3], 2});
    });
    checkClose(resultOf(text, {{"theta", theta}}), expected);
    checkGradients(text, {{"theta", theta}}, {"theta"});
  }
  CHECK_THAT(importText("g (float[2,2,3] t) => (float[2,1,4,2] y) <int64[4] s = {3, 3, 1, 4}> "
                        "{ y = AffineGrid(t, s) }",
                        {}, 20)
                 .problems(),
             Contains("affine maps of shape [2, 2, 3] do not fit an image of shape [3, 3, 1, 4]"));
}

TEST_CASE("GridSample: one and three spatial dimensions") {
  checkGradients(R"(g (float[2,2,5] x, float[2,4,1] grid) => (float[2,2,4] y) {
      y = GridSample <mode = "linear", padding_mode = "reflection"> (x, grid) })",
                 {{"x", random({2, 2, 5})}, {"grid", random({2, 4, 1}, -2, 2)}}, {"x", "grid"});
  checkGradients(R"(g (float[1,1,3,4,2] x, float[1,2,1,2,3] grid) => (float[1,1,2,1,2] y) {
      y = GridSample <mode = "cubic", align_corners = 1> (x, grid) })",
                 {{"x", random({1, 1, 3, 4, 2})}, {"grid", random({1, 2, 1, 2, 3})}},
                 {"x", "grid"});
  // Whole numbers, too, where nothing lies between them; what is no number lies outside.
  checkClose(resultOf(R"(g (int32[1,1,2,2] x, float[1,1,3,2] grid) => (int32[1,1,1,3] y) {
      y = GridSample <mode = "nearest"> (x, grid) })",
                      {{"x", array({1, 1, 2, 2}, {1, 2, 3, 4})},
                       {"grid", array({1, 1, 3, 2}, {-0.5, 0.5, 0.5, -0.5, std::nan(""), 0.5})}}),
             array({1, 1, 1, 3}, {3, 2, 0}));
}

TEST_CASE("DeformConv: a convolution where nothing is moved") {
  struct {
    const char *x, *w, *moved, *y, *attributes;
    std::vector<int64_t> xs, ws, offsets, ys;
  } cases[] = {
      {"2,4,7",
       "6,2,3",
       "2,3,4",
       "2,6,4",
       "strides = [2], pads = [1, 2], group = 2",
       {2, 4, 7},
       {6, 2, 3},
       {2, 3, 4},
       {2, 6, 4}},
      {"1,2,3,4,3",
       "3,2,2,2,1",
       "1,24,2,2,3",
       "1,3,2,2,3",
       "dilations = [1, 2, 1], offset_group = 2",
       {1, 2, 3, 4, 3},
       {3, 2, 2, 2, 1},
       {1, 24, 2, 2, 3},
       {1, 3, 2, 2, 3}},
  };
  for (auto &c : cases) {
    auto text = [&](const std::string &op, std::string attributes, const std::string &inputs) {
      size_t at = attributes.find(", offset_group");
      if (op == "Conv" && at != std::string::npos)
        attributes.erase(at);
      return std::string("g (float[") + c.x + "] x, float[" + c.w + "] w, float[" + c.moved +
             "] offset) => (float[" + c.y + "] y) { y = " + op + " <" + attributes + "> (" +
             inputs + ") }";
    };
    Inputs inputs = {
        {"x", random(c.xs)}, {"w", random(c.ws)}, {"offset", ReferenceArray(c.offsets)}};
    std::string moved = text("DeformConv", c.attributes, "x, w, offset");
    checkClose(resultOf(moved, inputs), resultOf(text("Conv", c.attributes, "x, w"), inputs));
    inputs.at("offset") = random(c.offsets);
    checkGradients(moved, inputs, {"x", "w", "offset"});
  }
}

// ---- windows ----

TEST_CASE("Col2Im: windows are added up where they overlap") {
  struct {
    const char *columns, *image, *block, *attributes, *y;
    std::vector<int64_t> columnShape, shape, window, strides, dilations, low, count;
  } cases[] = {
      {"2,6,3",
       "7",
       "3",
       "strides = [2], pads = [0, 1]",
       "2,2,7",
       {2, 6, 3},
       {2, 2, 7},
       {3},
       {2},
       {1},
       {0},
       {3}},
      {"1,6,12",
       "4,5",
       "3,2",
       "dilations = [1, 2], pads = [1, 0, 0, 1]",
       "1,1,4,5",
       {1, 6, 12},
       {1, 1, 4, 5},
       {3, 2},
       {1, 1},
       {1, 2},
       {1, 0},
       {3, 4}},
      {"1,72,2",
       "9,9",
       "9,8",
       "strides = [2, 1]",
       "1,1,9,9",
       {1, 72, 2},
       {1, 1, 9, 9},
       {9, 8},
       {2, 1},
       {1, 1},
       {0, 0},
       {1, 2}},
  };
  for (auto &c : cases) {
    auto list = [](llvm::StringRef numbers) {
      return "int64[" + std::to_string(numbers.count(',') + 1) + "]";
    };
    std::string text = std::string("g (float[") + c.columns + "] x) => (float[" + c.y + "] y) <" +
                       list(c.image) + " image = {" + c.image + "}, " + list(c.block) +
                       " block = {" + c.block + "}> { y = Col2Im <" + c.attributes +
                       "> (x, image, block) }";
    ReferenceArray x = random(c.columnShape), expected(c.shape);
    std::vector<int64_t> all = {c.shape[0], c.shape[1]};
    all.insert(all.end(), c.window.begin(), c.window.end());
    all.insert(all.end(), c.count.begin(), c.count.end());
    size_t rank = c.window.size();
    int64_t element = 0;
    ReferenceArray::forEachIndex(all, [&](llvm::ArrayRef<int64_t> at) {
      double value = x.values[element++];
      llvm::SmallVector<int64_t> to = {at[0], at[1]};
      bool isInside = true;
      for (size_t i = 0; i < rank; ++i) {
        to.push_back(at[2 + i] * c.dilations[i] + at[2 + rank + i] * c.strides[i] - c.low[i]);
        isInside &= to.back() >= 0 && to.back() < c.shape[2 + i];
      }
      if (isInside)
        expected.at(to) += value;
    });
    checkClose(resultOf(text, {{"x", x}}), expected);
    checkGradients(text, {{"x", x}}, {"x"});
  }
}

TEST_CASE("MaxUnpool: the gradient is gathered") {
  checkGradients(
      R"(g (float[1,2,2] x, int64[1,2,2] places) => (float[1,2,5] y) <int64[3] s = {1, 2, 5}> {
      y = MaxUnpool <kernel_shape = [2], strides = [2]> (x, places, s) })",
      {{"x", random({1, 2, 2})}, {"places", array({1, 2, 2}, {1, 2, 4, 7})}}, {"x"});
}
