// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stands in for libcublasLt.so: products in double precision, of descriptors that it checks as the
// library does.
#include "Library.h"

#include <cstring>
#include <cublasLt.h>
#include <numeric>
#include <tuple>

using namespace standin;

namespace {

struct Handle {};

struct Operation {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t transA = CUBLAS_OP_N, transB = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  const void *bias = nullptr; // an element of the result's type for each of its rows

  bool hasBias() const { return epilogue == CUBLASLT_EPILOGUE_BIAS; }
  uint32_t biasAlignment() const {
    return static_cast<uint32_t>(std::gcd(reinterpret_cast<uint64_t>(bias), uint64_t(256)));
  }
};

struct Layout {
  cudaDataType_t type;
  uint64_t rows, columns;
  int64_t ld;
  int32_t batch = 1;
  int64_t stride = 0;
  uint32_t mode = CUBLASLT_BATCH_MODE_STRIDED; // else operands are arrays of addresses

  bool hasAddresses() const { return mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY; }
  std::optional<Type> elements() const {
    switch (type) {
    case CUDA_R_16F:
      return Type::F16;
    case CUDA_R_16BF:
      return Type::BF16;
    case CUDA_R_32F:
      return Type::F32;
    case CUDA_R_64F:
      return Type::F64;
    default:
      return std::nullopt;
    }
  }
  bool operator==(const Layout &) const = default;
};

struct Preference {
  uint64_t workspace = 0;
  uint32_t alignment[4] = {256, 256, 256, 256};
};

/// What a chosen algorithm remembers, in the bytes of cublasLtMatmulAlgo_t.
struct Algorithm {
  static constexpr uint32_t right = 0xa160;
  uint32_t magic;
  uint32_t alignment[4], biasAlignment;
  uint64_t workspace, problem;
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

/// What an algorithm is asked to want, to see that it gets it. What lies behind it is not aligned
/// as another workspace has to be.
constexpr uint64_t usualWorkspace = (64 << 10) + 16;

template <typename Ours, typename Theirs> Ours &ours(Theirs *theirs) {
  return *reinterpret_cast<Ours *>(theirs);
}

#define STANDIN_ENTER(name)                                                                        \
  if (auto refused = enterLibrary(#name, CUBLAS_STATUS_SUCCESS, CUBLAS_STATUS_EXECUTION_FAILED,    \
                                  CUBLAS_STATUS_NOT_INITIALIZED))                                  \
  return refused

/// One matrix of a batch.
struct Matrix {
  Matrix(const Layout &layout, CUdeviceptr given, int32_t batch, const char *name)
      : memory(layout.hasAddresses() ? addressAt(given, batch, name) : given, name),
        first(layout.hasAddresses() ? 0 : batch * layout.stride) {}

  Operand memory;
  int64_t first; // its first element in the memory

private:
  static CUdeviceptr addressAt(CUdeviceptr table, int32_t batch, const char *name) {
    CUdeviceptr address = 0;
    std::memcpy(&address,
                Operand(table, name).read(int64_t(batch) * int64_t(sizeof address), sizeof address),
                sizeof address);
    return address;
  }
};

/// A product whose descriptors fit each other.
struct Product {
  uint64_t m, n, k;
  Operation operation;
  Layout a, b, c;

