// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stands in for libnccl.so among processes of one machine, each with a stand-in for the driver of
// its own: they meet in shared memory. All must make the same calls in the same order, which it
// checks; who waits for others for a minute gives up.
#include "Library.h"

#include <nccl.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace standin;

#define STANDIN_ENTER(name)                                                                        \
  if (auto refused = enterLibrary(#name, ncclSuccess, ncclInternalError, ncclInvalidUsage))        \
  return refused

namespace {

constexpr int mostRanks = 16;
constexpr size_t chunk = 1 << 16; // elements

/// What a process is about to do.
struct Call {
  int32_t kind, type;
  uint64_t count;
  bool operator==(const Call &) const = default;
};

/// In shared memory, zeros at first.
struct Meeting {
  std::atomic<uint64_t> arrivals;
  Call calls[mostRanks];
  double values[mostRanks][chunk];
};

enum Kind { allReduceAverage = 1, allReduceSum, allReduceMaximum, broadcastBytes };

} // namespace

struct ncclComm {
  Meeting *meeting = nullptr;
  int rank = 0, size = 1;
  uint64_t arrivals = 0; // all that there will have been when this process was last here

  void arrive() {
    arrivals += static_cast<uint64_t>(size);
    ++meeting->arrivals;
    const auto begin = std::chrono::steady_clock::now();
    while (meeting->arrivals < arrivals) {
      ::usleep(50);
      if (std::chrono::steady_clock::now() - begin > std::chrono::minutes(1))
        throw Fault{CUDA_ERROR_LAUNCH_TIMEOUT, "another process does not join a collective"};
    }
  }
  /// Checks that all do the same.
  void begin(const Call &call) {
    meeting->calls[rank] = call;
    arrive();
    for (int other = 0; other < size; ++other)
      if (meeting->calls[other] != call)
        throw Fault{CUDA_ERROR_LAUNCH_FAILED, "processes make different collectives"};
    arrive();
  }
};

namespace {

/// Of shared memory, which is nobody's when the process that began a group ends.
struct Names {
  std::vector<std::string> all;
  ~Names() {
    for (const std::string &name : all)
      ::shm_unlink(name.c_str());
  }
};

std::string lastError;
int groups = 0; // that were started

ncclResult_t refuse(const char *why) {
  lastError = why;
  return ncclInvalidArgument;
}

/// Runs work(begin, count) chunk by chunk, each in two parts: what is sent, and what is received.
template <typename Send, typename Receive>
void forEachChunk(ncclComm &comm, uint64_t count, Send send, Receive receive) {
  for (uint64_t begin = 0; begin < count; begin += chunk) {
    const uint64_t part = std::min<uint64_t>(chunk, count - begin);
    for (uint64_t i = 0; i < part; ++i)
      comm.meeting->values[comm.rank][i] = send(begin + i);
    comm.arrive();
    for (uint64_t i = 0; i < part; ++i)
      receive(begin + i, i);
    comm.arrive();
  }
}

/// Of a mean each multiplies what it sends; the sum is that of NCCL's ring in one of its orders.
void add(ncclComm &comm, Type type, bool isMean, CUdeviceptr from, CUdeviceptr to, uint64_t count) {
  comm.begin({isMean ? allReduceAverage : allReduceSum, static_cast<int32_t>(type), count});
  Operand in(from, "what is sent"), out(to, "what is received");
  const Type factors = type == Type::F64 ? Type::F64 : Type::F32;
  const double factor = isMean ? rounded(1.0 / comm.size, factors) : 1.0;
  forEachChunk(
      comm, count,
      [&](uint64_t i) { return rounded(load(in, type, static_cast<int64_t>(i)) * factor, type); },
      [&](uint64_t i, uint64_t place) {
        double sum = comm.meeting->values[0][place];
        for (int rank = 1; rank < comm.size; ++rank)
          sum = rounded(sum + comm.meeting->values[rank][place], type);
        store(out, type, static_cast<int64_t>(i), sum);
      });
}

void maximum(ncclComm &comm, CUdeviceptr from, CUdeviceptr to, uint64_t count) {
  comm.begin({allReduceMaximum, 0, count});
  Operand in(from, "what is sent"), out(to, "what is received");
  auto offset = [](uint64_t i) { return static_cast<int64_t>(i * sizeof(int64_t)); };
  forEachChunk(
      comm, count,
      [&](uint64_t i) {
        int64_t value;
        std::memcpy(&value, in.read(offset(i), sizeof value), sizeof value);
        return static_cast<double>(value);
      },
      [&](uint64_t i, uint64_t place) {
        double most = comm.meeting->values[0][place];
        for (int rank = 1; rank < comm.size; ++rank)
          most = std::max(most, comm.meeting->values[rank][place]);
        auto value = static_cast<int64_t>(most);
        std::memcpy(out.write(offset(i), sizeof value), &value, sizeof value);
      });
}

void broadcast(ncclComm &comm, CUdeviceptr from, CUdeviceptr to, uint64_t bytes) {
  comm.begin({broadcastBytes, 0, bytes});
  Operand in(from, "what is sent"), out(to, "what is received");
  forEachChunk(
      comm, bytes,
      [&](uint64_t i) {
        return comm.rank == 0 ? static_cast<double>(*in.read(static_cast<int64_t>(i), 1)) : 0;
      },
      [&](uint64_t i, uint64_t place) {
        *out.write(static_cast<int64_t>(i), 1) =
            static_cast<std::byte>(comm.meeting->values[0][place]);
      });
}

ncclResult_t take(cudaStream_t stream, Work work) {
  return submit(reinterpret_cast<CUstream>(stream), 0, 0, std::move(work)) ? ncclSuccess
                                                                           : ncclInvalidArgument;
}

CUdeviceptr address(const void *pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

std::optional<Type> typeOf(ncclDataType_t type) {
  switch (type) {
  case ncclHalf:
    return Type::F16;
  case ncclBfloat16:
    return Type::BF16;
  case ncclFloat:
    return Type::F32;
  case ncclDouble:
    return Type::F64;
  default:
    return std::nullopt;
  }
}

} // namespace

const char *ncclGetErrorString(ncclResult_t result) {
  return result == ncclSuccess           ? "no error"
         : result == ncclInternalError   ? "internal error"
         : result == ncclInvalidArgument ? "invalid argument"
         : result == ncclInvalidUsage    ? "invalid usage"
                                         : "unhandled error";
}

const char *ncclGetLastError(ncclComm_t) { return lastError.c_str(); }

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  STANDIN_ENTER(ncclGetUniqueId);
  static Names names;
  const std::string name =
      "/standin-nccl-" + std::to_string(::getpid()) + "-" + std::to_string(names.all.size());
  names.all.push_back(name);
  int file = ::shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
  if (file < 0 || ::ftruncate(file, sizeof(Meeting)) != 0)
    return refuse("no shared memory");
  ::close(file);
  std::memset(id, 0, sizeof *id);
  std::memcpy(id->internal, name.data(), name.size());
  return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t *made, int size, ncclUniqueId id, int rank) {
  STANDIN_ENTER(ncclCommInitRank);
  if (rank < 0 || rank >= size || size > mostRanks)
    return refuse("no such rank");
  int file = ::shm_open(id.internal, O_RDWR, 0600);
  if (file < 0)
    return refuse("no such group");
  void *memory = ::mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED)
    return refuse("no shared memory");
  *made = new ncclComm{static_cast<Meeting *>(memory), rank, size};
  try {
    (*made)->arrive();
  } catch (const Fault &fault) {
    return refuse(fault.text.c_str());
  }
  return ncclSuccess;
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) {
  ::munmap(comm->meeting, sizeof(Meeting));
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
  STANDIN_ENTER(ncclGroupStart);
  ++groups;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  STANDIN_ENTER(ncclGroupEnd);
  return groups-- > 0 ? ncclSuccess : refuse("no group was started");
}

ncclResult_t ncclAllReduce(const void *from, void *to, size_t count, ncclDataType_t type,
                           ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  STANDIN_ENTER(ncclAllReduce);
  if (op == ncclMax && type == ncclInt64)
    return take(stream, [=] { maximum(*comm, address(from), address(to), count); });
  if (auto element = typeOf(type); element && (op == ncclAvg || op == ncclSum))
    return take(stream,
                [=] { add(*comm, *element, op == ncclAvg, address(from), address(to), count); });
  return refuse("a reduction that nobody needed so far");
}

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count, ncclDataType_t type, int root,
                           ncclComm_t comm, cudaStream_t stream) {
  STANDIN_ENTER(ncclBroadcast);
  if (type != ncclUint8 || root != 0)
    return refuse("a broadcast that nobody needed so far");
  return take(stream, [=] { broadcast(*comm, address(from), address(to), count); });
}
