// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Large inputs are copied to the device in a second stream, while the run before works. The fake
// models' x is that large where ACCC_CUDA_OVERLAP_BYTES says so; target is copied by itself in the
// run's stream, what remains as one block. What is not waited for is done as late as possible by
// the stand-in, or as early as possible: either shows a wait that is missing.
#include "FakeModels.h"
#include "StandIn.h"
#include "Support.h"

#include <memory>
#include <optional>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {

constexpr uint64_t xBytes = 4 * 3 * sizeof(float);

struct Staged {
  Setting large{"ACCC_CUDA_LARGE_BYTES", "8"}, overlap{"ACCC_CUDA_OVERLAP_BYTES", "16"};
  Setting streams{"STANDIN_STREAMS", GENERATE(as<std::string>(), "lazy", "eager")};
  StandIn gpu;
  bool graph = GENERATE(true, false);
  Session cpu{Model::load(fake("cpu")), options()};
  std::optional<Session> session{std::in_place, Model::load(fake("cuda")), options(graph)};
};

} // namespace

TEST_CASE("gpu staged inputs: training is that of the CPU") {
  Staged t;
  CHECK(train(*t.session) == train(t.cpu));
}

TEST_CASE("gpu staged inputs: gradients, updates and evaluation are those of the CPU") {
  Staged t;
  for (int i = 0; i < 3; ++i) {
    Result expected = t.cpu.run("grad_step", batchOf(i)),
           got = t.session->run("grad_step", batchOf(i));
    t.cpu.run("apply_step", {}, expected);
    t.session->run("apply_step", {}, got);
    CHECK(values(t.session->run("eval_step", batchOf(i))["y"]) ==
          values(t.cpu.run("eval_step", batchOf(i))["y"]));
  }
  CHECK(state(*t.session) == state(t.cpu));
}

TEST_CASE("gpu staged inputs: two runs are queued, the third waits for the first") {
  Staged t;
  TensorMap given = batch(); // the same memory for all
  auto run = [&](Session &session, float value) {
    given.at("x").data<float>()[0] = value;
    return session.run("train_step", given);
  };
  run(t.cpu, 1);
  run(*t.session, 1).wait();
  t.gpu.reset();
  run(*t.session, 2);
  Result second = run(*t.session, 3);
  CHECK(t.gpu.waits() == 0);
  Result third = run(*t.session, 4);
  CHECK(t.gpu.waits() == 1);
  given.at("x").data<float>()[0] = 0;

  run(t.cpu, 2);
  CHECK(second.loss() == run(t.cpu, 3).loss());
  CHECK(third.loss() == run(t.cpu, 4).loss());
  CHECK(state(*t.session) == state(t.cpu));
}

TEST_CASE("gpu staged inputs: entry points and sizes have their own") {
  StandIn gpu;
  Session plain(Model::load(fake("sizes")), options()); // whose inputs are small
  Staged t;
  Session session(Model::load(fake("sizes")), options(t.graph));
  CHECK(takeTurns(session, /*oneByOne=*/false) == takeTurns(plain, true));
  CHECK(state(session) == state(plain));
}

TEST_CASE("gpu staged inputs: what a replayed step calls") {
  Staged t;
  train(*t.session, 3);
  t.gpu.reset();
  t.session->run("train_step", batch());
  CHECK(t.gpu.calls("cuMemcpyHtoDAsync") == 3); // x, target, what remains
  CHECK(t.gpu.calls("cuMemcpyDtoDAsync") == 1);
  CHECK(t.gpu.calls("cuStreamWaitEvent") == 2);
  CHECK(t.gpu.calls("cuEventRecord") == 3); // with that of the outputs
  CHECK(t.gpu.waits() == 0);
  for (const char *absent : {"cuMemAlloc", "cuMemAllocHost", "cuStreamCreate", "cuEventCreate"}) {
    INFO(absent);
    CHECK(t.gpu.calls(absent) == 0);
  }
}