  static std::optional<Product> of(const Operation &operation, const Layout &a, const Layout &b,
                                   const Layout &c);
  uint64_t hash() const;
  void compute(double alpha, CUdeviceptr first, CUdeviceptr second, double beta,
               CUdeviceptr result) const;

private:
  std::vector<double> factors(const Layout &layout, const Matrix &matrix, bool transposed) const;
};

std::optional<Product> Product::of(const Operation &operation, const Layout &a, const Layout &b,
                                   const Layout &c) {
  Product product{
      c.rows, c.columns, operation.transA == CUBLAS_OP_N ? a.columns : a.rows, operation, a, b, c};
  bool turnedA = operation.transA != CUBLAS_OP_N, turnedB = operation.transB != CUBLAS_OP_N;
  for (const Layout *layout : {&a, &b, &c})
    if (!layout->elements() || layout->rows == 0 || layout->columns == 0 || layout->batch < 1 ||
        layout->ld < int64_t(layout->rows) || layout->batch != c.batch || layout->mode != c.mode)
      return std::nullopt;
  if ((turnedA ? a.columns : a.rows) != product.m || (turnedB ? b.rows : b.columns) != product.n ||
      (turnedB ? b.columns : b.rows) != product.k || a.type != b.type)
    return std::nullopt;
  bool isDouble = a.type == CUDA_R_64F, isHalf = a.type == CUDA_R_16F || a.type == CUDA_R_16BF;
  bool fits = operation.compute == CUBLAS_COMPUTE_64F ? isDouble && operation.scale == CUDA_R_64F
              : operation.compute == CUBLAS_COMPUTE_32F
                  ? !isDouble && operation.scale == CUDA_R_32F
                  : operation.compute == CUBLAS_COMPUTE_32F_FAST_TF32 && a.type == CUDA_R_32F &&
                        operation.scale == CUDA_R_32F;
  if (!fits || (c.type != a.type && !(isHalf && c.type == CUDA_R_32F)))
    return std::nullopt;
  if (operation.hasBias() != (operation.bias != nullptr))
    return std::nullopt;
  return product;
}

uint64_t Product::hash() const {
  uint64_t hash = 14695981039346656037u;
  auto add = [&](uint64_t value) { hash = (hash ^ value) * 1099511628211u; };
  for (const Layout *layout : {&a, &b, &c})
    for (uint64_t value :
         {uint64_t(layout->type), layout->rows, layout->columns, uint64_t(layout->ld),
          uint64_t(layout->batch), uint64_t(layout->stride), uint64_t(layout->mode)})
      add(value);
  for (int value : {int(operation.compute), int(operation.transA), int(operation.transB),
                    int(operation.epilogue)})
    add(uint64_t(value));
  return hash;
}

/// The matrix by columns, or its transposed.
std::vector<double> Product::factors(const Layout &layout, const Matrix &matrix,
                                     bool transposed) const {
  uint64_t rows = layout.rows, columns = layout.columns;
  std::vector<double> values(rows * columns);
  for (uint64_t j = 0; j < columns; ++j)
    for (uint64_t i = 0; i < rows; ++i) {
      double value = load(matrix.memory, *layout.elements(),
                          matrix.first + int64_t(j) * layout.ld + int64_t(i));
      if (operation.compute == CUBLAS_COMPUTE_32F_FAST_TF32)
        value = roundedToTf32(value);
      values[transposed ? i * columns + j : j * rows + i] = value;
    }
  return values;
}

void Product::compute(double alpha, CUdeviceptr first, CUdeviceptr second, double beta,
                      CUdeviceptr result) const {
  std::optional<Operand> bias;
  if (operation.hasBias())
    bias.emplace(reinterpret_cast<CUdeviceptr>(operation.bias), "the bias");
  for (int32_t batch = 0; batch < c.batch; ++batch) {
    // Rows of A and columns of B, each contiguous.
    auto left = factors(a, {a, first, batch, "A"}, operation.transA == CUBLAS_OP_N),
         right = factors(b, {b, second, batch, "B"}, operation.transB != CUBLAS_OP_N);
    Matrix to(c, result, batch, "C");
    for (uint64_t j = 0; j < n; ++j)
      for (uint64_t i = 0; i < m; ++i) {
        double sum = 0;
        for (uint64_t l = 0; l < k; ++l)
          sum += left[i * k + l] * right[j * k + l];
        int64_t place = to.first + int64_t(j) * c.ld + int64_t(i);
        double before = beta == 0 ? 0 : beta * load(to.memory, *c.elements(), place);
        double added = bias ? load(*bias, *c.elements(), int64_t(i)) : 0;
        store(to.memory, *c.elements(), place, alpha * sum + before + added);
      }
  }
}

} // namespace

cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle) {
  STANDIN_ENTER(cublasLtCreate);
  *handle = reinterpret_cast<cublasLtHandle_t>(new Handle);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete &ours<Handle>(handle);
  return CUBLAS_STATUS_SUCCESS;
}

size_t cublasLtGetVersion() { return CUBLAS_VERSION; }

