// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs samples of the kernel tests and holds the results against those that were stored.
#include "Commands.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

using namespace accc;
using namespace accc::tool;
namespace fs = std::filesystem;

namespace {
/// How far results are from those stored.
struct Distance {
  int64_t elements = 0, differing = 0;
  int64_t ulps = 0;     ///< the most that two floats of one sign are apart
  double relative = 0;  ///< RMSE over the root mean square of the stored values, the worst tensor's
  double excess = 0;    ///< that over what sums in another order may give in the tensor's type
  double roundings = 0; ///< that over the distance of 1 to the next number of the tensor's type
  std::string wrong;    ///< what is not even comparable
};
} // namespace

/// A float's place among the floats of its width, in order of magnitude, negative ones below zero.
template <typename Bits> static int64_t placeOf(Bits bits) {
  auto magnitude = static_cast<int64_t>(bits & (static_cast<Bits>(~Bits(0)) >> 1));
  return bits >> (8 * sizeof bits - 1) ? -magnitude : magnitude;
}

template <typename Bits> static double valueOf(Bits bits) {
  if constexpr (sizeof bits == 8)
    return std::bit_cast<double>(bits);
  else
    return static_cast<double>(std::bit_cast<float>(bits));
}

static float f16Value(uint16_t bits) {
  int exponent = bits >> 10 & 31, fraction = bits & 1023;
  float value = exponent == 31 ? (fraction ? NAN : INFINITY)
                : exponent     ? std::ldexp(1024.f + static_cast<float>(fraction), exponent - 25)
                               : std::ldexp(static_cast<float>(fraction), -24);
  return bits >> 15 ? -value : value;
}

/// How far sums in f32 (of f64 in f64) may be apart, relative to their root mean square, once they
/// are rounded to the type.
static double boundOf(DType type) {
  switch (type) {
  case DType::f64:
    return 1e-13;
  case DType::f32:
    return 1e-5;
  case DType::f16:
    return 0x1p-10;
  case DType::bf16:
    return 0x1p-7;
  default:
    return 1e-300; // integers have one sum
  }
}

/// The distance of 1 to the next number of a type.
static double epsilonOf(DType type) {
  switch (type) {
  case DType::f64:
    return 0x1p-52;
  case DType::f32:
    return 0x1p-23;
  case DType::f16:
    return 0x1p-10;
  case DType::bf16:
    return 0x1p-7;
  default:
    return 1e-300;
  }
}

/// Bits of a type, and what they stand for. NaNs of any bits are one value.
template <typename Bits, typename Value>
static void compare(const Tensor &found, const Tensor &stored, Distance &distance, Value value) {
  auto at = [](const Tensor &tensor, int64_t i) {
    Bits bits;
    std::memcpy(&bits, static_cast<const char *>(tensor.raw()) + i * int64_t(sizeof bits),
                sizeof bits);
    return bits;
  };
  double error = 0, squares = 0;
  for (int64_t i = 0; i < stored.size(); ++i) {
    Bits a = at(found, i), b = at(stored, i);
    double x = value(a), y = value(b);
    squares += std::isfinite(y) ? y * y : 0;
    if (a == b || (std::isnan(x) && std::isnan(y)))
      continue;
    ++distance.differing;
    if (!std::isfinite(x) || !std::isfinite(y))
      distance.wrong = "an infinity or NaN on one side only";
    distance.ulps = std::max(distance.ulps, std::abs(placeOf(a) - placeOf(b)));
    error += (x - y) * (x - y);
  }
  double relative = std::sqrt(error / std::max(squares, 1e-30));
  distance.relative = std::max(distance.relative, relative);
  distance.excess = std::max(distance.excess, relative / boundOf(stored.dtype()));
  distance.roundings = std::max(distance.roundings, relative / epsilonOf(stored.dtype()));
}

