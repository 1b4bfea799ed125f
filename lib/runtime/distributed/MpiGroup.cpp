// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "accc/error.h"
#include "accc/mpi.h"
#include "core/GroupMath.h"

#include <algorithm>
#include <array>
#include <string>

namespace accc {

namespace {

/// MPI counts in an int.
constexpr size_t mostElements = size_t(1) << 30;

void check(int result, const char *doing) {
  if (result == MPI_SUCCESS)
    return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(result, text.data(), &length);
  throw Error(ErrorKind::machine,
              std::string("MPI: ") + doing + ": " + std::string(text.data(), size_t(length)));
}

/// The sum of a 16-bit float type, which MPI does not have.
template <DType type> void addHalves(void *value, void *sum, int *count, MPI_Datatype *) {
  detail::add(sum, value, static_cast<size_t>(*count), type);
}

class MpiGroup final : public Group {
public:
  explicit MpiGroup(MPI_Comm communicator) {
    check(MPI_Comm_dup(communicator, &all), "duplicating a communicator");
    check(MPI_Comm_set_errhandler(all, MPI_ERRORS_RETURN), "setting an error handler");
    check(MPI_Comm_rank(all, &number), "asking for the rank");
    check(MPI_Comm_size(all, &count), "asking for the number of processes");
    MPI_Comm local = MPI_COMM_NULL;
    check(MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, number, MPI_INFO_NULL, &local),
          "finding the processes of this machine");
    check(MPI_Comm_rank(local, &localNumber), "asking for the rank on this machine");
    MPI_Comm_free(&local);
    int level = MPI_THREAD_SINGLE;
    check(MPI_Query_thread(&level), "asking for the support of threads");
    isThreaded = level == MPI_THREAD_MULTIPLE;
    check(MPI_Type_contiguous(2, MPI_BYTE, &half), "making a type of 16 bits");
    check(MPI_Type_commit(&half), "making a type of 16 bits");
    check(MPI_Op_create(addHalves<DType::f16>, /*commute=*/1, &sumF16), "making a sum of f16");
    check(MPI_Op_create(addHalves<DType::bf16>, /*commute=*/1, &sumBf16), "making a sum of bf16");
  }
  ~MpiGroup() override {
    MPI_Op_free(&sumBf16);
    MPI_Op_free(&sumF16);
    MPI_Type_free(&half);
    MPI_Comm_free(&all);
  }

  int rank() const override { return number; }
  int size() const override { return count; }
  int local_rank() const override { return localNumber; }
  bool runs_aside() const override { return isThreaded; }

  void sum(void *data, size_t elements, DType type) override {
    const auto [datatype, op] = meaningOf(type);
    forEachPart(data, elements, size_of(type), [&](void *part, int length) {
      check(MPI_Allreduce(MPI_IN_PLACE, part, length, datatype, op, all), "adding up gradients");
    });
  }

  void broadcast(void *data, size_t bytes) override {
    forEachPart(data, bytes, 1, [&](void *part, int length) {
      check(MPI_Bcast(part, length, MPI_BYTE, 0, all), "sending from the first process");
    });
  }

private:
  std::pair<MPI_Datatype, MPI_Op> meaningOf(DType type) const {
    switch (type) {
    case DType::f32:
      return {MPI_FLOAT, MPI_SUM};
    case DType::f64:
      return {MPI_DOUBLE, MPI_SUM};
    case DType::i64:
      return {MPI_INT64_T, MPI_SUM};
    case DType::f16:
      return {half, sumF16};
    case DType::bf16:
      return {half, sumBf16};
    default:
      throw Error(ErrorKind::bug, "a group does not add up " + std::string(to_string(type)));
    }
  }

  template <typename Work>
  static void forEachPart(void *data, size_t elements, size_t bytes, Work work) {
    for (size_t begin = 0; begin < elements; begin += mostElements)
      work(static_cast<char *>(data) + begin * bytes,
           static_cast<int>(std::min(mostElements, elements - begin)));
  }

  MPI_Comm all = MPI_COMM_NULL;
  MPI_Datatype half = MPI_DATATYPE_NULL;
  MPI_Op sumF16 = MPI_OP_NULL, sumBf16 = MPI_OP_NULL;
  int number = 0, count = 1, localNumber = 0;
  bool isThreaded = false;
};

} // namespace

std::shared_ptr<Group> mpi_group(MPI_Comm communicator) {
  int isInitialised = 0;
  MPI_Initialized(&isInitialised);
  if (!isInitialised)
    throw Error(ErrorKind::usage, "mpi_group: MPI is not initialised: call MPI_Init_thread first");
  return std::make_shared<MpiGroup>(communicator);
}

} // namespace accc
