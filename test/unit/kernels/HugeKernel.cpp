// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/HugeKernel.h"

#include "accc/abi.h"
#include "codegen/Generate.h"
#include "fusion/Fuse.h"
#include "ir/exec/Exec.h"
#include "kernels/Compiled.h"
#include "kernels/SparseBuffer.h"
#include "reference/ptx/Launch.h"
#include "schedule/Schedule.h"

#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

#include <dlfcn.h>

#include <cmath>
#include <cstring>
#include <random>

using namespace mlir;

namespace accc::test {
namespace {

constexpr int64_t kSampledTasks = 5; // of a CPU
constexpr uint64_t kSampledBlocks = 24;
constexpr uint64_t kMostBytes = uint64_t(1) << 30; // that a sample of tasks may make real

template <typename T> double load(const char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return static_cast<double>(value);
}

template <typename T> void store(char *bytes, T value) { std::memcpy(bytes, &value, sizeof value); }

double loadElement(Type type, const char *bytes) {
  if (type.isF32())
    return load<float>(bytes);
  if (type.isF64())
    return load<double>(bytes);
  if (type.isInteger(64))
    return load<int64_t>(bytes);
  if (type.isInteger(32))
    return load<int32_t>(bytes);
  return load<uint8_t>(bytes);
}

uint64_t bytesOf(Type type) { return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8u); }

/// 257 pages of 4096 bytes a byte of the type: no power of two that an index could be off by is a
/// multiple of it.
std::vector<char> makePattern(Type type) {
  constexpr size_t kElements = size_t(257) * 4096;
  std::mt19937 random(11);
  uint64_t size = bytesOf(type);
  std::vector<char> pattern(kElements * size);
  for (size_t i = 0; i < kElements; ++i) {
    char *at = pattern.data() + i * size;
    uint32_t bits = random();
    if (type.isF32())
      store(at, 1 + static_cast<float>(bits >> 9) / (1 << 23));
    else if (type.isF64())
      store(at, 1 + static_cast<double>(bits) / 0x1p32);
    else if (type.isInteger(64))
      store<int64_t>(at, 1 + bits % 127);
    else if (type.isInteger(32))
      store<int32_t>(at, 1 + static_cast<int32_t>(bits % 127));
    else
      store<uint8_t>(at, static_cast<uint8_t>(1 + bits % 127));
  }
  return pattern;
}

/// A library, loaded without a session, and the only launch of its only entry.
class Library {
public:
  explicit Library(const std::string &path) : handle(dlopen(path.c_str(), RTLD_NOW)) {
    if (!handle)
      return;
    auto *model = reinterpret_cast<accc_model_function>(dlsym(handle, ACCC_MODEL_SYMBOL));
    code = model()->codes[0];
  }
  Library(const Library &) = delete;
  ~Library() {
    if (handle)
      dlclose(handle);
  }
  const accc_code *code = nullptr;

private:
  void *handle;
};

/// The buffers of a launch, and the launch.
class Launch {
public:
  Launch(const accc_code &code, const HugeCase &test, FunctionType type)
      : code(code), entry(code.entries[0]), step(entry.steps[0]) {
    for (Type each : type.getInputs()) {
      Type element = cast<RankedTensorType>(each).getElementType();
      if (!test.indices.empty() && inputs.size() + 1 == type.getNumInputs()) {
        SparseBuffer &buffer = inputs.emplace_back(test.indices.size() * sizeof(int64_t));
        std::memcpy(buffer.data(), test.indices.data(), buffer.size());
        continue;
      }
      inputs.emplace_back(cast<RankedTensorType>(each).getNumElements() * bytesOf(element),
                          makePattern(element));
    }
    for (Type each : type.getResults())
      results.emplace_back(cast<RankedTensorType>(each).getNumElements() *
                           bytesOf(cast<RankedTensorType>(each).getElementType()));
  }

  /// "" or what is wrong.
  std::string run() {
    if (entry.num_steps != 1 || step.kind != ACCC_STEP_LAUNCH)
      return "is " + std::to_string(entry.num_steps) + " launches, not one";
    std::vector<char *> buffers;
    for (int32_t i = 0; i < step.num_buffers; ++i)
      buffers.push_back(addressOf(entry.buffers[step.first_buffer + i]));
    if (llvm::is_contained(buffers, nullptr))
      return "has a buffer that is neither an input nor a result";
    std::string error = code.image ? runBlocks(buffers) : runTasks(buffers);
    return error.empty() && status != 0 ? "reports status " + std::to_string(status) : error;
  }

  std::vector<SparseBuffer> inputs, results;

private:
  char *addressOf(const accc_buffer &buffer) {
    switch (buffer.space) {
    case ACCC_INPUT:
      return inputs[buffer.offset].data();
    case ACCC_OUTPUT:
      return results[buffer.offset].data();
    case ACCC_STATUS:
      return reinterpret_cast<char *>(&status);
    default:
      return nullptr;
    }
  }

