// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CublasLt.h"

#include "BiasAfterwards.h"
#include "LibraryFunctions.h"
#include "MatmulOperands.h"
#include "Tuning.h"
#include "accc/tensor.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <cublasLt.h>
#include <limits>
#include <map>
#include <numeric>

namespace accc::detail {

#define ACCC_CUBLASLT_FUNCTIONS(F)                                                                 \
  F(cublasLtCreate)                                                                                \
  F(cublasLtDestroy)                                                                               \
  F(cublasLtGetStatusString)                                                                       \
  F(cublasLtGetVersion)                                                                            \
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

/// So many algorithms are measured where the fastest is looked for.
constexpr size_t mostMeasured = 8;

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
      context.driver.check(context.driver.cuMemsetD2D8Async(buffers.back() + place.c, pitch, 0,
                                                            width, height, context.stream),
                           "clearing the result of an empty product");
  }

private:
  const Context &context;
  std::vector<Offsets> places;
  size_t width = 0, height = 0, pitch = 0;
};

/// A product of many matrices is one of the library's calls where they lie evenly, as one dimension
/// of the batch. Otherwise it is one with the addresses of all matrices, where the library has
/// that, or one call for each place of the largest dimension's first matrix. A bias is its
/// epilogue.
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
    if (dims.size() > 1 && !hasBias() && describeByAddresses(dims, alignment))
      return;
    BatchDim inside{1, 0, 0, 0};
    if (!dims.empty()) {
      auto largest = std::max_element(dims.begin(), dims.end(), [](const auto &x, const auto &y) {
        return x.extent < y.extent;
      });
      inside = *largest;
      dims.erase(largest);
    }
    describe(inside);
    // Algorithms depend on the alignment of the bias, which lies elsewhere in each call.
    if (hasBias())
      setBias(reinterpret_cast<void *>(alignment));
    places = offsetsOf(dims, call);
    choose(alignmentOf(places, alignment));
  }

  /// Whether the library has an algorithm for this; to be asked before any other use. `required`:
  /// throws Error (machine) where it has none.
  bool hasAlgorithm(bool required) const {
    if (state == CUBLAS_STATUS_NOT_SUPPORTED && !required)
      return false;
    functions.check(state, "choosing an algorithm");
    return true;
  }

  uint64_t scratchBytes() const override { return chosen.workspaceSize; }

  void prepare(std::span<const CUdeviceptr> buffers) override {
    if (byAddresses)
      (void)tableOf(buffers);
  }

  void enqueue(std::span<const CUdeviceptr> buffers, CUdeviceptr scratch) override {
    if (hasBias())
      setBias(at(buffers[2]));
    if (byAddresses) {
      CUdeviceptr table = tableOf(buffers);
      multiply(table, table + tableBytes(), table + 2 * tableBytes(), scratch);
      return;
    }
    for (const Offsets &place : places)
      multiply(buffers[0] + place.a, buffers[1] + place.b, buffers.back() + place.c, scratch);
  }

