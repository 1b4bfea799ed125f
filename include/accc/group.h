// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Processes that train one model together: each runs a session of its own on rows of its own, and
// the training steps of a library that was compiled with --data-parallel average their gradients.
#ifndef ACCC_GROUP_H
#define ACCC_GROUP_H

#include "accc/tensor.h"

#include <cstddef>
#include <memory>
#include <vector>

namespace accc {

/// One process's place in a group, and its way to the others. mpi_group() (accc/mpi.h) gives those
/// of an MPI job, thread_groups() those of threads; a program may have a transport of its own.
///
/// All processes make the same calls in the same order, each of which returns when this process's
/// part is done. A session makes them one at a time. They throw Error where others cannot be
/// reached.
class Group {
public:
  Group() = default;
  Group(const Group &) = delete;
  Group &operator=(const Group &) = delete;
  virtual ~Group() = default;

  /// From 0 on.
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// The number among the processes of the same machine, from 0 on: which of its GPUs to use.
  virtual int local_rank() const { return rank(); }

  /// Replaces `count` elements by the sums of those of all processes. These must get the same bits.
  /// `type` is f32, f64, f16, bf16 or i64.
  virtual void sum(void *data, size_t count, DType type) = 0;
  /// Replaces `bytes` bytes by those of the process of rank 0.
  virtual void broadcast(void *data, size_t bytes) = 0;

  /// Whether another thread than the session's may make the calls: what does not need their results
  /// then runs meanwhile.
  virtual bool runs_aside() const { return false; }
};

/// A group of `size` threads of this process: a place for each. The same steps as those of several
/// processes, on one machine: for tests, or to use several GPUs. Whoever waits for a place that is
/// destroyed gets an Error.
std::vector<std::shared_ptr<Group>> thread_groups(int size);

} // namespace accc

#endif // ACCC_GROUP_H