  std::string runTasks(std::vector<char *> &buffers) {
    int64_t count = std::min(kSampledTasks, step.tasks);
    if (results.front().size() / static_cast<uint64_t>(step.tasks) > kMostBytes / kSampledTasks)
      return "has " + std::to_string(step.tasks) + " tasks, of which each writes too much";
    for (int64_t i = 0; i < count; ++i) {
      int64_t task = count == 1 ? 0 : i * (step.tasks - 1) / (count - 1);
      code.kernels[step.index].function(buffers.data(), task, task + 1);
    }
    return "";
  }

  std::string runBlocks(const std::vector<char *> &buffers) {
    const accc_kernel &kernel = code.kernels[step.index];
    ptx::Error error;
    auto module = ptx::Module::parse(static_cast<const char *>(code.image), error);
    if (!module)
      return error.message;
    ptx::Memory memory;
    if (auto problem = module->load(memory))
      return problem->message;
    std::vector<uint64_t> pointers;
    for (auto [i, buffer] : llvm::enumerate(buffers)) {
      uint64_t bytes = entry.buffers[step.first_buffer + static_cast<int32_t>(i)].bytes;
      if (auto problem = memory.registerHost(buffer, bytes))
        return problem->message;
      pointers.push_back(reinterpret_cast<uint64_t>(buffer));
    }
    std::vector<const void *> values;
    for (const uint64_t &pointer : pointers)
      values.push_back(&pointer);
    const ptx::Kernel *found = module->kernel(kernel.name);
    ptx::LaunchOptions options;
    options.checkRaces = false; // which needs memory for each byte
    options.mostBlocks = kSampledBlocks;
    auto blocks = static_cast<uint32_t>(llvm::divideCeil(step.tasks, kernel.tasks_per_block));
    auto result = ptx::launch(
        *found, memory, {blocks, 1, 1}, {static_cast<uint32_t>(kernel.threads), 1, 1},
        static_cast<uint32_t>(kernel.shared_bytes), found->pack(values.data()), options);
    return result.error ? result.error->message : "";
  }

  const accc_code &code;
  const accc_entry &entry;
  const accc_step &step;
  int64_t status = 0;
};

std::string compare(const HugeCase &test, const Launch &launch, FunctionType type) {
  std::vector<ElementAt> inputs;
  for (auto [buffer, each] : llvm::zip_equal(launch.inputs, type.getInputs())) {
    Type element = cast<RankedTensorType>(each).getElementType();
    inputs.emplace_back([data = buffer.data(), element](int64_t i) {
      return loadElement(element, data + static_cast<uint64_t>(i) * bytesOf(element));
    });
  }
  auto resultType = cast<RankedTensorType>(type.getResult(0));
  Type element = resultType.getElementType();
  const SparseBuffer &result = launch.results.front();
  std::vector<int64_t> written;
  result.forEachTouchedPage([&](uint64_t offset, uint64_t size) {
    for (uint64_t at = offset; at < offset + size; at += bytesOf(element))
      if (loadElement(element, result.data() + at) != 0)
        written.push_back(static_cast<int64_t>(at / bytesOf(element)));
  });
  int64_t count = static_cast<int64_t>(written.size()), checked = std::min(count, test.mostChecked);
  if (count == 0 || written.front() != 0 || written.back() != resultType.getNumElements() - 1)
    return "wrote " + std::to_string(count) + " elements, not both ends" +
           (count ? ": " + std::to_string(written.front()) + " to " + std::to_string(written.back())
                  : "");
  for (int64_t i = 0; i < checked; ++i) {
    int64_t at = written[static_cast<size_t>(checked == 1 ? 0 : i * (count - 1) / (checked - 1))];
    double got = loadElement(element, result.data() + static_cast<uint64_t>(at) * bytesOf(element)),
           want = test.expected(inputs, at);
    if (!(std::abs(got - want) <= test.tolerance * std::abs(want)))
      return "element " + std::to_string(at) + " is " + std::to_string(got) + ", not " +
             std::to_string(want);
  }
  return "";
}

} // namespace

std::string runHugeCase(const std::string &text, const HugeCase &test) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, prim::PrimDialect, exec::ExecDialect>();
  std::string diagnostics;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) { diagnostics += d.str() + "\n"; });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return "cannot be parsed: " + diagnostics;
  auto function = *module->getOps<func::FuncOp>().begin();
  nameValues(function);
  FunctionType type = function.getFunctionType();
  std::unique_ptr<Target> target = createTestTarget("x86-64-v3");
  if (failed(formFusions(*module, *target)))
    return "fusion failed: " + diagnostics;
  auto program = schedule(*module);
  if (failed(program))
    return "schedule failed: " + diagnostics;
  SmallString<128> path;
  if (llvm::sys::fs::createTemporaryFile("accc-huge", "so", path))
    return "no temporary file";
  GenerateOptions options;
  options.modelName = "test";
  bool generated = succeeded(generateLibrary({{**program, target.get()}}, {}, options, path));
  Library library(path.str().str());
  llvm::sys::fs::remove(path);
  if (!generated || !library.code)
    return "no library: " + diagnostics;
  Launch launch(*library.code, test, type);
  std::string error = launch.run();
  return error.empty() ? compare(test, launch, type) : error;
}

} // namespace accc::test