private:
  template <typename Pointer>
  using Descriptor = std::unique_ptr<std::remove_pointer_t<Pointer>, cublasStatus_t (*)(Pointer)>;
  using Layout = Descriptor<cublasLtMatrixLayout_t>;

  static void *at(CUdeviceptr address) { return reinterpret_cast<void *>(address); }
  bool hasBias() const { return call.epilogue == ACCC_EPILOGUE_BIAS; }

  static uint64_t alignmentOf(std::span<const Offsets> places, uint64_t alignment) {
    for (const Offsets &place : places)
      for (uint64_t offset : {place.a, place.b, place.c})
        alignment = std::gcd(alignment, offset);
    return alignment;
  }

  /// Of the factors as the call has them.
  void multiply(CUdeviceptr first, CUdeviceptr second, CUdeviceptr result, CUdeviceptr scratch) {
    if (swapped)
      std::swap(first, second);
    functions.check(functions.cublasLtMatmul(
                        handle, operation.get(), alpha.in(call.dtypes[0]), at(first), a.get(),
                        at(second), b.get(), beta.in(call.dtypes[0]), at(result), c.get(),
                        at(result), c.get(), &chosen.algo, at(scratch), chosen.workspaceSize,
                        reinterpret_cast<cudaStream_t>(context.stream)),
                    "a matrix product");
  }

  /// Whether the library has an algorithm that reads the addresses of all matrices. Libraries
  /// before CUDA 13 know no such mode.
  bool describeByAddresses(std::span<const BatchDim> dims, uint64_t alignment) {
    places = offsetsOf(dims, call);
    if (places.size() > std::numeric_limits<int32_t>::max())
      return false;
    describe({static_cast<int64_t>(places.size()), 0, 0, 0});
    uint32_t mode = CUBLASLT_BATCH_MODE_POINTER_ARRAY;
    for (Layout *layout : {&a, &b, &c})
      if (functions.cublasLtMatrixLayoutSetAttribute(layout->get(),
                                                     CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, &mode,
                                                     sizeof mode) != CUBLAS_STATUS_SUCCESS)
        return false;
    byAddresses = true; // for measurements
    choose(alignmentOf(places, alignment));
    return byAddresses = state == CUBLAS_STATUS_SUCCESS;
  }

  uint64_t tableBytes() const {
    return (places.size() * sizeof(CUdeviceptr) + ACCC_ALIGNMENT - 1) / ACCC_ALIGNMENT *
           ACCC_ALIGNMENT;
  }

  /// The addresses of all matrices in the device's memory: those of A, of B, of C.
  CUdeviceptr tableOf(std::span<const CUdeviceptr> buffers) {
    std::array<CUdeviceptr, 3> key{buffers[0], buffers[1], buffers.back()};
    if (auto known = tables.find(key); known != tables.end())
      return known->second.address();
    size_t count = tableBytes() / sizeof(CUdeviceptr);
    std::vector<CUdeviceptr> addresses(3 * count);
    for (size_t i = 0; i < places.size(); ++i) {
      addresses[i] = key[0] + places[i].a;
      addresses[count + i] = key[1] + places[i].b;
      addresses[2 * count + i] = key[2] + places[i].c;
    }
    constexpr const char *doing = "writing the addresses of matrices";
    DeviceMemory table(context, 3 * tableBytes(), "the addresses of matrices");
    context.driver.check(context.driver.cuMemcpyHtoDAsync(table.address(), addresses.data(),
                                                          table.size(), context.stream),
                         doing);
    context.synchronize(doing);
    return tables.emplace(key, std::move(table)).first->second.address();
  }

  template <typename Value>
  void setOperation(cublasLtMatmulDescAttributes_t attribute, const Value &value) {
    functions.check(
        functions.cublasLtMatmulDescSetAttribute(operation.get(), attribute, &value, sizeof value),
        "describing a matrix product");
  }
  void setBias(void *bias) { setOperation(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias); }

  /// The library's matrices are stored by columns. One stored by rows is its transposed; where that
  /// is the result, the product of the transposed factors in the other order gives it. The library
  /// adds one element of a bias to each row of what it has as the result, so that ours must be by
  /// rows.
  void describe(const BatchDim &batch) {
    auto [left, right, result] = operandsOf(call.u.matmul);
    int64_t leftStride = batch.a, rightStride = batch.b;
    int32_t leftType = call.dtypes[0], rightType = call.dtypes[1];
    swapped = hasBias() || !result.byColumns();
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
    if (hasBias())
      setOperation(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
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
      setOperation(*transposition, turned);
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

  /// Takes the algorithm that the library thinks best, or the fastest of several (isTuningOn). It
  /// counts on 256 bytes of alignment unless it is told.
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
    std::vector<cublasLtMatmulHeuristicResult_t> best(isTuningOn() ? mostMeasured : 1);
    state = functions.cublasLtMatmulAlgoGetHeuristic(handle, operation.get(), a.get(), b.get(),
                                                     c.get(), c.get(), made, int(best.size()),
                                                     best.data(), &found);
    if (state != CUBLAS_STATUS_SUCCESS)
      return;
    chosen = best.front();
    state = found ? chosen.state : CUBLAS_STATUS_NOT_SUPPORTED;
    if (state == CUBLAS_STATUS_SUCCESS && found > 1)
      chooseFastest(std::span(best).first(size_t(found)));
  }

  /// Of algorithms that the library thinks good, the best first.
  void chooseFastest(std::span<const cublasLtMatmulHeuristicResult_t> good) {
    std::vector<uint64_t> bytes{bytesOf(call, 0), bytesOf(call, 1)};
    if (hasBias())
      bytes.push_back(uint64_t(call.u.matmul.n) * size_of(static_cast<DType>(call.dtypes[2])));
    bytes.push_back(bytesOf(call, 2));
    chosen = good[findFastest(context, good.size(), bytes, mostWorkspace,
                              [&](size_t i, std::span<const CUdeviceptr> buffers, CUdeviceptr at) {
                                chosen = good[i];
                                enqueue(buffers, at);
                              })];
    tables.clear(); // of the buffers that were there for this
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
  bool byAddresses = false; // of all matrices; else each place is a call
  std::map<std::array<CUdeviceptr, 3>, DeviceMemory> tables; // by the buffers
  cublasLtMatmulHeuristicResult_t chosen{};
  cublasStatus_t state = CUBLAS_STATUS_NOT_SUPPORTED;
};

} // namespace

