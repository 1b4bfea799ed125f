// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CublasLt.h"

#include "LibraryFunctions.h"
#include "accc/tensor.h"

#include <algorithm>
#include <cublasLt.h>
#include <limits>
#include <numeric>

namespace accc::detail {

#define ACCC_CUBLASLT_FUNCTIONS(F)                                                                 \
  F(cublasLtCreate)                                                                                \
  F(cublasLtDestroy)                                                                               \
  F(cublasLtGetStatusString)                                                                       \
  F(cublasLtMatmulDescCreate)                                                                      \
  F(cublasLtMatmulDescDestroy)                                                                     \
  F(cublasLtMatmulDescSetAttribute)                                                                \
  F(cublasLtMatrixLayoutCreate)                                                                    \
  F(cublasLtMatrixLayoutDestroy)                                                                   \
  F(cublasLtMatrixLayoutSetAttribute)                                                              \
  F(cublasLtMatmulPreferenceCreate)                                                                \
  F(cublasLtMatmulPreferenceDestroy)                                                               \
  F(cublasLtMatmulPreferenceSetAttribute)                                                          \
  F(cublasLtMatmulAlgoGetHeuristic)                                                                \
  F(cublasLtMatmul)

struct CublasLtFunctions {
  ACCC_LIBRARY_FUNCTIONS(ACCC_CUBLASLT_FUNCTIONS)

  static const CublasLtFunctions *find(std::string &why) {
    return loadOnce<CublasLtFunctions>({"libcublasLt.so.13", "libcublasLt.so.12"}, why);
  }

  void check(cublasStatus_t status, const char *doing) const {
    if (status != CUBLAS_STATUS_SUCCESS)
      throw Error(ErrorKind::machine, std::string("cuBLASLt failed in ") + doing + ": " +
                                          cublasLtGetStatusString(status));
  }
};

namespace {

/// What cuBLASLt may use beside the operands; its documentation recommends as much for Hopper.
constexpr uint64_t mostWorkspace = 32 << 20;

/// rows x columns elements, (i, j) at i * rowStride + j * columnStride.
struct Matrix {
  int64_t rows, columns, rowStride, columnStride;

