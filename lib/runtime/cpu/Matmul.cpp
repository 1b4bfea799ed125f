// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batched matrix products by oneDNN. Those of bf16 are its matmul primitive's: 380 to 480 GFLOP/s
// on a Zen 5 core where f32 has 120 to 250. To those of f32 it has two ways. Measured with
// oneDNN 2.6.3, sgemm : matmul primitive, in GFLOP/s, m x n x k:
//
// clang-format off
//   two Zen 5 cores (peak about 530)
//   one product, nothing transposed    512 x 768 x 3072   517 : 440    512 x 768 x 50257  507 : 356
//   b transposed (x w' of a linear)    512 x 768 x 3072   385 : 480     64 x 2048 x 512   220 : 400
//   a transposed (its dw)             3072 x 768 x 512    492 : 519  50257 x 768 x 512    488 : 447
//   a transposed, k small             2048 x 512 x 64     214 : 260 (one thread)
//   24 of 256 x 64 x 256              sgemm a thread, nothing transposed  506 : 529, a transposed 492 : 402
//   768 of 49 x 32 x 49               nothing transposed 312 : 486, b transposed 175 : 232
//
//   one core of a Xeon with AVX-512
//   a transposed                      2048 x 2048 x 512   106 : 89    3072 x 1024 x 1024   97 : 80
//   a transposed, many rows, n small  2048 x 512 x 1024    69 : 93    1536 x 384 x 1568    79 : 94
//                                    32000 x 288 x 1024    94 : 111
//   a transposed, fewer rows          1152 x 384 x 1568    94 : 89     768 x 192 x 6272    84 : 86
//   few rows, b transposed              16 x 2048 x 512    55 : 63, of panels : 95
//
//   two cores of a Xeon with AVX-512 (peak about 280), operands not in the cache
//   b transposed                      1024 x 768 x 768    189 : 174   1024 x 3072 x 768   202 : 171
//                                     1024 x 2304 x 768   196 : 171   1024 x 768 x 3072   166 : 183
// clang-format on
//
// On Zen 4 the primitive is far worse where nothing is transposed (134 : 205). Copying b into the
// layout that the primitive would choose costs more than it gains for all but one of these, if only
// one product reads it. So: the primitive where b is transposed (on Intel's CPUs, for which sgemm
// is made, only with few rows or a large k) or lies in panels, where a is and k is small, or the
// result long and narrow and k large, and for batches; else sgemm.
#include "Instructions.h"
#include "LibraryCall.h"
#include "MatmulShape.h"
#include "OneDnn.h"

#include <array>
#include <atomic>
#include <string_view>

namespace accc::detail {

namespace {

[[noreturn]] void refused(dnnl_status_t status) {
  throw Error(ErrorKind::machine,
              std::string("oneDNN refused a matrix product: ") + dnnl_status2str(status));
}

struct Operands {
  const float *a, *b;
  float *c;
};

/// Every product by itself, through sgemm where that has words for its strides.
class ProductByProduct : public LibraryCall {
public:
  ProductByProduct(MatmulShape shape, bool accumulate, const Team &team)
      : p(std::move(shape)), accumulate(accumulate), team(team) {}

  void run(char *const *buffers, char *) override {
    if (p.m == 0 || p.n == 0 || p.products == 0)
      return;
    Operands start = {reinterpret_cast<const float *>(buffers[p.swapped ? 1 : 0]),
                      reinterpret_cast<const float *>(buffers[p.swapped ? 0 : 1]),
                      reinterpret_cast<float *>(buffers[2])};
    // Where there are products enough, every thread does whole ones: sgemm inside a parallel region
    // keeps to one thread, and nobody waits for anybody. Else all threads share each product.
    if (p.products > 1 && p.products >= team.threads())
      return runInParallel(start);
    for (int64_t i = 0; i < p.products; ++i)
      if (dnnl_status_t status = one(start, i))
        refused(status);
  }

private:
  void runInParallel(const Operands &start) const {
    std::atomic<dnnl_status_t> status{dnnl_success};
    team.run([&](int thread, int threads) {
      auto [begin, end] = share(p.products, thread, threads);
      for (int64_t i = begin; i < end; ++i)
        if (dnnl_status_t failed = one(start, i))
          status = failed;
    });
    if (status != dnnl_success)
      refused(status);
  }

