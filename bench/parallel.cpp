// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times training steps in the processes of an MPI job (bench/parallel.py).
//
//   mpirun -n N parallel LIBRARY.so BATCH.safetensors SECONDS together|alone|serial
//
// `together` averages gradients beside the backward pass, `serial` when the step comes to them;
// `alone` has no group: each process trains for itself. The learning rate is 0, so that steps are
// alike. Prints the median of rank 0, in ms.
#include "accc/accc.h"
#include "accc/mpi.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

using Clock = std::chrono::steady_clock;

static void measure(char **arguments) {
  const std::string_view how = arguments[4];
  auto group = accc::mpi_group();
  const accc::TensorMap batch = accc::load_safetensors(arguments[2]);
  accc::Trainer trainer(accc::Model::load(arguments[1]),
                        {.learning_rate = 0, .group = how == "alone" ? nullptr : group});
  const double seconds = std::atof(arguments[3]);
  std::vector<double> times;
  constexpr size_t warm = 2, least = 5;
  for (int64_t more = 1; more;) {
    const auto begin = Clock::now();
    trainer.step(batch).loss();
    const std::chrono::duration<double> taken = Clock::now() - begin;
    times.push_back(taken.count());
    double sum = 0;
    for (size_t i = warm; i < times.size(); ++i)
      sum += times[i];
    more = sum < seconds || times.size() < warm + least;
    group->broadcast(&more, sizeof more); // all take as many steps
  }
  times.erase(times.begin(), times.begin() + warm);
  std::sort(times.begin(), times.end());
  if (group->rank() == 0)
    std::printf("%.3f\n", times[times.size() / 2] * 1e3);
}

int main(int argc, char **argv) {
  int threads = 0;
  const bool isSerial = argc == 5 && std::string_view(argv[4]) == "serial";
  MPI_Init_thread(&argc, &argv, isSerial ? MPI_THREAD_FUNNELED : MPI_THREAD_MULTIPLE, &threads);
  try {
    if (argc != 5)
      throw accc::Error(accc::ErrorKind::usage, "four arguments are needed");
    measure(argv);
  } catch (const accc::Error &error) {
    std::fprintf(stderr, "parallel: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, error.exit_code());
  }
  MPI_Finalize();
  return 0;
}
