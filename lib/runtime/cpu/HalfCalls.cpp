// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions of 16-bit floats: in f32, with the operands converted to it in the scratch block and
// the result back unless it is f32. They accumulate in f32 and round once.
#include "LibraryCall.h"
#include "data/HalfFloats.h"

#include <array>

namespace accc::detail {

namespace {

/// Elements from the first that a matmul reads or writes to the last: rows, columns and products by
/// their strides.
int64_t reach(const accc_matmul &p, int64_t rows, int64_t rowStride, int64_t columns,
              int64_t columnStride, const int64_t *batchStrides) {
  if (rows == 0 || columns == 0)
    return 0;
  int64_t last = (rows - 1) * rowStride + (columns - 1) * columnStride;
  for (int32_t d = 0; d < p.batch_rank; ++d) {
    if (p.batch[d] == 0)
      return 0;
    last += (p.batch[d] - 1) * batchStrides[d];
  }
  return last + 1;
}

using Sizes = std::array<int64_t, 3>;

/// Elements of each buffer, in the order of the call's kind.
Sizes sizesOf(const accc_library_call &call) {
  if (call.kind == ACCC_CALL_MATMUL) {
    const accc_matmul &p = call.u.matmul;
    return {reach(p, p.m, p.a_row_stride, p.k, p.a_column_stride, p.a_batch_strides),
            reach(p, p.k, p.b_row_stride, p.n, p.b_column_stride, p.b_batch_strides),
            reach(p, p.m, p.c_row_stride, p.n, p.c_column_stride, p.c_batch_strides)};
  }
  const accc_convolution &c = call.u.convolution;
  int64_t x = c.batch * c.in_channels, w = c.out_channels * (c.in_channels / c.groups),
          y = c.batch * c.out_channels;
  for (int32_t i = 0; i < c.spatial_rank; ++i)
    x *= c.in_size[i], w *= c.kernel[i], y *= c.out_size[i];
  if (call.kind == ACCC_CALL_CONVOLUTION)
    return {x, w, y};
  if (call.kind == ACCC_CALL_CONVOLUTION_BACKWARD_DATA)
    return {y, w, x};
  return {x, y, w};
}

class HalfCall : public LibraryCall {
public:
  HalfCall(const accc_library_call &call, std::unique_ptr<LibraryCall> made, const Team &team)
      : inner(std::move(made)), sizes(sizesOf(call)), isBrain(dtypeOf(call) == ACCC_BF16),
        accumulates(call.kind == ACCC_CALL_MATMUL && call.u.matmul.accumulate),
        isWide(call.dtypes[2] == ACCC_F32), team(team) {
    bytes = roundedUp(inner->scratchBytes());
    for (size_t i = 0; i < (isWide ? 2 : sizes.size()); ++i) {
      offsets[i] = bytes;
      bytes += roundedUp(static_cast<uint64_t>(sizes[i]) * sizeof(float));
    }
  }

  uint64_t scratchBytes() const override { return bytes; }

  void run(char *const *buffers, char *scratch) override {
    std::array<char *, 3> wide{nullptr, nullptr, buffers[2]};
    for (size_t i = 0; i < (isWide ? 2 : wide.size()); ++i) {
      wide[i] = scratch + offsets[i];
      if (i < 2 || accumulates) // every kind names its result last
        widen(reinterpret_cast<const uint16_t *>(buffers[i]), i, wide[i]);
    }
    inner->run(wide.data(), scratch);
    if (!isWide)
      narrow(reinterpret_cast<const float *>(wide[2]), reinterpret_cast<uint16_t *>(buffers[2]));
  }

private:
  static uint64_t roundedUp(uint64_t size) {
    return (size + ACCC_ALIGNMENT - 1) / ACCC_ALIGNMENT * ACCC_ALIGNMENT;
  }

  void widen(const uint16_t *from, size_t which, char *to) const {
    auto *result = reinterpret_cast<float *>(to);
    team.run([&](int thread, int threads) {
      auto [begin, end] = share(sizes[which], thread, threads);
      for (int64_t i = begin; i < end; ++i)
        result[i] = isBrain ? fromBrainFloat(from[i]) : fromHalf(from[i]);
    });
  }

  void narrow(const float *from, uint16_t *to) const {
    team.run([&](int thread, int threads) {
      auto [begin, end] = share(sizes[2], thread, threads);
      for (int64_t i = begin; i < end; ++i)
        to[i] = isBrain ? toBrainFloat(from[i]) : toHalf(from[i]);
    });
  }

  std::unique_ptr<LibraryCall> inner;
  Sizes sizes;
  std::array<uint64_t, 3> offsets;
  bool isBrain, accumulates, isWide;
  const Team &team;
  uint64_t bytes;
};

} // namespace

std::unique_ptr<LibraryCall> createHalfCall(const accc_library_call &call,
                                            std::unique_ptr<LibraryCall> inner, const Team &team) {
  return std::make_unique<HalfCall>(call, std::move(inner), team);
}

} // namespace accc::detail
