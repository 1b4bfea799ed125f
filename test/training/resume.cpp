// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Goes on with one target of a library where another has stopped, and back. The files that they
// write are the same to the byte, in whatever order a target keeps its variables.
//
//   resume LIB.so BATCH.safetensors SCRATCH
//
// LIB is for cuda and cpu, and keeps some variables in an order of its own on cuda.
#include <accc/accc.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <iterator>

static std::string contents(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The largest difference of two tensors of f32, of the largest element; smaller ones than 1e-4 are
/// rounding alone, as the gradient of a bias in front of a normalisation.
static double difference(const accc::Tensor &a, const accc::Tensor &b) {
  auto x = a.data<float>(), y = b.data<float>();
  double worst = 0, scale = 1e-4;
  for (size_t i = 0; i < x.size(); ++i) {
    worst = std::fmax(worst, std::fabs(double(x[i]) - y[i]));
    scale = std::fmax(scale, std::fabs(double(y[i])));
  }
  return worst / scale;
}

static int wrong = 0;
static void expect(bool holds, const char *from, const char *what) {
  if (holds)
    return;
  std::printf("begun on %s: %s\n", from, what);
  ++wrong;
}

int main(int argc, char **argv) {
  if (argc != 4)
    return 2;
  accc::TensorMap batch = accc::load_safetensors(argv[2]);
  std::string before = std::string(argv[3]) + "/before", after = std::string(argv[3]) + "/after";
  for (auto [from, to] : {std::pair("cpu", "cuda"), std::pair("cuda", "cpu")}) {
    accc::TrainerOptions options{.learning_rate = 0.01f, .seed = 7};
    accc::Trainer first(accc::Model::load(argv[1], from), options),
        second(accc::Model::load(argv[1], to), options);
    for (const accc::Trainer *trainer : {&first, &second}) {
      const accc_code &code = trainer->model().code();
      expect((std::string(code.target) == "cuda") == (code.variable_orders != nullptr), from,
             "not cuda alone keeps variables in an order of its own");
    }
    first.save(before);
    second.save(after);
    expect(contents(before) == contents(after), from, "the initial parameters differ");
    for (int step = 0; step < 2; ++step)
      first.step(batch);
    first.save_checkpoint(before);
    second.load_checkpoint(before);
    second.save_checkpoint(after);
    expect(contents(before) == contents(after), from, "the checkpoint differs");
    double loss = first.step(batch).loss(), resumed = second.step(batch).loss();
    expect(std::fabs(loss - resumed) < 1e-2f * std::fabs(loss), from, "the next loss differs");
    for (const accc_variable &variable : first.model().variables())
      if (variable.tensor.dtype == ACCC_F32)
        expect(difference(second.parameter(variable.tensor.name),
                          first.parameter(variable.tensor.name)) < 0.03,
               from, variable.tensor.name);
  }
  std::printf("%d differences\n", wrong);
  return wrong != 0;
}
