// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Speed of library calls on the shapes of real models, two threads; not a test, and run only when
// asked for: runtime_tests "[bench]". The figures in Matmul.cpp and Convolution.cpp come from here
// and from the alternatives they speak of.
#include "Calls.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>

using namespace accc;
using namespace accc::test;

namespace {

double gigaflops(PreparedCall &call, double flops) {
  std::vector<double> seconds;
  call.run();
  for (int i = 0; i < 9; ++i) {
    auto start = std::chrono::steady_clock::now();
    call.run();
    seconds.push_back(
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + 4, seconds.end());
  return flops / seconds[4] * 1e-9;
}

std::vector<float> zeros(int64_t count) { return std::vector<float>(static_cast<size_t>(count)); }

} // namespace

TEST_CASE("speed of matrix products", "[.][bench]") {
  struct Row {
    const char *name;
    int64_t batch, m, n, k;
  };
  const Row rows[] = {
      {"GPT-2 qkv, 2 x 256", 1, 512, 2304, 768}, {"GPT-2 mlp", 1, 512, 768, 3072},
      {"GPT-2 head", 1, 512, 50257, 768},        {"BERT mlp, 8 x 128", 1, 1024, 3072, 768},
      {"classifier", 1, 16, 1000, 512},          {"LSTM gates", 1, 64, 2048, 512},
      {"BERT attention", 96, 128, 128, 64},      {"GPT-2 attention", 24, 256, 64, 256},
      {"Swin attention", 768, 49, 49, 32}};
  std::printf("%-22s %32s  %8s %8s %8s GFLOP/s\n", "", "batch x m x n x k", "a b", "a b'", "a' b");
  for (const Row &row : rows) {
    double flops = 2.0 * double(row.batch * row.m) * double(row.n * row.k);
    std::printf("%-22s %8ld x %5ld x %5ld x %5ld ", row.name, long(row.batch), long(row.m),
                long(row.n), long(row.k));
    for (auto [a, b] : {std::pair(false, false), {false, true}, {true, false}}) {
      PreparedCall call(matmul(row.batch, row.m, row.n, row.k, a, b), 2,
                        {zeros(row.batch * row.m * row.k), zeros(row.batch * row.k * row.n),
                         zeros(row.batch * row.m * row.n)});
      std::printf(" %8.1f", gigaflops(call, flops));
    }
    std::printf("\n");
  }
}

TEST_CASE("speed of convolutions", "[.][bench]") {
  auto square = [](const char *name, int64_t batch, int64_t in, int64_t out, int64_t groups,
                   int64_t size, int64_t kernel, int64_t stride) {
    int64_t pad = kernel / 2;
    return ConvolutionSpec{name,
                           batch,
                           in,
                           out,
                           groups,
                           {size, size},
                           {kernel, kernel},
                           {stride, stride},
                           {1, 1},
                           {pad, pad},
                           {pad, pad}};
  };
  auto line = [](const char *name, int64_t batch, int64_t in, int64_t groups, int64_t size,
                 int64_t kernel, int64_t dilation) {
    int64_t pad = (kernel - 1) * dilation, low = pad / 2;
    return ConvolutionSpec{name,     batch, in,         in,    groups,     {size},
                           {kernel}, {1},   {dilation}, {low}, {pad - low}};
  };
  const ConvolutionSpec specs[] = {square("ResNet-18 stem", 16, 3, 64, 1, 224, 7, 2),
                                   square("ResNet-18 layer 1", 16, 64, 64, 1, 56, 3, 1),
                                   square("ResNet-18 layer 2", 16, 64, 128, 1, 56, 3, 2),
                                   square("ResNet-18 layer 4", 16, 512, 512, 1, 7, 3, 1),
                                   square("ResNet-18 shortcut", 16, 64, 128, 1, 56, 1, 2),
                                   square("EfficientNet stem", 8, 3, 32, 1, 224, 3, 2),
                                   square("EfficientNet expand", 8, 16, 96, 1, 112, 1, 1),
                                   square("EfficientNet project", 8, 672, 112, 1, 14, 1, 1),
                                   square("depthwise 3x3", 8, 32, 32, 32, 112, 3, 1),
                                   square("depthwise 3x3/2", 8, 96, 96, 96, 112, 3, 2),
                                   square("depthwise 5x5", 8, 240, 240, 240, 28, 5, 1),
                                   square("depthwise 5x5 deep", 8, 672, 672, 672, 14, 5, 1),
                                   square("depthwise 5x5/2", 8, 672, 672, 672, 14, 5, 2),
                                   square("depthwise 7x7", 8, 96, 96, 96, 56, 7, 1),
                                   square("depthwise 31x31", 2, 64, 64, 64, 56, 31, 1),
                                   line("depthwise 4", 8, 512, 512, 1024, 4, 1),
                                   line("depthwise 31", 8, 256, 256, 1000, 31, 1),
                                   line("WaveNet 2/64", 4, 64, 1, 8000, 2, 64),
                                   line("line 3", 16, 128, 1, 2000, 3, 1),
                                   square("digits", 64, 1, 16, 1, 8, 3, 1)};
  std::printf("%-22s %26s  %26s GFLOP/s\n", "", "channels first: y, dx, dw", "channels last");
  for (const ConvolutionSpec &spec : specs) {
    std::printf("%-22s", spec.name.c_str());
    for (accc_layout layout : {ACCC_CHANNELS_FIRST, ACCC_CHANNELS_LAST})
      for (accc_call_kind kind : {ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                                  ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS}) {
        accc_library_call call = convolution(kind, layout, spec);
        const accc_convolution &c = call.u.convolution;
        auto x = zeros(sizeOfX(c)), w = zeros(sizeOfW(c)), y = zeros(sizeOfY(c));
        bool forward = kind == ACCC_CALL_CONVOLUTION;
        bool data = kind == ACCC_CALL_CONVOLUTION_BACKWARD_DATA;
        PreparedCall prepared(call, 2,
                              {data ? y : x, forward || data ? w : y,
                               forward ? y
                               : data  ? x
                                       : w});
        double flops = 2.0 * double(sizeOfY(c)) * double(sizeOfW(c)) / double(c.out_channels);
        std::printf(" %8.1f", gigaflops(prepared, flops));
      }
    std::printf("\n");
  }
}