  Matrix transposed() const { return {columns, rows, columnStride, rowStride}; }
  /// Whether its columns are contiguous, as cuBLASLt has matrices.
  bool byColumns() const {
    return (rowStride == 1 || rows == 1) && (columns == 1 || columnStride >= rows);
  }
  bool byRows() const { return transposed().byColumns(); }
};

struct Operands {
  Matrix a, b, c;
};

Operands operandsOf(const accc_matmul &call) {
  return {{call.m, call.k, call.a_row_stride, call.a_column_stride},
          {call.k, call.n, call.b_row_stride, call.b_column_stride},
          {call.m, call.n, call.c_row_stride, call.c_column_stride}};
}

/// Extent and strides in elements of one dimension of the batch.
struct BatchDim {
  int64_t extent, a, b, c;
};

/// The dimensions of the batch, those that lie as one taken together.
std::vector<BatchDim> batchOf(const accc_matmul &call) {
  std::vector<BatchDim> dims;
  for (int32_t i = 0; i < call.batch_rank; ++i) {
    BatchDim dim{call.batch[i], call.a_batch_strides[i], call.b_batch_strides[i],
                 call.c_batch_strides[i]};
    if (dim.extent == 1)
      continue;
    auto continues = [&](int64_t outer, int64_t inner) { return outer == inner * dim.extent; };
    if (!dims.empty() && continues(dims.back().a, dim.a) && continues(dims.back().b, dim.b) &&
        continues(dims.back().c, dim.c)) {
      dim.extent *= dims.back().extent;
      dims.back() = dim;
    } else {
      dims.push_back(dim);
    }
  }
  return dims;
}

bool hasNothing(const accc_matmul &call) {
  bool empty = call.m == 0 || call.n == 0;
  for (int32_t i = 0; i < call.batch_rank; ++i)
    empty |= call.batch[i] == 0;
  return empty;
}

/// Whether there is nothing to multiply: the library is not asked.
bool isTrivial(const accc_matmul &call) { return hasNothing(call) || call.k == 0; }

cudaDataType_t typeOf(int32_t dtype) {
  switch (dtype) {
  case ACCC_F64:
    return CUDA_R_64F;
  case ACCC_F16:
    return CUDA_R_16F;
  case ACCC_BF16:
    return CUDA_R_16BF;
  default:
    return CUDA_R_32F;
  }
}

cublasComputeType_t computeOf(const accc_library_call &call) {
  if (call.dtypes[0] == ACCC_F64)
    return CUBLAS_COMPUTE_64F;
  return call.compute == ACCC_COMPUTE_TF32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F;
}

/// A factor of a call, 0 or 1, in the type that the sums have.
class Scale {
public:
  explicit Scale(bool one) : single(one), twice(one) {}
  const void *in(int32_t dtype) const {
    return dtype == ACCC_F64 ? static_cast<const void *>(&twice) : &single;
  }

private:
  float single;
  double twice;
};

/// Offsets in bytes of the operands of one of the library's calls.
struct Offsets {
  uint64_t a, b, c;
};

/// Every combination of indices of `dims`.
std::vector<Offsets> offsetsOf(std::span<const BatchDim> dims, const accc_library_call &call) {
  uint64_t size[3];
  for (int i = 0; i < 3; ++i)
    size[i] = size_of(static_cast<DType>(call.dtypes[i]));
  std::vector<Offsets> result{{0, 0, 0}};
  for (const BatchDim &dim : dims) {
    std::vector<Offsets> outer = std::move(result);
    result.clear();
    for (const Offsets &first : outer)
      for (int64_t i = 0; i < dim.extent; ++i)
        result.push_back({first.a + static_cast<uint64_t>(i * dim.a) * size[0],
                          first.b + static_cast<uint64_t>(i * dim.b) * size[1],
                          first.c + static_cast<uint64_t>(i * dim.c) * size[2]});
  }
  return result;
}

/// A product whose result is empty, or a sum of nothing.
class EmptyMatmul : public LibraryCall {
public:
  EmptyMatmul(const Context &context, const accc_library_call &call) : context(context) {
    if (hasNothing(call.u.matmul) || call.u.matmul.accumulate)
      return;
    places = offsetsOf(batchOf(call.u.matmul), call);
    Matrix c = operandsOf(call.u.matmul).c;
    if (!c.byColumns())
      c = c.transposed();
    size_t size = size_of(static_cast<DType>(call.dtypes[2]));
    width = static_cast<size_t>(c.rows) * size;
    height = static_cast<size_t>(c.columns);
    pitch = std::max(static_cast<size_t>(c.columnStride) * size, width);
  }

  void enqueue(std::span<const CUdeviceptr> buffers, CUdeviceptr) override {
    for (const Offsets &place : places)
      context.driver.check(context.driver.cuMemsetD2D8Async(buffers[2] + place.c, pitch, 0, width,
                                                            height, context.stream),
                           "clearing the result of an empty product");
  }

private:
  const Context &context;
  std::vector<Offsets> places;
  size_t width = 0, height = 0, pitch = 0;
};

class Matmul : public LibraryCall {
public:
  Matmul(const Context &context, const CublasLtFunctions &functions, cublasLtHandle_t handle,
         const accc_library_call &call, uint64_t alignment)
      : context(context), functions(functions), handle(handle), call(call),
        beta(call.u.matmul.accumulate != 0),
        operation(nullptr, functions.cublasLtMatmulDescDestroy),
        a(nullptr, functions.cublasLtMatrixLayoutDestroy),
        b(nullptr, functions.cublasLtMatrixLayoutDestroy),
        c(nullptr, functions.cublasLtMatrixLayoutDestroy) {
    // The largest dimension of the batch is the library's, the others are calls of their own.
    std::vector<BatchDim> dims = batchOf(call.u.matmul);
    BatchDim inside{1, 0, 0, 0};
    if (!dims.empty()) {
      auto largest = std::max_element(dims.begin(), dims.end(), [](const auto &x, const auto &y) {
        return x.extent < y.extent;
      });
      inside = *largest;
      dims.erase(largest);
    }
    places = offsetsOf(dims, call);
    for (const Offsets &place : places)
      for (uint64_t offset : {place.a, place.b, place.c})
        alignment = std::gcd(alignment, offset);
    describe(inside);
    choose(alignment);
  }

