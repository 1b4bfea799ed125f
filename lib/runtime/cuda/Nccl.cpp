// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Nccl.h"

#include "LibraryFunctions.h"
#include "accc/error.h"
#include "accc/model.h"
#include "core/Agreement.h"

#include <nccl.h>

namespace accc::detail {

#define ACCC_NCCL_FUNCTIONS(F)                                                                     \
  F(ncclGetUniqueId)                                                                               \
  F(ncclCommInitRank)                                                                              \
  F(ncclCommDestroy)                                                                               \
  F(ncclAllReduce)                                                                                 \
  F(ncclBroadcast)                                                                                 \
  F(ncclGroupStart)                                                                                \
  F(ncclGroupEnd)                                                                                  \
  F(ncclGetErrorString)                                                                            \
  F(ncclGetLastError)

struct NcclFunctions {
  ACCC_LIBRARY_FUNCTIONS(ACCC_NCCL_FUNCTIONS)

  static const NcclFunctions *find(std::string &why) {
    return loadOnce<NcclFunctions>({"libnccl.so.2"}, why);
  }

  std::string whyFailed(ncclResult_t result, const char *doing) const {
    const char *more = ncclGetLastError(nullptr);
    return std::string("NCCL failed in ") + doing + ": " + ncclGetErrorString(result) +
           (more && *more ? std::string(" (") + more + ")" : "");
  }
  void check(ncclResult_t result, const char *doing) const {
    if (result != ncclSuccess)
      throw Error(ErrorKind::machine, whyFailed(result, doing));
  }
};

namespace {

ncclDataType_t typeOf(DType type) {
  switch (type) {
  case DType::f64:
    return ncclDouble;
  case DType::f16:
    return ncclHalf;
  case DType::bf16:
    return ncclBfloat16;
  default:
    return ncclFloat;
  }
}

/// Tells all processes of a group whether one of them cannot go on, and why this one cannot.
void requireAll(Group &group, const std::string &why) {
  const bool canAll = isTrueForAll(group, why.empty());
  if (!why.empty())
    throw Error(ErrorKind::machine, why);
  if (!canAll)
    throw Error(ErrorKind::machine, "another process of the group has no GPU to train on with this "
                                    "one, and says why");
}

void *pointer(CUdeviceptr address) { return reinterpret_cast<void *>(address); }

} // namespace

Nccl::Nccl(const Context &context, Group &group) : context(context) {
  std::string why;
  functions = NcclFunctions::find(why);
  if (!functions)
    why = "training on the GPUs of several processes needs " + why;
  requireAll(group, why);
  ncclUniqueId id = {};
  if (group.rank() == 0)
    if (ncclResult_t result = functions->ncclGetUniqueId(&id); result != ncclSuccess)
      why = functions->whyFailed(result, "beginning a group");
  requireAll(group, why);
  group.broadcast(&id, sizeof id);
  ncclComm_t made = nullptr;
  if (ncclResult_t result = functions->ncclCommInitRank(&made, group.size(), id, group.rank());
      result != ncclSuccess)
    why = functions->whyFailed(result, "joining a group") + "; each process needs a GPU of its own";
  communicator = {made, {functions}};
  requireAll(group, why);
}

void Nccl::Leave::operator()(void *communicator) const {
  functions->ncclCommDestroy(static_cast<ncclComm_t>(communicator));
}

void Nccl::enqueue(const accc_collective &collective, std::span<const accc_buffer> buffers,
                   std::span<const CUdeviceptr> addresses) const {
  const auto type = static_cast<DType>(collective.dtype);
  auto *comm = static_cast<ncclComm_t>(communicator.get());
  const size_t count = buffers.size() / 2;
  const ncclRedOp_t reduction = collective.kind == ACCC_ALL_REDUCE_SUM ? ncclSum : ncclAvg;
  functions->check(functions->ncclGroupStart(), "exchanging tensors");
  for (size_t i = 0; i < count; ++i) {
    const uint64_t bytes = buffers[i].bytes;
    const void *from = pointer(addresses[i]);
    void *to = pointer(addresses[count + i]);
    if (bytes == 0)
      continue;
    functions->check(
        collective.kind == ACCC_BROADCAST
            ? functions->ncclBroadcast(from, to, bytes, ncclUint8, 0, comm, context.stream)
            : functions->ncclAllReduce(from, to, bytes / size_of(type), typeOf(type), reduction,
                                       comm, context.stream),
        "exchanging tensors");
  }
  functions->check(functions->ncclGroupEnd(), "exchanging tensors");
}

void Nccl::enqueueMaximum(CUdeviceptr number) const {
  functions->check(functions->ncclAllReduce(pointer(number), pointer(number), 1, ncclInt64, ncclMax,
                                            static_cast<ncclComm_t>(communicator.get()),
                                            context.stream),
                   "agreeing to go on");
}

} // namespace accc::detail