  dnnl_status_t one(Operands at, int64_t index) const {
    for (size_t d = p.loops.size(); d-- > 0;) {
      int64_t i = index % p.loops[d].extent;
      index /= p.loops[d].extent;
      at.a += i * p.loops[d].a;
      at.b += i * p.loops[d].b;
      at.c += i * p.loops[d].c;
    }
    if (p.k == 0 || !p.fitsBlas()) {
      general(at);
      return dnnl_success;
    }
    return dnnl_sgemm(p.a->transposed ? 'T' : 'N', p.b->transposed ? 'T' : 'N', p.m, p.n, p.k, 1.0f,
                      at.a, p.a->lead, at.b, p.b->lead, accumulate ? 1.0f : 0.0f, at.c, p.c->lead);
  }

  /// Any strides and extents. Slow and rare; the sum is taken in double precision.
  void general(const Operands &at) const {
    for (int64_t i = 0; i < p.m; ++i)
      for (int64_t j = 0; j < p.n; ++j) {
        float &target = at.c[i * p.cRow + j * p.cColumn];
        double sum = accumulate ? target : 0.0;
        for (int64_t k = 0; k < p.k; ++k)
          sum += double(at.a[i * p.aRow + k * p.aColumn]) * at.b[k * p.bRow + j * p.bColumn];
        target = static_cast<float>(sum);
      }
  }

  MatmulShape p;
  bool accumulate;
  const Team &team;
};

/// Many products of matrices so small that a call of a library takes longer than its work: 10 to 30
/// ns each on a Zen 4 core, where sgemm takes 100 to 250.
class TinyProducts : public LibraryCall {
public:
  static constexpr int64_t mostColumns = 8, mostOfA = 64, leastProducts = 16;

  static bool fits(const MatmulShape &p) {
    return p.m > 0 && p.k > 0 && p.n > 0 && p.n <= mostColumns && p.m * p.k <= mostOfA &&
           p.products >= leastProducts;
  }

  TinyProducts(MatmulShape shape, bool accumulate, const Team &team)
      : p(std::move(shape)), accumulate(accumulate), team(team) {
    static constexpr Function functions[] = {&TinyProducts::some<1>, &TinyProducts::some<2>,
                                             &TinyProducts::some<3>, &TinyProducts::some<4>,
                                             &TinyProducts::some<5>, &TinyProducts::some<6>,
                                             &TinyProducts::some<7>, &TinyProducts::some<8>};
    static_assert(std::size(functions) == mostColumns);
    function = functions[p.n - 1];
  }

  void run(char *const *buffers, char *) override {
    Operands start = {reinterpret_cast<const float *>(buffers[p.swapped ? 1 : 0]),
                      reinterpret_cast<const float *>(buffers[p.swapped ? 0 : 1]),
                      reinterpret_cast<float *>(buffers[2])};
    team.run([&](int thread, int threads) {
      auto [begin, end] = share(p.products, thread, threads);
      (this->*function)(start, begin, end);
    });
  }

private:
  using Function = void (TinyProducts::*)(const Operands &, int64_t, int64_t) const;

