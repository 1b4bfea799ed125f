// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Trains one model with several processes, each on its share of every batch:
//
//   mpirun -n 2 data_parallel
//
// The library was compiled with --data-parallel: its training step averages the gradients of all
// processes, bucket by bucket, while it computes the next ones.
#include "accc/accc.h"
#include "accc/mpi.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int64_t kBatch = 64; // rows of all processes together

/// The rows `which` of images and labels, as a batch.
accc::TensorMap take(const accc::Tensor &images, const accc::Tensor &labels, const int64_t *which,
                     int64_t count) {
  std::vector<int64_t> shape(images.shape().begin(), images.shape().end());
  const int64_t pixels = images.size() / shape[0];
  shape[0] = count;
  accc::Tensor rows(accc::DType::f32, shape), target(accc::DType::i64, {count});
  for (int64_t i = 0; i < count; ++i) {
    std::copy_n(images.data<float>().begin() + which[i] * pixels, pixels,
                rows.data<float>().begin() + i * pixels);
    target.data<int64_t>()[i] = labels.data<int64_t>()[which[i]];
  }
  return {{"images", std::move(rows)}, {"target", std::move(target)}};
}

int train(const std::string &library, int epochs, const std::string &output) {
  std::shared_ptr<accc::Group> group = accc::mpi_group();
  const int rank = group->rank(), processes = group->size();
  const int64_t share = kBatch / processes;
  if (share * processes != kBatch)
    throw accc::Error(accc::ErrorKind::usage, "a batch of 64 rows has no equal shares for " +
                                                  std::to_string(processes) +
                                                  " processes: start 1, 2 or 4");

  const accc::SafetensorsReader file(DIGITS_DATA);
  const accc::Tensor images = file.read("images"), labels = file.read("labels");
  // All begin with the weights of the first process; each draws dropout masks of its own.
  accc::Trainer trainer(accc::Model::load(library),
                        {.learning_rate = 3e-3, .seed = 42, .group = group});
  std::vector<int64_t> order(static_cast<size_t>(images.dim(0)));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(42); // the same order for all
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);
    const int64_t batches = images.dim(0) / kBatch;
    double loss = 0;
    for (int64_t i = 0; i < batches; ++i) {
      const int64_t *mine = order.data() + i * kBatch + rank * share;
      accc::Result step = trainer.step(take(images, labels, mine, share));
      loss += step.loss() / double(batches); // of all processes' rows
    }
    if (rank == 0)
      std::printf("epoch %2d  loss %.4f\n", epoch, loss);
  }
  // The state is the same everywhere.
  if (rank == 0)
    trainer.save(output);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  // With threads, so that gradients are under way while others are computed.
  int threads = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads);
  int code = 1;
  try {
    code = train(argc > 1 ? argv[1] : ACCC_MODEL_digits_shares, argc > 2 ? std::atoi(argv[2]) : 20,
                 argc > 3 ? argv[3] : "digits.safetensors");
  } catch (const accc::Error &error) {
    std::fprintf(stderr, "data_parallel: %s\n", error.what());
    code = error.exit_code();
  }
  // The others may be waiting for this one.
  if (code != 0)
    MPI_Abort(MPI_COMM_WORLD, code);
  MPI_Finalize();
  return code;
}
