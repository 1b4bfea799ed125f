// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Trains in the processes of an MPI job, each on data of its own: all hold the same bits after
// every step, and after one whose data is at fault in one process, those of before.
//
//   mpirun -n N processes LIBRARY.so BATCH.safetensors LEARNING_RATE OUT.safetensors
#include "Expect.h"
#include <accc/checksum.h>
#include <accc/mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string>

using accc::Tensor;
using accc::TensorMap;

static uint64_t hashOf(accc::Trainer &trainer) {
  std::string bytes;
  for (const accc_variable &variable : trainer.model().variables()) {
    Tensor value = trainer.parameter(variable.tensor.name).clone();
    bytes.append(static_cast<const char *>(value.raw()), value.size_bytes());
  }
  accc::Xxh64 hash;
  hash.add(bytes.data(), bytes.size());
  return hash.get();
}

static void run(char **arguments) {
  auto group = accc::mpi_group();
  const int rank = group->rank();
  TensorMap batch = accc::load_safetensors(arguments[2]);
  for (auto &[name, tensor] : batch)
    if (tensor.dtype() == accc::DType::f32)
      for (float &value : tensor.data<float>())
        value *= 1.0f + 0.25f * static_cast<float>(rank);
  TensorMap bad = batch;
  bad.at("target") = batch.at("target").clone();
  bad.at("target").data<int64_t>()[0] = 1000000;

  accc::Trainer trainer(accc::Model::load(arguments[1]),
                        {.learning_rate = static_cast<float>(std::atof(arguments[3])),
                         .seed = 3,
                         .threads = 1,
                         .group = group});
  auto same = [&](const std::string &after) {
    const uint64_t own = hashOf(trainer);
    uint64_t first = own;
    group->broadcast(&first, sizeof first);
    expect(first == own, "rank " + std::to_string(rank) + " has other bits after " + after);
    return own;
  };
  for (int step = 0; step < 4; ++step) // on a GPU the first is no graph
    trainer.step(batch);
  uint64_t before = same("four steps");
  trainer.apply_step(trainer.grad_step(batch));
  expect(same("grad_step and apply_step") != before, "nothing was trained");
  for (bool inGradStep : {false, true}) {
    before = same("more steps");
    const int64_t count = trainer.step_count();
    std::string error;
    try {
      const TensorMap &given = rank == 1 ? bad : batch;
      if (inGradStep)
        trainer.apply_step(trainer.grad_step(given)).wait();
      else
        trainer.step(given).wait();
    } catch (const accc::Error &caught) {
      error = caught.what();
    }
    expect(error.find(rank == 1 ? "1000000" : "another process of the group") != std::string::npos,
           "rank " + std::to_string(rank) + " says of bad data in rank 1: " + error);
    expect(hashOf(trainer) == before, "a step that failed changed something");
    expect(trainer.step_count() == count, "a step that failed counts");
    trainer.step(batch);
    expect(same("a step that failed, and one more") != before, "nothing was trained any more");
  }
  if (rank == 0)
    trainer.save(arguments[4]);
  // What one sends in train_step is not what another sends in grad_step. Nobody goes on after that.
  before = hashOf(trainer);
  std::string error;
  try {
    if (rank == 1)
      trainer.grad_step(batch).wait();
    else
      trainer.step(batch).wait();
  } catch (const accc::Error &caught) {
    error = caught.what();
  }
  expect(error.find("that exchange other tensors") != std::string::npos,
         "other entry points: " + error);
  expect(hashOf(trainer) == before, "a step that does not fit changed something");
}

int main(int argc, char **argv) {
  int threads = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &threads);
  try {
    if (argc != 5)
      throw accc::Error(accc::ErrorKind::usage, "four arguments are needed");
    run(argv);
  } catch (const accc::Error &error) {
    std::printf("%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, error.exit_code());
  }
  MPI_Finalize();
  return wrong ? 1 : 0;
}