const char *cublasLtGetStatusString(cublasStatus_t status) {
  switch (status) {
  case CUBLAS_STATUS_NOT_INITIALIZED:
    return "CUBLAS_STATUS_NOT_INITIALIZED";
  case CUBLAS_STATUS_INVALID_VALUE:
    return "CUBLAS_STATUS_INVALID_VALUE";
  case CUBLAS_STATUS_NOT_SUPPORTED:
    return "CUBLAS_STATUS_NOT_SUPPORTED";
  case CUBLAS_STATUS_EXECUTION_FAILED:
    return "CUBLAS_STATUS_EXECUTION_FAILED";
  default:
    return "CUBLAS_STATUS_UNKNOWN";
  }
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *made, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  STANDIN_ENTER(cublasLtMatmulDescCreate);
  *made = reinterpret_cast<cublasLtMatmulDesc_t>(new Operation{compute, scale});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t operation) {
  delete &ours<Operation>(operation);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t operation,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void *value, size_t bytes) {
  STANDIN_ENTER(cublasLtMatmulDescSetAttribute);
  auto &own = ours<Operation>(operation);
  auto set = [&](auto &member) {
    if (bytes != sizeof member)
      return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&member, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (attribute) {
  case CUBLASLT_MATMUL_DESC_TRANSA:
    return set(own.transA);
  case CUBLASLT_MATMUL_DESC_TRANSB:
    return set(own.transB);
  case CUBLASLT_MATMUL_DESC_EPILOGUE:
    return set(own.epilogue);
  case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
    return set(own.bias);
  default:
    return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *made, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t ld) {
  STANDIN_ENTER(cublasLtMatrixLayoutCreate);
  *made = reinterpret_cast<cublasLtMatrixLayout_t>(new Layout{type, rows, columns, ld});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete &ours<Layout>(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void *value, size_t bytes) {
  STANDIN_ENTER(cublasLtMatrixLayoutSetAttribute);
  auto &own = ours<Layout>(layout);
  auto set = [&](auto &member) {
    if (bytes != sizeof member)
      return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&member, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  };
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT)
    return set(own.batch);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET)
    return set(own.stride);
  if (attribute == CUBLASLT_MATRIX_LAYOUT_BATCH_MODE &&
      setting("STANDIN_CUBLASLT", "") != "strided")
    return set(own.mode);
  return CUBLAS_STATUS_INVALID_VALUE;
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *made) {
  STANDIN_ENTER(cublasLtMatmulPreferenceCreate);
  *made = reinterpret_cast<cublasLtMatmulPreference_t>(new Preference);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete &ours<Preference>(preference);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void *value, size_t bytes) {
  STANDIN_ENTER(cublasLtMatmulPreferenceSetAttribute);
  auto &own = ours<Preference>(preference);
  auto set = [&](auto &member) {
    if (bytes != sizeof member)
      return CUBLAS_STATUS_INVALID_VALUE;
    std::memcpy(&member, value, bytes);
    return CUBLAS_STATUS_SUCCESS;
  };
  switch (attribute) {
  case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
    return set(own.workspace);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    return set(own.alignment[0]);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    return set(own.alignment[1]);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    return set(own.alignment[2]);
  case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
    return set(own.alignment[3]);
  default:
    return CUBLAS_STATUS_INVALID_VALUE;
  }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t operation,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int wanted,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int *found) {
  STANDIN_ENTER(cublasLtMatmulAlgoGetHeuristic);
  *found = 0;
  auto product =
      Product::of(ours<Operation>(operation), ours<Layout>(a), ours<Layout>(b), ours<Layout>(c));
  if (!product || ours<Layout>(c) != ours<Layout>(d) || wanted < 1)
    return CUBLAS_STATUS_INVALID_VALUE;
  std::string can = setting("STANDIN_CUBLASLT", "");
  if (can == "nothing" || (product->operation.hasBias() && can == "plain"))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  auto &own = ours<Preference>(preference);
  Algorithm algorithm{Algorithm::right,
                      {},
                      product->operation.biasAlignment(),
                      std::min(own.workspace, usualWorkspace),
                      product->hash()};
  std::memcpy(algorithm.alignment, own.alignment, sizeof own.alignment);
  results[0] = {};
  std::memcpy(&results[0].algo, &algorithm, sizeof algorithm);
  results[0].workspaceSize = algorithm.workspace;
  results[0].state = CUBLAS_STATUS_SUCCESS;
  *found = std::min(wanted, 2); // as if there were two
  results[*found - 1] = results[0];
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t operation, const void *alpha,
                              const void *a, cublasLtMatrixLayout_t aLayout, const void *b,
                              cublasLtMatrixLayout_t bLayout, const void *beta, const void *c,
                              cublasLtMatrixLayout_t cLayout, void *d,
                              cublasLtMatrixLayout_t dLayout, const cublasLtMatmulAlgo_t *algo,
                              void *workspace, size_t workspaceBytes, cudaStream_t stream) {
  STANDIN_ENTER(cublasLtMatmul);
  auto product = Product::of(ours<Operation>(operation), ours<Layout>(aLayout),
                             ours<Layout>(bLayout), ours<Layout>(cLayout));
  Algorithm algorithm;
  std::memcpy(&algorithm, algo, sizeof algorithm);
  auto workspaceAt = reinterpret_cast<CUdeviceptr>(workspace);
  if (!product || ours<Layout>(cLayout) != ours<Layout>(dLayout) || c != d ||
      algorithm.magic != Algorithm::right || algorithm.problem != product->hash() ||
      product->operation.biasAlignment() % algorithm.biasAlignment ||
      workspaceBytes < algorithm.workspace || (algorithm.workspace && workspaceAt % 256))
    return CUBLAS_STATUS_INVALID_VALUE;
  const void *pointers[] = {a, b, c, d};
  for (int i = 0; i < 4; ++i) // an array's addresses are looked at when they are read
    if (reinterpret_cast<uint64_t>(pointers[i]) %
        (product->c.hasAddresses() ? sizeof(CUdeviceptr) : algorithm.alignment[i]))
      return CUBLAS_STATUS_INVALID_VALUE;
  Type type = *product->a.elements();
  double factor = scaleFactor(alpha, type), kept = scaleFactor(beta, type);
  bool taken = submit(reinterpret_cast<CUstream>(stream), workspaceAt, algorithm.workspace, [=] {
    product->compute(factor, reinterpret_cast<CUdeviceptr>(a), reinterpret_cast<CUdeviceptr>(b),
                     kept, reinterpret_cast<CUdeviceptr>(d));
  });
  return taken ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}
