// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Trains a compiled model on hand-written digits: a training program to start from. All that it
// needs of accc is in these includes; Python is not involved.
#include "accc/accc.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numbers>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

/// accc_add_model and CMakeLists.txt say where the model and the data are.
struct Options {
  std::string model = ACCC_MODEL_digits_cnn;
  std::string data = DIGITS_DATA;
  std::string output = "digits.safetensors";
  int epochs = 20;
  double learning_rate = 3e-3;
  int64_t seed = 42;
};

constexpr const char *usage =
    "usage: digits [--model LIB.so] [--data FILE.safetensors] [--output WEIGHTS.safetensors]\n"
    "              [--epochs N] [--learning-rate X] [--seed N]\n";

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    std::string name = argv[i];
    if (name == "--help") {
      std::fputs(usage, stdout);
      std::exit(0);
    }
    const char *value = i + 1 < argc ? argv[i + 1] : nullptr;
    if (value && name == "--model")
      options.model = value;
    else if (value && name == "--data")
      options.data = value;
    else if (value && name == "--output")
      options.output = value;
    else if (value && name == "--epochs")
      options.epochs = std::atoi(value);
    else if (value && name == "--learning-rate")
      options.learning_rate = std::strtod(value, nullptr);
    else if (value && name == "--seed")
      options.seed = std::atoll(value);
    else
      throw accc::Error(accc::ErrorKind::usage, "unknown option " + name + "\n" + usage);
  }
  return options;
}

/// Images with their labels.
struct Digits {
  accc::Tensor images; // f32 [count, 1, 8, 8], 0 to 1
  accc::Tensor labels; // i64 [count]
  int64_t count() const { return images.dim(0); }
  Digits rows(int64_t begin, int64_t end) const {
    return {images.rows(begin, end), labels.rows(begin, end)};
  }
};

/// Copies the rows `which` into a batch. A batch has a fixed number of rows; where there are fewer
/// left, the last is repeated, and the caller leaves the repetitions out of what it counts.
void fill(accc::TensorMap &batch, const Digits &from, std::span<const int64_t> which) {
  accc::Tensor &images = batch.at("images"), &target = batch.at("target");
  const auto source = from.images.data<float>();
  const int64_t pixels = from.images.size() / from.count();
  for (int64_t i = 0; i < images.dim(0); ++i) {
    int64_t row = which[std::min<size_t>(i, which.size() - 1)];
    std::copy_n(source.begin() + row * pixels, pixels, images.data<float>().begin() + i * pixels);
    target.data<int64_t>()[i] = from.labels.data<int64_t>()[row];
  }
}

/// The part of `digits` whose highest logit is the label's.
double accuracy(accc::Trainer &trainer, accc::TensorMap &batch, const Digits &digits) {
  std::vector<int64_t> rows(static_cast<size_t>(digits.count()));
  std::iota(rows.begin(), rows.end(), 0);
  int64_t correct = 0;
  const int64_t size = trainer.batch_size();
  for (int64_t first = 0; first < digits.count(); first += size) {
    int64_t filled = std::min(size, digits.count() - first);
    fill(batch, digits, std::span(rows).subspan(first, filled));
    accc::Result result = trainer.eval(batch);
    const accc::Tensor &logits = result["logits"]; // f32 [size, 10]
    const int64_t classes = logits.dim(1);
    for (int64_t i = 0; i < filled; ++i) {
      auto scores = logits.data<float>().subspan(i * classes, classes);
      int64_t best = std::max_element(scores.begin(), scores.end()) - scores.begin();
      correct += best == digits.labels.data<int64_t>()[first + i];
    }
  }
  return double(correct) / double(digits.count());
}

/// A bar on a terminal, nothing in a pipe.
void showProgress(int epoch, int64_t done, int64_t of, double loss) {
  static const bool terminal = ::isatty(STDOUT_FILENO);
  if (!terminal)
    return;
  constexpr int width = 30;
  int filled = static_cast<int>(width * done / of);
  std::printf("\repoch %2d [%s%s] loss %.4f", epoch, std::string(filled, '#').c_str(),
              std::string(width - filled, '.').c_str(), loss);
  std::fflush(stdout);
}

int train(const Options &options) {
  const accc::SafetensorsReader file(options.data);
  const Digits all{file.read("images"), file.read("labels")};
  const int64_t held_out = 384;
  const Digits training = all.rows(0, all.count() - held_out);
  const Digits testing = all.rows(all.count() - held_out, all.count());

  accc::Trainer trainer(accc::Model::load(options.model),
                        {.learning_rate = options.learning_rate, .seed = options.seed});
  const int64_t size = trainer.batch_size(), batches = training.count() / size;
  accc::TensorMap batch = {{"images", accc::Tensor(accc::DType::f32, {size, 1, 8, 8})},
                           {"target", accc::Tensor(accc::DType::i64, {size})}};

  std::printf("training on %lld digits, %lld held out, batches of %lld\n",
              static_cast<long long>(training.count()), static_cast<long long>(testing.count()),
              static_cast<long long>(size));
  std::vector<int64_t> order(static_cast<size_t>(training.count()));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(static_cast<uint64_t>(options.seed));
  double correct = 0;
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    std::shuffle(order.begin(), order.end(), random);
    double loss = 0;
    for (int64_t i = 0; i < batches; ++i) {
      // A schedule costs nothing: the learning rate is an input of the step (here: half a cosine).
      double done = double((epoch - 1) * batches + i) / double(options.epochs * batches);
      trainer.set_learning_rate(options.learning_rate *
                                (0.5 + 0.5 * std::cos(std::numbers::pi * done)));
      fill(batch, training, std::span(order).subspan(i * size, size));
      loss += trainer.step(batch).loss() / double(batches);
      showProgress(epoch, i + 1, batches, loss * double(batches) / double(i + 1));
    }
    correct = accuracy(trainer, batch, testing);
    // On a terminal over the progress bar, of which nothing stays.
    std::printf("%sepoch %2d  loss %.4f  accuracy on held-out digits %.2f %%\n",
                ::isatty(STDOUT_FILENO) ? "\r\033[K" : "", epoch, loss, 100 * correct);
  }

  trainer.save(options.output);
  std::printf("\n%.0f digits per second in the training step\nweights: %s\n",
              trainer.throughput().examples_per_second(),
              std::filesystem::absolute(options.output).c_str());
  if (correct < 0.97) {
    std::fprintf(stderr, "the accuracy is under 97 %%: something is wrong, or the options are\n");
    return 1;
  }
  std::printf(
      "\nWhat to try next:\n"
      "  python -c \"from safetensors.torch import load_file; print(load_file('%s').keys())\"\n"
      "      the weights are PyTorch's again, under their original names\n"
      "  accc inspect %s\n"
      "      what was compiled: entry points, kernels, memory\n"
      "  digits --epochs 40 --learning-rate 1e-3\n"
      "      training again, another way; nothing is recompiled\n"
      "  accc compile your_model.onnx -o your_model.so --loss cross_entropy --optimizer adamw\n"
      "      your own model: docs/your-own-model.md leads there from PyTorch\n",
      options.output.c_str(), options.model.c_str());
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  try {
    return train(parse(argc, argv));
  } catch (const accc::Error &error) {
    std::fprintf(stderr, "digits: %s\n", error.what());
    return error.exit_code();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "digits: %s\n", error.what());
    return 1;
  }
}
