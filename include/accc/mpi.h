// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The processes of an MPI job as a group (accc/group.h). Link accc::mpi.
#ifndef ACCC_MPI_H
#define ACCC_MPI_H

#include "accc/group.h"

#include <mpi.h>

namespace accc {

/// The processes of `communicator`, of which this makes a duplicate: the program's own messages and
/// those of sessions do not meet. Call it, in all of them, between MPI_Init_thread and
/// MPI_Finalize, before which the group must have been destroyed. Where MPI was initialised with
/// MPI_THREAD_MULTIPLE, processes exchange gradients while they compute the next ones.
std::shared_ptr<Group> mpi_group(MPI_Comm communicator = MPI_COMM_WORLD);

} // namespace accc

#endif // ACCC_MPI_H
