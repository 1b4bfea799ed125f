// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What this device can do at most: copies of its memory, and the library calls of models, each by
// itself, as the runtime makes them.
#include "Commands.h"
#include "DistinctCalls.h"

#include "core/CheckCall.h"
#include "core/DescribeCall.h"
#include "cuda/LibraryCall.h"
#include "cuda/SharedLibrary.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

using namespace accc;
using namespace accc::tool;
using namespace accc::detail;
using Json = nlohmann::ordered_json;

namespace {

/// out[i] = in[i] for `count` words of 16 bytes, blocks * threads apart.
constexpr const char *kCopyKernel = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to, .param .u64 count)
{
  .reg .pred %p;
  .reg .b32 %r<5>;
  .reg .f32 %f<5>;
  .reg .b64 %d<10>;
  ld.param.u64 %d1, [from];
  ld.param.u64 %d2, [to];
  ld.param.u64 %d3, [count];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %nctaid.x;
  mul.wide.u32 %d4, %r1, %r2;
  cvt.u64.u32 %d5, %r3;
  add.u64 %d4, %d4, %d5;
  mul.wide.u32 %d6, %r4, %r2;
again:
  setp.ge.u64 %p, %d4, %d3;
  @%p bra done;
  shl.b64 %d7, %d4, 4;
  add.u64 %d8, %d1, %d7;
  add.u64 %d9, %d2, %d7;
  ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d8];
  st.global.v4.f32 [%d9], {%f1, %f2, %f3, %f4};
  add.u64 %d4, %d4, %d6;
  bra again;
done:
  ret;
}
)";

struct CeilingOptions {
  std::vector<std::string> libraries;
  bool convolutionsOnly = false;
  uint64_t copyBytes = uint64_t(1) << 30;
  double seconds = 0.05; ///< of each round
  int rounds = 5;
};

/// The device with a way to time what is put into its stream.
class Stopwatch {
public:
  Stopwatch(const Context &context, const CeilingOptions &options)
      : context(context), driver(context.driver), options(options) {
    for (CUevent *event : {&begin, &end})
      driver.check(driver.cuEventCreate(event, CU_EVENT_DEFAULT), "making an event");
  }
  Stopwatch(const Stopwatch &) = delete;
  ~Stopwatch() {
    driver.cuEventDestroy(begin);
    driver.cuEventDestroy(end);
  }

  /// Milliseconds that `work` takes in the stream, the median of rounds of many.
  double milliseconds(const std::function<void()> &work) {
    once(work, 2);
    double first = once(work, 1);
    int count =
        static_cast<int>(std::clamp(options.seconds * 1e3 / std::max(first, 1e-4), 1., 1e4));
    std::vector<double> times;
    for (int round = 0; round < options.rounds; ++round)
      times.push_back(once(work, count) / count);
    std::sort(times.begin(), times.end());
    return times[times.size() / 2];
  }

private:
  double once(const std::function<void()> &work, int count) {
    driver.check(driver.cuEventRecord(begin, context.stream), "timing");
    for (int i = 0; i < count; ++i)
      work();
    driver.check(driver.cuEventRecord(end, context.stream), "timing");
    context.synchronize("timing");
    float milliseconds = 0;
    driver.check(driver.cuEventElapsedTime(&milliseconds, begin, end), "timing");
    return milliseconds;
  }

  const Context &context;
  const Driver &driver;
  const CeilingOptions &options;
  CUevent begin = nullptr, end = nullptr;
};

void print(const Json &line) { std::cout << line << std::endl; }

/// 1 where the driver does not say.
int attribute(const Driver &driver, CUdevice_attribute which) {
  int value = 0;
  return driver.cuDeviceGetAttribute(&value, which, 0) == CUDA_SUCCESS ? value : 1;
}

template <typename Result = size_t>
std::string versionOf(const std::vector<std::string> &names, const char *function) {
  std::string why;
  SharedLibrary library(names, /*toolkit=*/true, why);
  Result (*version)() = nullptr;
  return library && library.find(function, version) ? std::to_string(version()) : "not found";
}