  /// Products [begin, end), of N columns.
  template <int N> void some(const Operands &start, int64_t begin, int64_t end) const {
    for (int64_t product = begin; product < end; ++product) {
      Operands at = start;
      int64_t index = product;
      for (size_t d = p.loops.size(); d-- > 0;) {
        int64_t i = d == 0 ? index : index % p.loops[d].extent;
        index = d == 0 ? 0 : index / p.loops[d].extent;
        at.a += i * p.loops[d].a;
        at.b += i * p.loops[d].b;
        at.c += i * p.loops[d].c;
      }
      for (int64_t i = 0; i < p.m; ++i) {
        float sum[N] = {};
        for (int64_t k = 0; k < p.k; ++k) {
          const float x = at.a[i * p.aRow + k * p.aColumn];
          for (int j = 0; j < N; ++j)
            sum[j] += x * at.b[k * p.bRow + j * p.bColumn];
        }
        for (int j = 0; j < N; ++j) {
          float &target = at.c[i * p.cRow + j * p.cColumn];
          target = accumulate ? target + sum[j] : sum[j];
        }
      }
    }
  }

  MatmulShape p;
  bool accumulate;
  const Team &team;
  Function function;
};

using dnnl::memory;

/// oneDNN's word for panels of so many columns, where the rows are a multiple of 16.
std::optional<memory::format_tag> panelsOf(int64_t width) {
  switch (width) {
  case 64:
    return memory::format_tag::BA16a64b;
  case 48:
    return memory::format_tag::BA16a48b;
  case 32:
    return memory::format_tag::BA16a32b;
  case 16:
    return memory::format_tag::BA16a16b;
  default:
    return std::nullopt;
  }
}

/// The operands as oneDNN sees them.
struct Descriptions {
  memory::desc a, b, c;

  Descriptions(const MatmulShape &p, memory::data_type factors, memory::data_type result) {
    if (factors == memory::data_type::f32 && isOneWithPanels(p)) {
      const int64_t n = p.n * p.products;
      a = {{p.m, p.k}, factors, strides(*p.a)};
      b = {{p.k, n}, factors, *panelsOf(p.n)};
      c = {{p.m, n}, result, strides(*p.c)};
      return;
    }
    memory::dims da, db, dc, sa, sb, sc;
    auto add = [](memory::dims &dims, memory::dims &strides, int64_t extent, int64_t stride) {
      dims.push_back(stride ? extent : 1); // oneDNN's word for "the same for all" is extent 1
      strides.push_back(stride ? stride : 1);
    };
    for (const BatchLoop &loop : p.loops) {
      add(da, sa, loop.extent, loop.a);
      add(db, sb, loop.extent, loop.b);
      add(dc, sc, loop.extent, loop.c);
    }
    auto addMatrix = [](memory::dims &dims, memory::dims &into, int64_t rows, int64_t columns,
                        const MatrixLayout &layout) {
      dims.insert(dims.end(), {rows, columns});
      const memory::dims own = strides(layout);
      into.insert(into.end(), own.begin(), own.end());
    };
    addMatrix(da, sa, p.m, p.k, *p.a);
    addMatrix(db, sb, p.k, p.n, *p.b);
    addMatrix(dc, sc, p.m, p.n, *p.c);
    a = {da, factors, sa};
    b = {db, factors, sb};
    c = {dc, result, sc};
  }

  /// True for products of f32 that oneDNN can do as one, as it knows where their panels lie.
  static bool isOneWithPanels(const MatmulShape &p) {
    return p.fitsBlas() && p.bInPanels() && p.k % 16 == 0 && panelsOf(p.n);
  }

private:
  static memory::dims strides(const MatrixLayout &layout) {
    return layout.transposed ? memory::dims{1, layout.lead} : memory::dims{layout.lead, 1};
  }
};

/// All products as one matmul primitive.
class MatmulPrimitive : public LibraryCall {
public:
  MatmulPrimitive(const MatmulShape &p, bool accumulate, memory::data_type factors,
                  memory::data_type result)
      : swapped(p.swapped) {
    const auto [a, b, c] = Descriptions(p, factors, result);
    dnnl::primitive_attr attr = userScratchpad();
    if (accumulate) {
      dnnl::post_ops sum;
      sum.append_sum(1.0f);
      attr.set_post_ops(sum);
    }
    dnnl::matmul::primitive_desc desc(dnnl::matmul::desc(a, b, c), attr, cpuEngine());
    implementation = desc.impl_info_str();
    primitive = dnnl::matmul(desc);
    memories = {memory(a, cpuEngine(), nullptr), memory(b, cpuEngine(), nullptr),
                memory(c, cpuEngine(), nullptr),
                memory(desc.scratchpad_desc(), cpuEngine(), nullptr)};
    const int names[] = {DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST, DNNL_ARG_SCRATCHPAD};
    for (size_t i = 0; i < memories.size(); ++i)
      arguments[i] = {names[i], memories[i].get()};
  }

