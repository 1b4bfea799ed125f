// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sessions on a GPU.
#include "FakeModels.h"
#include "StandIn.h"
#include "Support.h"

#include <memory>
#include <thread>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

TEST_CASE("gpu session: trains as the CPU does, with graphs and without") {
  StandIn gpu;
  Session cpu(Model::load(fake("cpu")), options());
  std::vector<float> expected = train(cpu);
  bool graph = GENERATE(true, false);
  {
    Session session(Model::load(fake("cuda")), options(graph));
    CHECK(session.model().code().target == std::string("cuda"));
    CHECK(train(session) == expected);
    CHECK(session.run("train_step", batch())["random"].item<int64_t>() == 5);
    CHECK(gpu.calls("cuGraphLaunch") == (graph ? 5 : 0)); // all but the first
    CHECK(gpu.calls("cuGraphInstantiateWithFlags") == (graph ? 1 : 0));
  }
  CHECK(gpu.leaked() == 0);
}

TEST_CASE("gpu session: nothing in a replayed step is a call of its own") {
  StandIn gpu;
  Session session(Model::load(fake("cuda")), options());
  train(session, 3);
  gpu.reset();
  session.run("train_step", batch());
  for (const char *once :
       {"cuMemcpyHtoDAsync", "cuGraphLaunch", "cuMemcpyDtoHAsync", "cuEventRecord"}) {
    INFO(once);
    CHECK(gpu.calls(once) == 1);
  }
  for (const char *absent :
       {"cuLaunchKernel", "cublasLtMatmul", "cuMemsetD8Async", "cuMemAlloc", "cuMemAllocHost",
        "cuStreamSynchronize", "cuEventSynchronize", "cuEventCreate"}) {
    INFO(absent);
    CHECK(gpu.calls(absent) == 0);
  }
}

TEST_CASE("gpu session: the environment switches graphs off") {
  StandIn gpu;
  Setting off("ACCC_CUDA_GRAPH", "0");
  Session session(Model::load(fake("cuda")), options());
  train(session);
  CHECK(gpu.calls("cuGraphLaunch") == 0);
}

TEST_CASE("gpu session: steps run side by side in a graph, to the same bits") {
  StandIn gpu;
  Session cpu(Model::load(fake("cpu")), options());
  std::vector<float> expected = train(cpu);
  Setting branches("ACCC_CUDA_BRANCHES", "1"), order("STANDIN_GRAPHS", "late"),
      poison("ACCC_POISON", GENERATE(as<std::string>(), "0", "1"));
  Session session(Model::load(fake("cuda")), options());
  CHECK(train(session) == expected);
  CHECK(gpu.calls("cuStreamUpdateCaptureDependencies") > 0);
  CHECK(gpu.calls("cuGraphLaunch") > 0);
}

TEST_CASE("gpu session: gradients, updates and evaluation by hand") {
  StandIn gpu;
  Session cpu(Model::load(fake("cpu")), options()), session(Model::load(fake("cuda")), options());
  for (int i = 0; i < 3; ++i) {
    Result expected = cpu.run("grad_step", batch()), got = session.run("grad_step", batch());
    CHECK(got.loss() == expected.loss());
    for (const char *name : {"grad.linear.weight", "grad.linear.bias"})
      CHECK(values(got[name]) == values(expected[name]));
    cpu.run("apply_step", {}, expected);
    session.run("apply_step", {}, got);
    CHECK(state(session) == state(cpu));
    CHECK(values(session.run("eval_step", batch())["y"]) ==
          values(cpu.run("eval_step", batch())["y"]));
  }
}

TEST_CASE("gpu session: entries share memory that grows under those prepared before") {
  StandIn gpu;
  Session cpu(Model::load(fake("cpu")), options()), session(Model::load(fake("cuda")), options());
  auto evaluate = [&](Session &which) { return values(which.run("eval_step", batch())["y"]); };
  std::vector<float> before = evaluate(session); // whose arena is the smallest
  CHECK(evaluate(session) == before);            // captured
  uint64_t small = session.working_bytes();
  CHECK(train(session) == train(cpu));
  CHECK(session.working_bytes() > small);
  CHECK(evaluate(session) == evaluate(cpu));
  CHECK(evaluate(session) == evaluate(cpu));
}

TEST_CASE("gpu session: several sizes") {
  StandIn gpu;
  Session session(Model::load(fake("sizes")), options());
  for (int i = 0; i < 3; ++i) {
    CHECK(std::isfinite(session.run("train_step", batch()).loss()));
    CHECK(std::isfinite(session.run("train_step", smallBatch()).loss()));
  }
}