  uint64_t scratchBytes() const override { return chosen.workspaceSize; }

  void enqueue(std::span<const CUdeviceptr> buffers, CUdeviceptr scratch) override {
    auto at = [](CUdeviceptr address) { return reinterpret_cast<void *>(address); };
    for (const Offsets &place : places) {
      void *first = at(buffers[0] + place.a), *second = at(buffers[1] + place.b),
           *result = at(buffers[2] + place.c);
      if (swapped)
        std::swap(first, second);
      functions.check(functions.cublasLtMatmul(
                          handle, operation.get(), alpha.in(call.dtypes[0]), first, a.get(), second,
                          b.get(), beta.in(call.dtypes[0]), result, c.get(), result, c.get(),
                          &chosen.algo, at(scratch), chosen.workspaceSize,
                          reinterpret_cast<cudaStream_t>(context.stream)),
                      "a matrix product");
    }
  }

private:
  template <typename Pointer>
  using Descriptor = std::unique_ptr<std::remove_pointer_t<Pointer>, cublasStatus_t (*)(Pointer)>;
  using Layout = Descriptor<cublasLtMatrixLayout_t>;

  /// The library's matrices are stored by columns. One stored by rows is its transposed; where that
  /// is the result, the product of the transposed factors in the other order gives it.
  void describe(const BatchDim &batch) {
    auto [left, right, result] = operandsOf(call.u.matmul);
    int64_t leftStride = batch.a, rightStride = batch.b;
    int32_t leftType = call.dtypes[0], rightType = call.dtypes[1];
    swapped = !result.byColumns();
    if (swapped) {
      result = result.transposed();
      left = std::exchange(right, left.transposed()).transposed();
      std::swap(leftStride, rightStride);
      std::swap(leftType, rightType);
    }
    cublasLtMatmulDesc_t made = nullptr;
    functions.check(
        functions.cublasLtMatmulDescCreate(&made, computeOf(call),
                                           call.dtypes[0] == ACCC_F64 ? CUDA_R_64F : CUDA_R_32F),
        "describing a matrix product");
    operation.reset(made);
    describe(a, left, leftType, batch.extent, leftStride, CUBLASLT_MATMUL_DESC_TRANSA);
    describe(b, right, rightType, batch.extent, rightStride, CUBLASLT_MATMUL_DESC_TRANSB);
    describe(c, result, call.dtypes[2], batch.extent, batch.c, std::nullopt);
  }

  void describe(Layout &layout, Matrix matrix, int32_t type, int64_t count, int64_t stride,
                std::optional<cublasLtMatmulDescAttributes_t> transposition) {
    if (transposition) {
      cublasOperation_t turned = matrix.byColumns() ? CUBLAS_OP_N : CUBLAS_OP_T;
      if (turned == CUBLAS_OP_T)
        matrix = matrix.transposed();
      functions.check(functions.cublasLtMatmulDescSetAttribute(operation.get(), *transposition,
                                                               &turned, sizeof turned),
                      "describing a matrix product");
    }
    cublasLtMatrixLayout_t made = nullptr;
    functions.check(functions.cublasLtMatrixLayoutCreate(
                        &made, typeOf(type), static_cast<uint64_t>(matrix.rows),
                        static_cast<uint64_t>(matrix.columns),
                        std::max(matrix.columnStride, matrix.rows)),
                    "describing a matrix");
    layout.reset(made);
    if (count == 1)
      return;
    auto batch = static_cast<int32_t>(count);
    functions.check(functions.cublasLtMatrixLayoutSetAttribute(
                        made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &batch, sizeof batch),
                    "describing a batch of matrices");
    functions.check(functions.cublasLtMatrixLayoutSetAttribute(
                        made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, &stride, sizeof stride),
                    "describing a batch of matrices");
  }

