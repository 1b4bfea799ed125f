// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is missing or fails on a GPU says what it is.
#include "FakeModels.h"
#include "StandIn.h"
#include "Support.h"
#include "core/Device.h"

#include <sys/wait.h>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {

std::string whyUnable(const std::string &arch) {
  return detail::findPlatform("cuda")->whyUnable(arch).value_or("");
}

/// Opens a session, trains, and looks at the state.
void use(const std::string &model) {
  Session session(Model::load(fake(model)));
  for (int i = 0; i < 3; ++i)
    session.run("train_step", batch());
  session.variable("linear.weight");
}

/// What a shell command prints; its exit code goes to `code`.
std::string outputOf(const std::string &command, int &code) {
  FILE *pipe = ::popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe);
  std::string output;
  for (int character; (character = std::fgetc(pipe)) != EOF;)
    output += char(character);
  code = WEXITSTATUS(::pclose(pipe));
  return output;
}

} // namespace

TEST_CASE("gpu platform: code runs on devices that are new enough") {
  StandIn gpu;
  // A cubin runs on later devices of the same major version, PTX on all later ones.
  auto [arch, capability, expected] = GENERATE(table<std::string, std::string, std::string>({
      {"sm_80", "8.0", ""},
      {"sm_80", "8.9", ""},
      {"sm_80", "9.0",
       "compute capability 8.0 or a later 8.x; the first one here, Stand-in, has 9.0"},
      {"sm_89", "8.6", "compute capability 8.9 or a later 8.x"},
      {"sm_90", "8.0", "compute capability 9.0 or a later 9.x"},
      {"sm_90a", "9.0", ""},
      {"sm_100a", "10.3", "compute capability 10.0; "},
      {"sm_120", "12.1", ""},
      {"compute_80", "8.0", ""},
      {"compute_80", "12.0", ""},
      {"compute_90", "8.9", "compute capability 9.0 or later; "},
      {"compute_90a", "10.0", "compute capability 9.0; "},
      {"gfx90a", "9.0", "a runtime that knows gfx90a"},
      {"sm_", "9.0", "a runtime that knows sm_"},
      {"sm_9x", "9.0", "a runtime that knows sm_9x"},
  }));
  Setting device("STANDIN_CAPABILITY", capability);
  INFO(arch << " on " << capability);
  if (expected.empty())
    CHECK(whyUnable(arch) == "");
  else
    CHECK_THAT(whyUnable(arch), Contains(expected));
}

TEST_CASE("gpu platform: a library takes its first code that fits") {
  StandIn gpu;
  CHECK(Model::load(fake("cuda_cpu")).code().target == std::string("cuda"));
  Setting device("STANDIN_CAPABILITY", "7.5");
  CHECK(Model::load(fake("cuda_cpu")).code().target == std::string("cpu"));
  CHECK_THAT(errorOf(ErrorKind::machine, [&] { Model::load(fake("cuda")); }),
             Contains("compute_80 needs a GPU of compute capability 8.0 or later; the first one "
                      "here, Stand-in, has 7.5"));
  Setting wanted("ACCC_ARCH", "compute_80");
  errorOf(ErrorKind::machine, [&] { Model::load(fake("cuda_cpu")); });
}

TEST_CASE("gpu platform: ACCC_ARCH chooses") {
  StandIn gpu;
  Setting wanted("ACCC_ARCH", "x86-64");
  CHECK(Model::load(fake("cuda_cpu")).code().target == std::string("cpu"));
}

TEST_CASE("gpu platform: code for one target is loaded by its name") {
  StandIn gpu;
  for (const char *target : {"cpu", "cuda"})
    CHECK(Model::load(fake("cuda_cpu"), target).code().target == std::string(target));
  CHECK_THAT(errorOf(ErrorKind::usage, [&] { Model::load(fake("cuda"), "cpu"); }),
             Contains("holds no code for cpu; it was compiled for compute_80"));
}

TEST_CASE("gpu platform: library calls that cannot be made") {
  StandIn gpu;
  CHECK(Model::load(fake("scattered_matmul")).code().target == std::string("cpu"));
  CHECK_THAT(errorOf(ErrorKind::machine, [&] { Model::load(fake("i32_matmul")); }),
             Contains("matmul: operands of i32"));
}