void printDevice(const Driver &driver) {
  char name[128] = {};
  driver.check(driver.cuDeviceGetName(name, sizeof name - 1, 0), "asking for a device's name");
  int version = 0;
  driver.check(driver.cuDriverGetVersion(&version), "asking for the driver's version");
  size_t free = 0, total = 0;
  driver.check(driver.cuMemGetInfo(&free, &total), "asking for a device's memory");
  print({{"device", name},
         {"capability",
          std::to_string(attribute(driver, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)) + "." +
              std::to_string(attribute(driver, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR))},
         {"cuda", std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10)},
         {"memory_bytes", total},
         {"cublaslt", versionOf({"libcublasLt.so.13", "libcublasLt.so.12"}, "cublasLtGetVersion")},
         {"cudnn", versionOf({"libcudnn.so.9"}, "cudnnGetVersion")}});
}

/// Memory with random floats in it: hardware is faster on zeros.
DeviceMemory randomMemory(const Context &context, uint64_t bytes) {
  static const std::vector<float> values = [] {
    std::vector<float> made(1 << 20);
    std::mt19937_64 engine(1);
    std::normal_distribution<float> normal;
    for (float &value : made)
      value = normal(engine);
    return made;
  }();
  DeviceMemory memory(context, bytes, "a measurement");
  for (uint64_t at = 0; at < bytes; at += values.size() * sizeof(float))
    context.driver.check(context.driver.cuMemcpyHtoDAsync(
                             memory.address() + at, values.data(),
                             std::min(bytes - at, values.size() * sizeof(float)), context.stream),
                         "filling memory");
  context.synchronize("filling memory");
  return memory;
}

void printCopies(const Context &context, const CeilingOptions &options) {
  const Driver &driver = context.driver;
  Stopwatch watch(context, options);
  DeviceMemory from = randomMemory(context, options.copyBytes);
  DeviceMemory to = randomMemory(context, options.copyBytes);
  auto report = [&](const char *how, double ms) {
    print({{"copy", how},
           {"bytes", options.copyBytes},
           {"ms", ms},
           {"tb_per_s", 2 * static_cast<double>(options.copyBytes) / ms / 1e9}});
  };
  report("the driver's copy", watch.milliseconds([&] {
    driver.check(
        driver.cuMemcpyDtoDAsync(to.address(), from.address(), options.copyBytes, context.stream),
        "copying");
  }));

  CUmodule module = nullptr;
  CUfunction function = nullptr;
  driver.check(driver.cuModuleLoadDataEx(&module, kCopyKernel, 0, nullptr, nullptr), "loading");
  driver.check(driver.cuModuleGetFunction(&function, module, "copy"), "loading");
  CUdeviceptr source = from.address(), destination = to.address();
  uint64_t count = options.copyBytes / 16;
  void *parameters[] = {&source, &destination, &count};
  constexpr unsigned threads = 256;
  auto most =
      static_cast<uint64_t>(attribute(driver, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)) * 64;
  for (bool loops : {true, false}) {
    uint64_t blocks = loops ? most : (count + threads - 1) / threads;
    report(loops ? "a kernel of 64 blocks a multiprocessor" : "a kernel of 16 bytes a thread",
           watch.milliseconds([&] {
             driver.check(driver.cuLaunchKernel(function, static_cast<unsigned>(blocks), 1, 1,
                                                threads, 1, 1, 0, context.stream, parameters,
                                                nullptr),
                          "copying");
           }));
  }
  driver.cuModuleUnload(module);
}