std::optional<std::string> CublasLt::whyNot(const accc_library_call &call) {
  auto [a, b, c] = operandsOf(call.u.matmul);
  for (const Matrix &matrix : {a, b, c})
    if (!isTrivial(call.u.matmul) && !matrix.byColumns() && !matrix.byRows())
      return "neither the rows nor the columns of an operand are contiguous";
  if (call.epilogue == ACCC_EPILOGUE_BIAS && !isTrivial(call.u.matmul) && !c.byRows())
    return "a bias for a result whose rows are not contiguous";
  for (const BatchDim &dim : batchOf(call.u.matmul))
    if (dim.extent > std::numeric_limits<int32_t>::max())
      return "a batch of " + std::to_string(dim.extent);
  std::string why;
  return CublasLtFunctions::find(why) ? std::nullopt : std::optional("cuBLASLt: " + why);
}

bool CublasLt::isThere() {
  std::string why;
  return CublasLtFunctions::find(why) != nullptr;
}

uint64_t CublasLt::version() {
  std::string why;
  const CublasLtFunctions *functions = CublasLtFunctions::find(why);
  return functions ? functions->cublasLtGetVersion() : 0;
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

std::unique_ptr<LibraryCall> CublasLt::findMatmul(const accc_library_call &call,
                                                  uint64_t alignment) {
  auto made = std::make_unique<Matmul>(context, functions, static_cast<cublasLtHandle_t>(handle),
                                       call, alignment);
  return made->hasAlgorithm(/*required=*/false) ? std::move(made) : nullptr;
}

std::unique_ptr<LibraryCall> CublasLt::createMatmul(const accc_library_call &call,
                                                    uint64_t alignment) {
  bool trivial = isTrivial(call.u.matmul);
  if (trivial && call.epilogue == ACCC_EPILOGUE_NONE)
    return std::make_unique<EmptyMatmul>(context, call);
  if (!trivial) {
    auto made = std::make_unique<Matmul>(context, functions, static_cast<cublasLtHandle_t>(handle),
                                         call, alignment);
    bool hasBias = call.epilogue == ACCC_EPILOGUE_BIAS;
    if (made->hasAlgorithm(/*required=*/!hasBias))
      return made;
  }
  return addBiasAfterwards(
      context, call, [&](const accc_library_call &part) { return createMatmul(part, alignment); });
}

} // namespace accc::detail