TEST_CASE("gpu staged inputs: gradients of another session are not among them") {
  Staged t;
  Setting all("ACCC_CUDA_OVERLAP_BYTES", "8"); // and the weight's gradient would be
  Session session(Model::load(fake("cuda")), options());
  Result gradients = t.session->run("grad_step", batch());
  t.gpu.reset();
  session.run("apply_step", {}, gradients);
  CHECK(t.gpu.calls("cuMemcpyDtoDAsync") == 0);
  t.cpu.run("apply_step", {}, t.cpu.run("grad_step", batch()));
  CHECK(state(session) == state(t.cpu));
}

TEST_CASE("gpu staged inputs: their memory is counted, and the limit is a number of bytes") {
  StandIn gpu;
  auto memory = [&] {
    gpu.reset();
    Session session(Model::load(fake("cuda")), options());
    session.prepare("train_step");
    return session.working_bytes();
  };
  Setting large("ACCC_CUDA_LARGE_BYTES", "8");
  uint64_t without = memory();
  CHECK(gpu.calls("cuStreamCreate") == 1);
  {
    Setting overlap("ACCC_CUDA_OVERLAP_BYTES", "16");
    CHECK(memory() == without + xBytes);
    CHECK(gpu.calls("cuStreamCreate") == 2);
    Setting failing("STANDIN_FAIL", "cuMemAlloc:4"); // after state, inputs, outputs
    CHECK_THAT(errorOf(ErrorKind::machine, memory),
               Contains("allocating 48 bytes for staging the inputs of train_step: out of memory"));
  }
  CHECK(gpu.leaked() == 0);
  Setting wrong("ACCC_CUDA_OVERLAP_BYTES", "1M");
  CHECK_THAT(errorOf(ErrorKind::usage, memory),
             Contains("ACCC_CUDA_OVERLAP_BYTES=1M: expected a number of bytes"));
}

TEST_CASE("gpu staged inputs: a session ends while they are on their way") {
  Staged t;
  t.session->run("train_step", batchOf(1)); // and is not waited for
  t.session->run("train_step", batchOf(2));
  t.session.reset();
  CHECK(t.gpu.leaked() == 0);
  CHECK(t.gpu.calls("cuStreamDestroy") == t.gpu.calls("cuStreamCreate"));
  Session next(Model::load(fake("cuda")), options()); // the device is as it was
  CHECK(train(next) == train(t.cpu));
}

TEST_CASE("gpu staged inputs: calls that fail leave the session usable") {
  Staged t;
  auto [function, calls] = GENERATE(table<std::string, int>({{"cuStreamWaitEvent", 2},
                                                             {"cuMemcpyHtoDAsync", 3},
                                                             {"cuMemcpyDtoDAsync", 1},
                                                             {"cuEventRecord", 2}}));
  for (int call = 1; call <= calls; ++call) {
    INFO("call " << call << " of " << function);
    t.session->run("grad_step", batchOf(1)); // not waited for
    {
      Setting failing("STANDIN_FAIL", function + ":" + std::to_string(call));
      CHECK_THAT(errorOf(ErrorKind::machine, [&] { t.session->run("grad_step", batchOf(2)); }),
                 Contains("the GPU failed in writing the inputs of grad_step"));
    }
    for (int i : {3, 4})
      CHECK(t.session->run("grad_step", batchOf(i)).loss() ==
            t.cpu.run("grad_step", batchOf(i)).loss());
  }
  t.session->run("grad_step", batchOf(1));
  {
    Setting failing("STANDIN_FAIL", function + ":1");
    errorOf(ErrorKind::machine, [&] { t.session->run("grad_step", batchOf(2)); });
  }
  t.session.reset(); // what was on its way has arrived
  CHECK(t.gpu.leaked() == 0);
  Session next(Model::load(fake("cuda")), options());
  CHECK(train(next) == train(t.cpu));
}
