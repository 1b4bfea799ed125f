// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "BiasAfterwards.h"

#include "Ones.h"

#include <algorithm>
#include <array>

namespace accc::detail {

namespace {

/// C += 1 bias: a bias added to the rows of a product that is there, as a product of rank one.
class RowsOfBias {
public:
  /// Of the C of `call`.
  RowsOfBias(const Context &context, const accc_library_call &call)
      : ones(makeOnes(context, static_cast<DType>(call.dtypes[2]),
                      static_cast<uint64_t>(call.u.matmul.m))),
        product(call) {
    product.epilogue = ACCC_EPILOGUE_NONE;
    product.compute = ACCC_COMPUTE_FULL;
    product.dtypes[0] = product.dtypes[1] = product.dtypes[2];
    accc_matmul &p = product.u.matmul;
    p.k = 1;
    p.accumulate = 1;
    p.a_offset = p.b_offset = 0;
    p.a_row_stride = 1, p.a_column_stride = p.m;
    p.b_row_stride = p.n, p.b_column_stride = 1;
    std::ranges::fill(p.a_batch_strides, 0);
    std::ranges::fill(p.b_batch_strides, 0);
  }

  const accc_library_call &call() const { return product; }
  CUdeviceptr column() const { return ones.address(); }

private:
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
