// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Library calls take nothing of what lies beside their tensors: not into a result, which is the
// same whether that is zeros or NaNs, and nothing is written there.
#include "CallReference.h"
#include "Calls.h"
#include "Support.h"
#include "accc/tensor.h"
#include "data/HalfFloats.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>

using namespace accc;
using namespace accc::test;

namespace {

/// A block of memory with as much on both sides as a kernel may come to by mistake.
class Amid {
public:
  Amid(size_t bytes, char beside)
      : bytes(bytes), beside(beside), all(bytes + 2 * kMargin, "a block") {
    std::memset(all.data(), beside, bytes + 2 * kMargin);
  }

  char *data() { return all.data() + kMargin; }
  std::vector<char> contents() { return {data(), data() + bytes}; }
  bool isUntouchedBeside() {
    auto isSame = [&](char byte) { return byte == beside; };
    return std::all_of(all.data(), data(), isSame) &&
           std::all_of(data() + bytes, data() + bytes + kMargin, isSame);
  }

private:
  static constexpr size_t kMargin = 1 << 16; // a multiple of ACCC_ALIGNMENT

  size_t bytes;
  char beside;
  detail::Memory all;
};

/// What the call makes of the same numbers with this byte all around.
std::vector<char> resultAmid(const accc_library_call &call, std::array<size_t, 3> sizes,
                             char beside) {
  detail::Team team(1);
  detail::Team::Scope scope(team);
  auto prepared = detail::createLibraryCall(call, team);
  std::vector<Amid> blocks;
  std::array<char *, 3> buffers;
  for (size_t i = 0; i < sizes.size(); ++i) {
    auto type = static_cast<DType>(call.dtypes[i]);
    blocks.emplace_back(sizes[i] * size_of(type), beside);
    std::vector<float> values = randomFloats(sizes[i], uint32_t(i) + 1);
    for (size_t k = 0; k < values.size(); ++k)
      if (type == DType::bf16) {
        uint16_t brain = detail::toBrainFloat(values[k]);
        std::memcpy(blocks.back().data() + k * sizeof brain, &brain, sizeof brain);
      } else {
        std::memcpy(blocks.back().data() + k * sizeof(float), &values[k], sizeof(float));
      }
  }
  blocks.emplace_back(prepared->scratchBytes(), beside);
  for (size_t i = 0; i < buffers.size(); ++i)
    buffers[i] = blocks[i].data();
  prepared->run(buffers.data(), blocks[3].data());
  for (Amid &block : blocks)
    CHECK(block.isUntouchedBeside());
  return blocks[2].contents();
}

void check(accc_library_call call, std::array<size_t, 3> sizes) {
  for (int32_t dtype : {ACCC_F32, ACCC_BF16}) {
    INFO("type " << dtype);
    std::ranges::fill(call.dtypes, dtype);
    if (!detail::whyCpuCannot(call))
      CHECK(resultAmid(call, sizes, 0) == resultAmid(call, sizes, '\xff'));
  }
}

void check(const ConvolutionSpec &spec) {
  for (accc_call_kind kind : {ACCC_CALL_CONVOLUTION, ACCC_CALL_CONVOLUTION_BACKWARD_DATA,
                              ACCC_CALL_CONVOLUTION_BACKWARD_WEIGHTS})
    for (accc_layout layout : {ACCC_CHANNELS_FIRST, ACCC_CHANNELS_LAST}) {
      INFO(spec.name << ", kind " << kind << ", layout " << layout);
      accc_library_call call = convolution(kind, layout, spec);
      auto [first, second, result] = operandSizes(call);
      check(call, {first, second, result});
    }
}

/// With windows of any place, from pixels to such as are larger than the image.
ConvolutionSpec randomSpec(std::mt19937 &engine) {
  auto among = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(engine);
  };
  ConvolutionSpec spec;
  spec.groups = among(0, 3) ? 1 : among(2, 4);
  spec.batch = among(1, 3);
  spec.inChannels = spec.groups * among(1, 40);
  spec.outChannels = spec.groups * among(1, 40);
  int64_t rank = among(1, 3);
  bool pixel = among(0, 3) == 0;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t kernel = pixel ? 1 : among(1, 7), dilation = pixel ? 1 : among(1, 2);
    int64_t low = among(0, kernel - 1), high = among(0, kernel - 1);
    spec.kernel.push_back(kernel);
    spec.dilation.push_back(dilation);
    spec.stride.push_back(among(1, 3));
    spec.low.push_back(low);
    spec.high.push_back(high);
    spec.in.push_back(std::max<int64_t>((kernel - 1) * dilation + 1 - low - high, 1) + among(0, 6));
  }
  return spec;
}

} // namespace

TEST_CASE("library calls: what lies beside a convolution's tensors does not count") {
  for (const ConvolutionSpec &spec : convolutionSpecs)
    check(spec);
  // Of oneDNN 2.6.3's kernels for weights one takes planes that there are not.
  check({"planes", 2, 5, 7, 1, {4, 4, 3}, {4, 1, 1}, {2, 1, 1}, {1, 1, 1}, {3, 0, 0}, {2, 0, 0}});
  check({"planes", 1, 4, 8, 1, {6, 3, 2}, {6, 2, 1}, {3, 1, 1}, {1, 1, 1}, {5, 1, 0}, {5, 0, 0}});
  std::mt19937 engine(1);
  for (int i = 0; i < 150; ++i)
    check(randomSpec(engine));
}

TEST_CASE("library calls: what lies beside a product's tensors does not count") {
  auto flags = GENERATE(range(0, 8));
  for (const auto &[batch, m, n, k] : matmulExtents) {
    INFO(flags << ", " << batch << " x " << m << " x " << n << " x " << k);
    check(matmul(batch, m, n, k, flags & 1, flags & 2, flags & 4),
          {size_t(batch * m * k), size_t(batch * k * n), size_t(batch * m * n)});
  }
}