double flops(const accc_library_call &call) {
  double product = 2;
  if (call.kind == ACCC_CALL_MATMUL) {
    const accc_matmul &matmul = call.u.matmul;
    for (int i = 0; i < matmul.batch_rank; ++i)
      product *= static_cast<double>(matmul.batch[i]);
    return product * double(matmul.m) * double(matmul.n) * double(matmul.k);
  }
  if (isAttention(call)) {
    const accc_attention &a = call.u.attention;
    // Scores and results; for gradients scores again, those of both factors of each.
    bool isForward = call.kind == ACCC_CALL_ATTENTION;
    product *=
        double(isForward ? a.features + a.value_features : 3 * a.features + 2 * a.value_features);
    product *= double(a.batch) * double(a.heads) * double(a.queries) * double(a.keys);
    return a.causal ? product / 2 : product;
  }
  const accc_convolution &c = call.u.convolution;
  product *= double(c.batch) * double(c.out_channels) * double(c.in_channels) / double(c.groups);
  for (int i = 0; i < c.spatial_rank; ++i)
    product *= double(c.out_size[i]) * double(c.kernel[i]);
  return product;
}

/// One library call on buffers of its own.
void printCall(const Context &context, const CeilingOptions &options, Libraries &libraries,
               const std::string &model, accc_library_call call, const std::vector<uint64_t> &bytes,
               int times) {
  for (int32_t compute : {ACCC_COMPUTE_FULL, ACCC_COMPUTE_TF32}) {
    call.compute = compute;
    if (compute == ACCC_COMPUTE_TF32 && call.dtypes[0] != ACCC_F32)
      continue;
    Json line{{"model", model},
              {"call", describe(call)},
              {"compute", compute == ACCC_COMPUTE_TF32 ? "tf32" : "full"},
              {"times", times}};
    try {
      LibraryCall &made = libraries.find(call, ACCC_ALIGNMENT);
      DeviceMemory scratch(context, made.scratchBytes(), "a library's scratch");
      std::vector<DeviceMemory> memory;
      std::vector<CUdeviceptr> addresses;
      for (uint64_t each : bytes) {
        memory.push_back(randomMemory(context, each));
        addresses.push_back(memory.back().address());
      }
      double ms = Stopwatch(context, options).milliseconds([&] {
        made.enqueue(addresses, scratch.address());
      });
      line["ms"] = ms;
      line["tflop_per_s"] = flops(call) / ms / 1e9;
    } catch (const Error &error) {
      line["wrong"] = error.what();
    }
    print(line);
  }
}

/// Each call of the training step once, with how often the step makes it.
void printCalls(const Context &context, const CeilingOptions &options, Libraries &libraries,
                const std::string &path) {
  Model model = Model::load(path);
  const accc_entry *entry = model.find_entry("train_step");
  if (!entry)
    entry = &model.entries().front();
  for (const DistinctCall &each : distinctCalls(*entry))
    if (!options.convolutionsOnly || each.call->kind != ACCC_CALL_MATMUL)
      printCall(context, options, libraries, std::string(model.name()), *each.call, each.bytes,
                each.times);
}

int ceilings(const CeilingOptions &options) {
  std::string why;
  const Driver *driver = Driver::find(why);
  if (!driver)
    throw Error(ErrorKind::machine, "ceilings need " + why);
  Context context(*driver);
  context.makeCurrent();
  printDevice(*driver);
  if (options.copyBytes)
    printCopies(context, options);
  Libraries libraries(context);
  for (const std::string &library : options.libraries)
    printCalls(context, options, libraries, library);
  return 0;
}

} // namespace

void accc::tool::addCeilings(CLI::App &app, Action &action) {
  auto options = std::make_shared<CeilingOptions>();
  CLI::App *command = app.add_subcommand(
      "ceilings", "describes the device, and times copies and the library calls of models");
  command->add_option("LIB", options->libraries, "models whose library calls to time");
  command->add_flag("--convolutions", options->convolutionsOnly, "times no matrix products");
  command->add_option("--copy-bytes", options->copyBytes, "0 = no copies")->capture_default_str();
  command->add_option("--seconds", options->seconds, "of each of the rounds")
      ->capture_default_str();
  command->add_option("--rounds", options->rounds, "the median counts")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->callback([options, &action] { action = [options] { return ceilings(*options); }; });
}
