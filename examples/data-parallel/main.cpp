// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Trains one model with several processes, each on its share of every batch:
//
//   mpirun -n 2 data_parallel
//
// grad_step gives the gradients of a process's own rows, MPI averages them, and apply_step updates
// all copies of the parameters alike. The libraries that accc compiles know nothing of it.
#include "accc/accc.h"

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace {

constexpr int64_t kBatch = 64;            // rows of all processes together
constexpr size_t kMost = size_t(1) << 30; // elements of a message, which MPI counts in an int

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

/// The gradients of a step, each the mean of those of all processes, which send them together.
/// Of losses that are means over rows, in equal shares, that is the gradient of the whole
/// batch.
accc::TensorMap averaged(const accc::Result &step, std::vector<float> &message, int processes) {
  accc::TensorMap gradients;
  message.clear();
  for (const auto &[name, tensor] : step.tensors())
    if (name.starts_with("grad.")) {
      gradients.emplace(name, tensor.clone()); // f32, as the parameters of this model are
      message.insert(message.end(), tensor.data<float>().begin(), tensor.data<float>().end());
    }
  for (size_t begin = 0; begin < message.size(); begin += kMost)
    MPI_Allreduce(MPI_IN_PLACE, message.data() + begin,
                  static_cast<int>(std::min(kMost, message.size() - begin)), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
  auto from = message.begin();
  for (auto &[name, tensor] : gradients)
    for (float &value : tensor.data<float>())
      value = *from++ / float(processes);
  return gradients;
}

int train(const std::string &library, int epochs, const std::string &output) {
  int rank, processes;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &processes);
  const int64_t share = kBatch / processes;
  if (share * processes != kBatch)
    throw accc::Error(accc::ErrorKind::usage, "a batch of 64 rows has no equal shares for " +
                                                  std::to_string(processes) +
                                                  " processes: start 1, 2 or 4");

  const accc::SafetensorsReader file(DIGITS_DATA);
  const accc::Tensor images = file.read("images"), labels = file.read("labels");
  // All start from the weights in the library; each draws dropout masks of its own.
  accc::Trainer trainer(accc::Model::load(library), {.learning_rate = 3e-3f, .seed = 42 + rank});
  std::vector<int64_t> order(static_cast<size_t>(images.dim(0)));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(42); // the same order for all
  std::vector<float> message;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);
    const int64_t batches = images.dim(0) / kBatch;
    double loss = 0;
    for (int64_t i = 0; i < batches; ++i) {
      const int64_t *mine = order.data() + i * kBatch + rank * share;
      accc::Result step = trainer.grad_step(take(images, labels, mine, share));
      loss += step.loss() / double(batches);
      trainer.apply_step(averaged(step, message, processes));
    }
    MPI_Allreduce(MPI_IN_PLACE, &loss, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
      std::printf("epoch %2d  loss %.4f\n", epoch, loss / processes);
  }
  // The parameters are the same everywhere; running statistics are those of each one's rows, as
  // with DistributedDataParallel.
  if (rank == 0)
    trainer.save(output);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
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