  /// Takes the algorithm that the library thinks best. It counts on 256 bytes of alignment unless
  /// it is told.
  void choose(uint64_t alignment) {
    cublasLtMatmulPreference_t made = nullptr;
    functions.check(functions.cublasLtMatmulPreferenceCreate(&made), "choosing an algorithm");
    Descriptor<cublasLtMatmulPreference_t> preference(made,
                                                      functions.cublasLtMatmulPreferenceDestroy);
    auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
      functions.check(
          functions.cublasLtMatmulPreferenceSetAttribute(made, attribute, &value, sizeof value),
          "choosing an algorithm");
    };
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, mostWorkspace);
    for (auto attribute :
         {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
          CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
      set(attribute, static_cast<uint32_t>(alignment));
    int found = 0;
    functions.check(functions.cublasLtMatmulAlgoGetHeuristic(handle, operation.get(), a.get(),
                                                             b.get(), c.get(), c.get(), made, 1,
                                                             &chosen, &found),
                    "choosing an algorithm");
    functions.check(found ? chosen.state : CUBLAS_STATUS_NOT_SUPPORTED, "choosing an algorithm");
  }

  const Context &context;
  const CublasLtFunctions &functions;
  cublasLtHandle_t handle;
  const accc_library_call &call;
  const Scale alpha{true}, beta;
  bool swapped = false;
  Descriptor<cublasLtMatmulDesc_t> operation;
  Layout a, b, c;
  std::vector<Offsets> places;
  cublasLtMatmulHeuristicResult_t chosen{};
};

} // namespace

std::optional<std::string> CublasLt::whyNot(const accc_library_call &call) {
  auto [a, b, c] = operandsOf(call.u.matmul);
  for (const Matrix &matrix : {a, b, c})
    if (!isTrivial(call.u.matmul) && !matrix.byColumns() && !matrix.byRows())
      return "neither the rows nor the columns of an operand are contiguous";
  for (const BatchDim &dim : batchOf(call.u.matmul))
    if (dim.extent > std::numeric_limits<int32_t>::max())
      return "a batch of " + std::to_string(dim.extent);
  std::string why;
  return CublasLtFunctions::find(why) ? std::nullopt : std::optional("cuBLASLt: " + why);
}

static const CublasLtFunctions &requireFunctions() {
  std::string why;
  if (const CublasLtFunctions *functions = CublasLtFunctions::find(why))
    return *functions;
  throw Error(ErrorKind::machine, "matrix products need cuBLASLt: " + why);
}

CublasLt::CublasLt(const Context &context) : context(context), functions(requireFunctions()) {
  cublasLtHandle_t made = nullptr;
  functions.check(functions.cublasLtCreate(&made), "starting");
  handle = made;
}

CublasLt::~CublasLt() { functions.cublasLtDestroy(static_cast<cublasLtHandle_t>(handle)); }

std::unique_ptr<LibraryCall> CublasLt::createMatmul(const accc_library_call &call,
                                                    uint64_t alignment) {
  if (isTrivial(call.u.matmul))
    return std::make_unique<EmptyMatmul>(context, call);
  return std::make_unique<Matmul>(context, functions, static_cast<cublasLtHandle_t>(handle), call,
                                  alignment);
}

} // namespace accc::detail
