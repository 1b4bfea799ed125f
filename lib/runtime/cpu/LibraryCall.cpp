// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LibraryCall.h"
#include "Memory.h"

#include "accc/tensor.h"
#include "core/CheckCall.h"

#include <algorithm>
#include <cstring>

namespace accc::detail {

namespace {

/// Below this a single core is done in some 8 us. Waking the team saves half of that at best, costs
/// about 1 us, and a time slice of some ms where another process has one of the cores.
constexpr double worthSharing = 2e6;

double flops(const accc_library_call &call) {
  double product = 2;
  if (call.kind == ACCC_CALL_MATMUL) {
    const accc_matmul &p = call.u.matmul;
    for (int32_t i = 0; i < p.batch_rank; ++i)
      product *= double(p.batch[i]);
    return product * double(p.m) * double(p.n) * double(p.k);
  }
  const accc_convolution &c = call.u.convolution;
  for (int32_t i = 0; i < c.spatial_rank; ++i)
    product *= double(c.out_size[i] * c.kernel[i]);
  return product * double(c.batch * c.out_channels) * double(c.in_channels / c.groups);
}

/// As if the operands were f32.
std::unique_ptr<LibraryCall> createInF32(const accc_library_call &call, const Team &team) {
  if (call.kind == ACCC_CALL_MATMUL)
    return createMatmul(call.u.matmul, team);
  return createConvolution(static_cast<accc_call_kind>(call.kind), call.u.convolution, team);
}

std::unique_ptr<LibraryCall> createPlain(const accc_library_call &call, const Team &team) {
  if (dtypeOf(call) == ACCC_F64)
    return createDoubleCall(call, team);
  if (dtypeOf(call) == ACCC_BF16)
    if (auto made = call.kind == ACCC_CALL_MATMUL
                        ? createBrainMatmul(call)
                        : createBrainConvolution(static_cast<accc_call_kind>(call.kind),
                                                 call.u.convolution))
      return made;
  if (dtypeOf(call) == ACCC_F16 || dtypeOf(call) == ACCC_BF16)
    return createHalfCall(call, createInF32(call, team), team);
  return createInF32(call, team);
}

/// A product with a bias: added to rows that hold the bias already.
class OnBias : public LibraryCall {
public:
  OnBias(const accc_library_call &call, const Team &team) : product(call) {
    product.epilogue = ACCC_EPILOGUE_NONE;
    product.u.matmul.accumulate = 1;
    inner = createPlain(product, team);
  }
  uint64_t scratchBytes() const override { return inner->scratchBytes(); }
  void run(char *const *buffers, char *scratch) override {
    repeat(buffers[2], buffers[3], 0);
    char *const own[] = {buffers[0], buffers[1], buffers[3]};
    inner->run(own, scratch);
  }

private:
  /// Writes the bias into every row, for all indices of the batch's dimensions from `dimension` on.
  void repeat(const char *bias, char *to, int32_t dimension) const {
    const accc_matmul &p = product.u.matmul;
    auto size = static_cast<int64_t>(size_of(static_cast<DType>(product.dtypes[2])));
    if (dimension < p.batch_rank) {
      for (int64_t i = 0; i < p.batch[dimension]; ++i)
        repeat(bias, to + i * p.c_batch_strides[dimension] * size, dimension + 1);
      return;
    }
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j)
        std::memcpy(to + (i * p.c_row_stride + j * p.c_column_stride) * size, bias + j * size,
                    static_cast<size_t>(size));
  }

  accc_library_call product;
  std::unique_ptr<LibraryCall> inner;
};

std::unique_ptr<LibraryCall> create(const accc_library_call &call, const Team &team);

/// A product of factors that do not lie at the beginning of their buffers.
class AtOffsets : public LibraryCall {
public:
  AtOffsets(const accc_library_call &call, const Team &team) : whole(call) {
    accc_library_call product = call;
    product.u.matmul.a_offset = product.u.matmul.b_offset = 0;
    inner = create(product, team);
  }
  uint64_t scratchBytes() const override { return inner->scratchBytes(); }
  void run(char *const *buffers, char *scratch) override {
    const accc_matmul &p = whole.u.matmul;
    auto at = [&](int operand, int64_t offset) {
      auto size = static_cast<int64_t>(size_of(static_cast<DType>(whole.dtypes[operand])));
      return buffers[operand] + offset * size;
    };
    char *own[] = {at(0, p.a_offset), at(1, p.b_offset), buffers[2],
                   whole.epilogue == ACCC_EPILOGUE_BIAS ? buffers[3] : nullptr};
    inner->run(own, scratch);
  }

private:
  accc_library_call whole;
  std::unique_ptr<LibraryCall> inner;
};

std::unique_ptr<LibraryCall> create(const accc_library_call &call, const Team &team) {
  if (call.kind == ACCC_CALL_MATMUL && (call.u.matmul.a_offset || call.u.matmul.b_offset))
    return std::make_unique<AtOffsets>(call, team);
  if (call.epilogue == ACCC_EPILOGUE_BIAS)
    return std::make_unique<OnBias>(call, team);
  return createPlain(call, team);
}

/// A call that the calling thread does alone.
class OnOneThread : public LibraryCall {
public:
  explicit OnOneThread(const accc_library_call &call) {
    Team::Scope scope(one); // oneDNN fixes the number of threads when it generates its code
    inner = create(call, one);
  }
  uint64_t scratchBytes() const override { return inner->scratchBytes(); }
  void run(char *const *buffers, char *scratch) override {
    Team::Scope scope(one);
    inner->run(buffers, scratch);
  }

private:
  Team one{1};
  std::unique_ptr<LibraryCall> inner;
};

} // namespace

std::optional<std::string> whyCpuCannot(const accc_library_call &call) {
  if (auto wrong = whyCallIsWrong(call))
    return wrong;
  std::string kind = kindName(call);
  if (isAttention(call))
    return kind + ": this runtime has no such call; compile with --no-library-attention";
  auto [a, b, result] = call.dtypes;
  bool isHalf = a == ACCC_F16 || a == ACCC_BF16;
  // Products of 16-bit factors may keep the f32 of their sums.
  bool isWide = call.kind == ACCC_CALL_MATMUL && isHalf && result == ACCC_F32;
  if (a != b || (result != a && !isWide))
    return kind + " of operands of different types";
  if (call.compute != ACCC_COMPUTE_FULL)
    return kind + " with reduced precision";
  if (call.kind != ACCC_CALL_MATMUL && call.u.convolution.filter_layout != ACCC_CHANNELS_FIRST)
    return kind + " with a filter channels last";
  auto type = dtype_of(dtypeOf(call));
  if (type != DType::f32 && type != DType::f64 && type != DType::f16 && type != DType::bf16)
    return kind + " of " + (type ? std::string(to_string(*type)) : "an unknown type") +
           " (floats are supported)";
  return std::nullopt;
}

// oneDNN crashes where it finds no memory for its code: some of it is generated with a call, some
// of it when the first one is run.
void requireMemoryForCode() {
  constexpr uint64_t most = 16 << 20; // of one call
  Memory(most, "the code that oneDNN generates");
}

std::unique_ptr<LibraryCall> createLibraryCall(const accc_library_call &call, const Team &team) {
  requireMemoryForCode();
  if (team.threads() > 1 && flops(call) < worthSharing)
    return std::make_unique<OnOneThread>(call);
  return create(call, team);
}

} // namespace accc::detail