// The driver is looked up once in a process.
TEST_CASE("without a driver", "[.child]") { std::puts(whyUnable("compute_80").c_str()); }

TEST_CASE("gpu platform: machines without what is needed") {
  StandIn gpu;
  int code = 0;
  std::string program = std::filesystem::read_symlink("/proc/self/exe");
  auto child = [&](const std::string &environment, const std::string &path) {
    return outputOf("env -u ACCC_TEST_RESULTS " + environment + " " + path + " 'without a driver'",
                    code);
  };
  CHECK_THAT(child("STANDIN_DEVICES=0", program),
             Contains("an NVIDIA GPU, of which the driver sees none"));
  CHECK_THAT(child("STANDIN_DRIVER=11080", program),
             Contains("driver for CUDA 12.0 or later; the one here is for CUDA 11.8"));
  CHECK_THAT(child("STANDIN_LACKS=cuGraphLaunch", program),
             Contains("driver for CUDA 12.0 or later") && Contains("lacks cuGraphLaunch"));
  CHECK_THAT(child("STANDIN_FAIL=cuInit:1", program),
             Contains("driver, which does not start: unknown error"));

  Folder elsewhere;
  std::filesystem::copy(program, elsewhere / "program");
  std::string absent = child("", elsewhere / "program");
  CHECK_THAT(absent, Contains("accc's runtime for cuda, libaccc_cuda.so, which was looked for in " +
                              elsewhere.path.string()));
  std::filesystem::copy(std::filesystem::path(program).parent_path() / "../lib/libaccc_cuda.so",
                        elsewhere.path);
  CHECK(child("", elsewhere / "program").starts_with("Filters: without a driver\n\n"));

  std::string without = child("-u LD_LIBRARY_PATH", program);
  if (without.find("libcuda.so.1") == std::string::npos)
    WARN("skipped: this machine has a driver");
  else
    CHECK_THAT(without, Contains("NVIDIA's driver (libcuda.so.1 was not found: looked for by the "
                                 "loader"));
}

TEST_CASE("gpu code: kernels that do nothing are a bug of the compiler") {
  StandIn gpu;
  CHECK_THAT(errorOf(ErrorKind::bug, [&] { use("empty_blocks"); }),
             Contains("add_bias has blocks of no size"));
}

TEST_CASE("gpu code: what the driver refuses is said with its log") {
  StandIn gpu;
  CHECK_THAT(errorOf(ErrorKind::machine, [&] { use("bad_ptx"); }),
             Contains("loading the model's code for compute_80 [") && Contains("frobnicate") &&
                 Contains("CUDA_ERROR_INVALID_PTX"));
  CHECK_THAT(errorOf(ErrorKind::machine, [&] { use("no_such_kernel"); }),
             Contains("looking for the kernel absent: named symbol not found"));
  Setting device("STANDIN_CAPABILITY", "8.0");
  CHECK_THAT(errorOf(ErrorKind::machine, [&] { use("cubin"); }),
             Contains("[the stand-in for the driver runs PTX only: compile with --arch"));
  CHECK(gpu.leaked() == 0);
}

TEST_CASE("gpu memory: what does not fit says for what it was") {
  StandIn gpu;
  Setting memory("STANDIN_MEMORY", std::to_string(gpu.bytes() + 800));
  std::string message = errorOf(ErrorKind::machine, [&] { use("cuda"); });
  CHECK_THAT(message, Contains("bytes for ") && Contains("train_step") &&
                          Contains("out of memory (CUDA_ERROR_OUT_OF_MEMORY); ") &&
                          Contains("bytes of memory are free"));
  CHECK(gpu.leaked() == 0);
}

TEST_CASE("gpu memory: entries that fit run on where others do not fit") {
  StandIn gpu;
  Session session(Model::load(fake("cuda")));
  auto evaluate = [&] { return values(session.run("eval_step", batch())["y"]); };
  std::vector<float> before = evaluate();
  uint64_t bytes = session.working_bytes();
  int failures = 0;
  for (;; ++failures) {
    Setting failing("STANDIN_FAIL", "cuMemAlloc:" + std::to_string(failures + 1));
    try {
      session.prepare("train_step");
      break;
    } catch (const Error &error) {
      CHECK_THAT(error.what(), Contains("train_step: out of memory"));
    }
    ::unsetenv("STANDIN_FAIL");
    CHECK(evaluate() == before);
    CHECK(evaluate() == before);
    CHECK(session.working_bytes() == bytes);
  }
  CHECK(failures == 4); // inputs, outputs, a table of addresses, the arena
  CHECK(evaluate() == before);
}

