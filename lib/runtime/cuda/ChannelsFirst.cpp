// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ChannelsFirst.h"

#include "accc/tensor.h"

namespace accc::detail {

/// Whether elements have the same places in both, which have the same extents.
static bool liesAlike(const CudnnTensor &a, const CudnnTensor &b) {
  CudnnExtents first = a.strides(), second = b.strides();
  for (int i = 0; i < a.rank; ++i)
    if (a.extents[i] != 1 && first[i] != second[i])
      return false;
  return true;
}

bool ChannelsFirst::isPossible(const accc_library_call &call) {
  const accc_convolution &c = call.u.convolution;
  return c.layout == ACCC_CHANNELS_LAST || c.filter_layout == ACCC_CHANNELS_LAST;
}

accc_library_call ChannelsFirst::convolutionOf(const accc_library_call &call) {
  accc_library_call result = call;
  result.u.convolution.layout = result.u.convolution.filter_layout = ACCC_CHANNELS_FIRST;
  return result;
}

ChannelsFirst::ChannelsFirst(const CudnnSession &session, const accc_library_call &call,
                             std::unique_ptr<LibraryCall> transposed)
    : session(session), dtype(call.dtypes[0]), transposed(std::move(transposed)) {
  auto last = cudnnBuffersOf(call), first = cudnnBuffersOf(convolutionOf(call));
  for (size_t i = 0; i < copies.size(); ++i) {
    if (liesAlike(last[i], first[i]))
      continue;
    copies[i] = Copy{describeTensor(session.functions, dtype, last[i]),
                     describeTensor(session.functions, dtype, first[i]), copiesBytes};
    uint64_t bytes =
        static_cast<uint64_t>(first[i].elements()) * size_of(static_cast<DType>(dtype));
    copiesBytes += (bytes + 255) / 256 * 256;
  }
}

void ChannelsFirst::enqueue(std::span<const CUdeviceptr> buffers, CUdeviceptr scratch) {
  constexpr size_t result = 2;
  std::array<CUdeviceptr, 3> used{};
  for (size_t i = 0; i < used.size(); ++i) {
    used[i] = copies[i] ? scratch + copies[i]->offset : buffers[i];
    if (copies[i] && i != result)
      transform(copies[i]->last, buffers[i], copies[i]->first, used[i]);
  }
  transposed->enqueue(used, scratch + copiesBytes);
  if (copies[result])
    transform(copies[result]->first, used[result], copies[result]->last, buffers[result]);
}

void ChannelsFirst::transform(const CudnnTensorDescriptor &from, CUdeviceptr source,
                              const CudnnTensorDescriptor &to, CUdeviceptr target) const {
  const CudnnFunctions &functions = session.functions;
  functions.check(functions.cudnnTransformTensor(session.handle, cudnnFactor(dtype, true),
                                                 from.get(), reinterpret_cast<void *>(source),
                                                 cudnnFactor(dtype, false), to.get(),
                                                 reinterpret_cast<void *>(target)),
                  "transposing an operand of a convolution");
}

} // namespace accc::detail
