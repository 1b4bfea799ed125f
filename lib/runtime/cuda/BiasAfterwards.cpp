// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BiasAfterwards.h"

#include "accc/tensor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

namespace accc::detail {

namespace {

/// C += 1 bias: a bias added to the rows of a product that is there, as a product of rank one.
class RowsOfBias {
public:
  /// Of the C of `call`.
  RowsOfBias(const Context &context, const accc_library_call &call)
      : ones(context, static_cast<uint64_t>(call.u.matmul.m) * size_of(typeOfC(call)),
             "a column of ones"),
        product(call) {
    product.epilogue = ACCC_EPILOGUE_NONE;
    product.compute = ACCC_COMPUTE_FULL;
    product.dtypes[0] = product.dtypes[1] = product.dtypes[2];
    accc_matmul &p = product.u.matmul;
    p.k = 1;
    p.accumulate = 1;
    p.a_row_stride = 1, p.a_column_stride = p.m;
    p.b_row_stride = p.n, p.b_column_stride = 1;
    std::ranges::fill(p.a_batch_strides, 0);
    std::ranges::fill(p.b_batch_strides, 0);
    std::vector<char> values(ones.size());
    fillWithOnes(typeOfC(call), values);
    if (values.empty())
      return;
    constexpr const char *doing = "writing a column of ones";
    context.driver.check(context.driver.cuMemcpyHtoDAsync(ones.address(), values.data(),
                                                          values.size(), context.stream),
                         doing);
    context.synchronize(doing);
  }

  const accc_library_call &call() const { return product; }
  CUdeviceptr column() const { return ones.address(); }

private:
  static DType typeOfC(const accc_library_call &call) { return static_cast<DType>(call.dtypes[2]); }
  static void fillWithOnes(DType type, std::span<char> values) {
    // The high half of 1 in f32 is that in bf16.
    uint64_t one = type == DType::f64   ? std::bit_cast<uint64_t>(1.0)
                   : type == DType::f16 ? 0x3c00
                   : type == DType::f32 ? 0x3f800000
                                        : 0x3f80;
    for (size_t at = 0; at < values.size(); at += size_of(type))
      std::memcpy(values.data() + at, &one, size_of(type));
  }

  DeviceMemory ones;
  accc_library_call product;
};

/// A product and then its bias, where the library has no algorithm that adds it.
class BiasAfterwards : public LibraryCall {
public:
  BiasAfterwards(const Context &context, const accc_library_call &call, const CreateProduct &create)
      : plain(call), rows(context, call) {
    plain.epilogue = ACCC_EPILOGUE_NONE;
    product = create(plain);
    bias = create(rows.call());
  }

  uint64_t scratchBytes() const override {
    return std::max(product->scratchBytes(), bias->scratchBytes());
  }

  void enqueue(std::span<const CUdeviceptr> buffers, CUdeviceptr scratch) override {
    product->enqueue(factors(buffers), scratch);
    bias->enqueue(addition(buffers), scratch);
  }

  void prepare(std::span<const CUdeviceptr> buffers) override {
    product->prepare(factors(buffers));
    bias->prepare(addition(buffers));
  }

private:
  using Buffers = std::array<CUdeviceptr, 3>;
  static Buffers factors(std::span<const CUdeviceptr> buffers) {
    return {buffers[0], buffers[1], buffers[3]};
  }
  Buffers addition(std::span<const CUdeviceptr> buffers) const {
    return {rows.column(), buffers[2], buffers[3]};
  }

  accc_library_call plain;
  RowsOfBias rows;
  std::unique_ptr<LibraryCall> product, bias;
};

} // namespace

std::unique_ptr<LibraryCall> addBiasAfterwards(const Context &context,
                                               const accc_library_call &call,
                                               const CreateProduct &create) {
  return std::make_unique<BiasAfterwards>(context, call, create);
}

} // namespace accc::detail
