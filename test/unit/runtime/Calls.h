// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Library calls built, filled with numbers and run, for tests and measurements.
#ifndef ACCC_TEST_RUNTIME_CALLS_H
#define ACCC_TEST_RUNTIME_CALLS_H

#include "cpu/LibraryCall.h"
#include "cpu/Memory.h"

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace accc::test {

/// Numbers in [-1, 1) that are the same in every run.
std::vector<float> randomFloats(size_t count, uint32_t seed);

/// A call made ready for `threads` threads, with aligned buffers of its own.
class PreparedCall {
public:
  PreparedCall(const accc_library_call &call, int threads,
               std::initializer_list<std::vector<float>> contents);
  void run();
  float *buffer(size_t index) { return reinterpret_cast<float *>(pointers.at(index)); }
  uint64_t scratchBytes() const { return scratch.size(); }

private:
  detail::Team team;
  std::vector<detail::Memory> memory;
  std::vector<char *> pointers;
  std::unique_ptr<detail::LibraryCall> prepared;
  detail::Memory scratch;
};

/// a [batch, m, k] * b [batch, k, n] -> c [batch, m, n], dense in rows; a flag lays a matrix out
/// transposed.
accc_library_call matmul(int64_t batch, int64_t m, int64_t n, int64_t k, bool aTransposed = false,
                         bool bTransposed = false, bool cTransposed = false);

/// How a convolution is written in tables. Extents are per spatial dimension; the output's follow.
struct ConvolutionSpec {
  std::string name;
  int64_t batch, inChannels, outChannels, groups;
  std::vector<int64_t> in, kernel, stride, dilation, low, high;
};
accc_library_call convolution(accc_call_kind kind, accc_layout layout, const ConvolutionSpec &spec,
                              accc_layout filterLayout = ACCC_CHANNELS_FIRST);

/// How an attention is written in tables.
struct AttentionSpec {
  std::string name;
  int64_t batch, heads, keyHeads, queries, keys, features, valueFeatures;
  bool causal = false;
  bool headsInside = false; ///< [batch, position, head, feature] in memory, else heads outside
  /// Of a bias: which of "bhq", batch, heads and queries, it does not repeat along; null: none.
  const char *bias = nullptr;
  /// q, k and v lie in one buffer, those of a position side by side, and so do their gradients.
  bool packed = false;
};
/// Of bf16.
accc_library_call attention(accc_call_kind kind, const AttentionSpec &spec);

/// Elements of x, w and y.
int64_t sizeOfX(const accc_convolution &c);
int64_t sizeOfW(const accc_convolution &c);
int64_t sizeOfY(const accc_convolution &c);

} // namespace accc::test

#endif // ACCC_TEST_RUNTIME_CALLS_H
