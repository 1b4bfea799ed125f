// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LibraryCall.h"

#include "CublasLt.h"
#include "Cudnn.h"
#include "PixelConvolution.h"
#include "SpreadPixels.h"
#include "accc/tensor.h"
#include "core/CheckCall.h"

namespace accc::detail {

namespace {

/// Types that the libraries know, with the sums that accc_compute names.
std::optional<std::string> whyTypes(const accc_library_call &call) {
  auto [a, b, result] = call.dtypes;
  auto name = [](int32_t type) {
    auto known = dtype_of(type);
    return known ? std::string(to_string(*known)) : "an unknown type";
  };
  bool isHalf = a == ACCC_F16 || a == ACCC_BF16;
  if (isAttention(call) && (!isHalf || b != a || result != a))
    return "queries and keys of " + name(a) + ", values of " + name(b) + " and a result of " +
           name(result) + ", not all of f16 or all of bf16";
  bool isFloat = a == ACCC_F32 || a == ACCC_F64 || isHalf;
  // Products of 16-bit factors may keep the f32 of their sums.
  bool isWide = call.kind == ACCC_CALL_MATMUL && result == ACCC_F32 && isHalf;
  if (!isFloat || a != b || (result != a && !isWide))
    return "operands of " + name(a) + " and " + name(b) + " with a result of " + name(result);
  if (call.compute != ACCC_COMPUTE_FULL && (call.compute != ACCC_COMPUTE_TF32 || a != ACCC_F32))
    return "number " + std::to_string(call.compute) + " of accc_compute for " + name(a);
  return std::nullopt;
}

} // namespace

std::optional<std::string> whyCudaCannot(const accc_library_call &call) {
  if (auto wrong = whyCallIsWrong(call))
    return wrong;
  auto why = whyTypes(call);
  if (!why)
    why = call.kind == ACCC_CALL_MATMUL ? CublasLt::whyNot(call) : Cudnn::whyNot(call);
  return why ? std::optional(kindName(call) + ": " + *why) : std::nullopt;
}

Libraries::Libraries(const Context &context) : context(context) {}
Libraries::~Libraries() = default;

CublasLt &Libraries::cublasLt() {
  if (!products)
    products = std::make_unique<CublasLt>(context);
  return *products;
}

Cudnn &Libraries::cudnn() {
  if (!graphs)
    graphs = std::make_unique<Cudnn>(context);
  return *graphs;
}

/// A convolution as products of matrices; null where these are not faster, or cuBLASLt has them
/// not.
std::unique_ptr<LibraryCall> Libraries::findProducts(const accc_library_call &convolution,
                                                     uint64_t alignment) {
  if (!PixelConvolution::isFaster(convolution) || !CublasLt::isThere())
    return nullptr;
  return PixelConvolution::create(context, cublasLt(), convolution, alignment);
}

LibraryCall &Libraries::find(const accc_library_call &call, uint64_t alignment) {
  std::string bytes(reinterpret_cast<const char *>(&call), sizeof call);
  Made &found = calls.try_emplace({std::move(bytes), alignment}, Made{call, nullptr}).first->second;
  if (!found.made)
    found.made = create(found.call, alignment);
  return *found.made;
}

std::unique_ptr<LibraryCall> Libraries::create(const accc_library_call &call, uint64_t alignment) {
  if (call.kind == ACCC_CALL_MATMUL)
    return cublasLt().createMatmul(call, alignment);
  if (isAttention(call))
    return cudnn().createAttention(call, alignment);
  if (auto made = findProducts(call, alignment))
    return made;
  if (SpreadPixels::isPossible(call))
    if (auto dense = findProducts(SpreadPixels::denseOf(call), alignment))
      return cudnn().spread(call, std::move(dense));
  return cudnn().createConvolution(call, alignment);
}

} // namespace accc::detail