static void compare(const Tensor *found, const Tensor &stored, Distance &distance) {
  if (!found || found->dtype() != stored.dtype() || found->shape() != stored.shape()) {
    distance.wrong = "a result is missing, or of another shape or type";
    return;
  }
  distance.elements += stored.size();
  auto whole = [](auto bits) { return static_cast<double>(bits); };
  switch (stored.dtype()) {
  case DType::f32:
    return compare<uint32_t>(*found, stored, distance, valueOf<uint32_t>);
  case DType::f64:
    return compare<uint64_t>(*found, stored, distance, valueOf<uint64_t>);
  case DType::f16:
    return compare<uint16_t>(*found, stored, distance, f16Value);
  case DType::bf16:
    return compare<uint16_t>(*found, stored, distance,
                             [](uint16_t bits) { return valueOf(uint32_t(bits) << 16); });
  default:
    switch (size_of(stored.dtype())) {
    case 1:
      return compare<uint8_t>(*found, stored, distance, whole);
    case 2:
      return compare<uint16_t>(*found, stored, distance, whole);
    case 4:
      return compare<uint32_t>(*found, stored, distance, whole);
    default:
      return compare<uint64_t>(*found, stored, distance, whole);
    }
  }
}

/// Whether a kernel of the entry has instructions whose result differs between GPUs, by the
/// library's PTX.
static bool isApproximate(const Model &model, const accc_entry &entry) {
  for (const accc_code *code :
       std::span(model.description().codes, static_cast<size_t>(model.description().num_codes))) {
    if (!std::string_view(code->arch).starts_with("compute_"))
      continue;
    std::string_view ptx(static_cast<const char *>(code->image), code->image_bytes);
    for (const accc_step &step : std::span(entry.steps, static_cast<size_t>(entry.num_steps))) {
      if (step.kind != ACCC_STEP_LAUNCH)
        continue;
      size_t begin = ptx.find(".entry " + std::string(code->kernels[step.index].name) + "(");
      std::string_view kernel = begin == ptx.npos ? ptx : ptx.substr(begin);
      if (kernel.substr(0, kernel.find(".entry ", 8)).find(".approx") != kernel.npos)
        return true;
    }
  }
  return false;
}

/// Twice, as the second run is a graph's. Data errors are results too.
static void runSample(Session &session, const fs::path &stored, const std::string &entry,
                      Distance &distance) {
  SafetensorsReader file(stored.string());
  TensorMap expected = file.read_all();
  std::string inputs = stored.parent_path() / (entry + ".in.safetensors");
  auto message = file.metadata().find("error");
  for (int run = 0; run < 2; ++run) {
    try {
      Result result = session.run(entry, load_safetensors(inputs));
      result.wait();
      for (const auto &[name, tensor] : expected)
        compare(result.find(name), tensor, distance);
      if (message != file.metadata().end())
        distance.wrong = "succeeds, instead of: " + message->second;
    } catch (const Error &error) {
      if (message == file.metadata().end() || message->second != error.what())
        distance.wrong = error.what();
      // What a library cannot do concerns one entry; after a fault of the device nothing works.
      if (error.kind() == ErrorKind::machine)
        session.synchronize();
    }
  }
}

static int samples(const std::vector<std::string> &folders) {
  for (const fs::path folder : folders) {
    std::cout << nlohmann::ordered_json{{"folder", folder.string()}} << std::endl;
    Session session(Model::load(folder / "model.so"));
    std::vector<fs::path> files;
    for (const auto &each : fs::directory_iterator(folder))
      if (each.path().string().ends_with(".out.safetensors"))
        files.push_back(each.path());
    std::sort(files.begin(), files.end());
    for (const fs::path &file : files) {
      std::string name = file.stem().stem();
      const accc_entry &entry = session.model().entry(name);
      Distance distance;
      runSample(session, file, name, distance);
      std::cout << nlohmann::ordered_json{{"folder", folder.string()},
                                          {"entry", name},
                                          {"test", SafetensorsReader(file).metadata().at("test")},
                                          {"arch", session.model().code().arch},
                                          {"kernels", entry.num_launches},
                                          {"library_calls", entry.num_library_calls},
                                          {"approximate", isApproximate(session.model(), entry)},
                                          {"elements", distance.elements},
                                          {"differing", distance.differing},
                                          {"ulps", distance.ulps},
                                          {"relative", distance.relative},
                                          {"excess", distance.excess},
                                          {"roundings", distance.roundings},
                                          {"wrong", distance.wrong}}
                << std::endl;
    }
  }
  return 0;
}

void accc::tool::addSamples(CLI::App &app, Action &action) {
  auto folders = std::make_shared<std::vector<std::string>>();
  CLI::App *command =
      app.add_subcommand("samples", "runs samples of the kernel tests and compares their results");
  command->add_option("FOLDER", *folders, "a sample's folder")->required();
  command->callback([folders, &action] { action = [folders] { return samples(*folders); }; });
}