  /// Otherwise it is a slow implementation, or sgemm with more words.
  bool isFast() const { return implementation.starts_with("brg"); }

  uint64_t scratchBytes() const override { return memories[3].get_desc().get_size(); }

  void run(char *const *buffers, char *scratch) override {
    memories[0].set_data_handle(buffers[swapped ? 1 : 0]);
    memories[1].set_data_handle(buffers[swapped ? 0 : 1]);
    memories[2].set_data_handle(buffers[2]);
    memories[3].set_data_handle(scratch);
    // Through the C interface: the C++ one builds a map and a vector for every call.
    dnnl_status_t status = dnnl_primitive_execute(
        primitive.get(), cpuStream().get(), static_cast<int>(arguments.size()), arguments.data());
    if (status != dnnl_success)
      refused(status);
  }

private:
  bool swapped;
  std::string implementation;
  dnnl::primitive primitive;
  std::array<memory, 4> memories; // a, b, c, scratchpad
  std::array<dnnl_exec_arg_t, 4> arguments;
};

/// Whether oneDNN has words for it, and something to do.
bool mayBePrimitive(const MatmulShape &p) {
  return p.k != 0 && p.m != 0 && p.n != 0 && p.products != 0 && p.fitsBlas();
}

/// Nothing where it would be slow, or the strides are none that oneDNN knows.
std::unique_ptr<LibraryCall> createPrimitive(const MatmulShape &p, bool accumulate,
                                             memory::data_type factors, memory::data_type result) {
  try {
    auto primitive = std::make_unique<MatmulPrimitive>(p, accumulate, factors, result);
    return primitive->isFast() ? std::move(primitive) : nullptr;
  } catch (const dnnl::error &) {
    return nullptr;
  }
}

/// The rule that the measurements above speak for.
bool prefersPrimitive(const MatmulShape &p) {
  if (!mayBePrimitive(p))
    return false;
  if (Descriptions::isOneWithPanels(p))
    return true;
  if (p.a->transposed) {
    bool kSmall = p.k <= 128 && p.m * p.n >= 1 << 16;
    bool kLarge = p.k >= 1024 && p.m >= 1536 && p.n <= 512;
    return p.products == 1 && (kSmall || kLarge);
  }
  if (p.products == 1 && isIntel() && p.m >= 64 && p.k < 2048)
    return false;
  return p.products > 1 || p.b->transposed;
}

} // namespace

std::unique_ptr<LibraryCall> createMatmul(const accc_matmul &matmul, const Team &team) {
  MatmulShape shape(matmul);
  if (TinyProducts::fits(shape))
    return std::make_unique<TinyProducts>(std::move(shape), matmul.accumulate != 0, team);
  if (prefersPrimitive(shape))
    if (auto primitive = createPrimitive(shape, matmul.accumulate != 0, memory::data_type::f32,
                                         memory::data_type::f32))
      return primitive;
  return std::make_unique<ProductByProduct>(std::move(shape), matmul.accumulate != 0, team);
}

std::unique_ptr<LibraryCall> createBrainMatmul(const accc_library_call &call) {
  MatmulShape shape(call.u.matmul);
  if (!multipliesBrainFloats() || !mayBePrimitive(shape))
    return nullptr;
  auto result = call.dtypes[2] == ACCC_F32 ? memory::data_type::f32 : memory::data_type::bf16;
  return createPrimitive(shape, call.u.matmul.accumulate != 0, memory::data_type::bf16, result);
}

} // namespace accc::detail