TEST_CASE("gpu session: data at fault changes nothing") {
  StandIn gpu;
  bool graph = GENERATE(true, false);
  Session session(Model::load(fake("cuda")), options(graph));
  train(session);
  std::vector<float> before = state(session);
  for (int i = 0; i < 2; ++i)
    CHECK_THAT(errorOf(ErrorKind::data, [&] { session.run("train_step", badBatch()).loss(); }),
               Contains("target[0] is not a number"));
  CHECK(state(session) == before);
  CHECK(std::isfinite(session.run("train_step", batch()).loss()));
  CHECK(state(session) != before);
}

TEST_CASE("gpu session: variables are copies, set and saved") {
  StandIn gpu;
  Folder folder;
  Session session(Model::load(fake("cuda")), options());
  Tensor weight = session.variable("linear.weight");
  CHECK(values(weight) == std::vector<float>{0.5f, -0.25f, 1.0f});
  weight.data<float>()[0] = 17;
  CHECK(session.variable("linear.weight").data<float>()[0] == 0.5f);
  session.set_variable("linear.weight", weight);
  CHECK(session.variable("linear.weight").data<float>()[0] == 17);
  CHECK(session.variable("velocity.linear.bias").item<float>() == 0); // the state starts as zeros

  session.save_checkpoint(folder / "checkpoint");
  std::vector<float> next = train(session);
  Session again(Model::load(fake("cuda")), options());
  again.load_checkpoint(folder / "checkpoint");
  CHECK(train(again) == next);
}

TEST_CASE("gpu session: a profile has a time for every launch and call") {
  StandIn gpu;
  Session session(Model::load(fake("cuda")), options());
  session.start_profile();
  std::vector<float> profiled = train(session, 3);
  auto steps = session.profile("train_step");
  const accc_entry &entry = session.model().entry("train_step");
  CHECK(steps.size() == size_t(entry.num_launches + entry.num_library_calls));
  for (const ProfiledStep &step : steps)
    CHECK(step.seconds > 0);
  CHECK(steps[1].label == "matmul");
  CHECK(gpu.calls("cuGraphLaunch") == 0);
  Session plain(Model::load(fake("cuda")), options());
  CHECK(train(plain, 3) == profiled);
}

TEST_CASE("gpu session: poison shows what is read before it is written") {
  StandIn gpu;
  Setting poison("ACCC_POISON", "1");
  Session session(Model::load(fake("cuda")), options());
  for (int i = 0; i < 3; ++i)
    CHECK(std::isnan(session.run("peek", {}).loss()));
  Session cpu(Model::load(fake("cpu")), options());
  CHECK(train(session) == train(cpu));
}

TEST_CASE("gpu session: what was never written is not read") {
  StandIn gpu;
  Session session(Model::load(fake("cuda")), options());
  CHECK_THAT(errorOf(ErrorKind::machine, [&] { session.run("peek", {}).loss(); }),
             Contains("running peek: an illegal memory access was encountered"));
}

TEST_CASE("gpu session: two at once, and one after another, in other threads") {
  StandIn gpu;
  Session first(Model::load(fake("cuda")), options()), second(Model::load(fake("cuda")), options());
  for (int i = 0; i < 3; ++i)
    CHECK(first.run("train_step", batch()).loss() == second.run("train_step", batch()).loss());
  std::thread([&] { first.run("train_step", batch()); }).join();
  second.run("train_step", batch());
  CHECK(state(first) == state(second));
}

TEST_CASE("gpu session: each thread has one of its own") {
  StandIn gpu;
  auto trainOne = [] {
    Session session(Model::load(fake("cuda")), options());
    return train(session, 12);
  };
  std::vector<std::vector<float>> found(3);
  std::vector<std::thread> threads;
  for (auto &each : found)
    threads.emplace_back([&] { each = trainOne(); });
  for (std::thread &thread : threads)
    thread.join();
  const std::vector<float> expected = trainOne();
  for (const auto &each : found)
    CHECK(each == expected);
}

TEST_CASE("gpu session: gives its memory back in another thread, too") {
  StandIn gpu;
  auto session = std::make_unique<Session>(Model::load(fake("cuda")), options());
  train(*session, 2);
  CHECK(gpu.leaked() > 0);
  std::thread([&] { session.reset(); }).join();
  CHECK(gpu.leaked() == 0);
}