TEST_CASE("gpu faults: after one the process can use the device no more") {
  StandIn gpu;
  Session session(Model::load(fake("wild_kernel")));
  for (int i = 0; i < 2; ++i)
    CHECK_THAT(errorOf(ErrorKind::machine, [&] { session.run("train_step", batch()).loss(); }),
               Contains("CUDA_ERROR_ILLEGAL_ADDRESS") &&
                   Contains("load the model again in a new process"));
}

TEST_CASE("gpu failures: of any call are errors of the machine, and leave a session usable") {
  // Those that are made in a step that works, and those around it.
  auto function = GENERATE(
      as<std::string>(), "cuDevicePrimaryCtxRetain", "cuCtxSetCurrent", "cuMemAlloc",
      "cuMemAllocHost", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemsetD8Async",
      "cuStreamCreate", "cuStreamSynchronize", "cuEventCreate", "cuEventRecord",
      "cuEventSynchronize", "cuStreamBeginCapture", "cuStreamEndCapture", "cuModuleLoadDataEx",
      "cuModuleGetFunction", "cuFuncSetAttribute", "cuLaunchKernel", "cuGraphInstantiateWithFlags",
      "cuGraphLaunch", "cublasLtCreate", "cublasLtMatmulDescCreate",
      "cublasLtMatmulDescSetAttribute", "cublasLtMatrixLayoutCreate",
      "cublasLtMatmulPreferenceCreate", "cublasLtMatmulPreferenceSetAttribute",
      "cublasLtMatmulAlgoGetHeuristic", "cublasLtMatmul");
  StandIn gpu;
  use("cuda");
  int calls = gpu.calls(function.c_str());
  INFO(function << " is called " << calls << " times");
  REQUIRE(calls > 0);
  for (int number = 1; number <= calls; ++number) {
    INFO("call " << number);
    gpu.reset();
    std::string message;
    {
      Setting failing("STANDIN_FAIL", function + ":" + std::to_string(number));
      try {
        use("cuda"); // what fails while memory is given back shows nowhere
      } catch (const Error &error) {
        CHECK(error.kind() == ErrorKind::machine);
        message = error.what();
      }
    }
    if (!message.empty())
      CHECK_THAT(message, Contains("the GPU failed in ") || Contains("cuBLASLt failed in "));
    gpu.reset();
    use("cuda");
  }
}

/// Lets the first call of a function fail in a session that goes on.
static void checkRunsAgain(const std::string &function) {
  INFO(function);
  StandIn gpu;
  Session cpu(Model::load(fake("cpu"))), session(Model::load(fake("cuda")));
  session.run("grad_step", batch());
  {
    Setting failing("STANDIN_FAIL", function + ":1");
    errorOf(ErrorKind::machine, [&] { session.run("grad_step", batch()).loss(); });
  }
  CHECK(session.run("grad_step", batch()).loss() == cpu.run("grad_step", batch()).loss());
  CHECK(session.run("grad_step", batch()).loss() == cpu.run("grad_step", batch()).loss());
}

TEST_CASE("gpu failures: the session in which a run failed can run again") {
  Setting branches("ACCC_CUDA_BRANCHES", GENERATE(as<std::string>(), "0", "1"));
  checkRunsAgain(GENERATE(as<std::string>(), "cuLaunchKernel", "cublasLtMatmul", "cuGraphLaunch",
                          "cuStreamBeginCapture", "cuStreamEndCapture",
                          "cuGraphInstantiateWithFlags", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync",
                          "cuEventRecord", "cuEventSynchronize"));
}

TEST_CASE("gpu failures: the session whose branches could not be captured can run again") {
  Setting branches("ACCC_CUDA_BRANCHES", "1");
  checkRunsAgain(
      GENERATE(as<std::string>(), "cuStreamGetCaptureInfo", "cuStreamUpdateCaptureDependencies"));
}
