// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs return before their work is done. The stand-in does a stream's work only when somebody waits
// for it, so what needs a wait and has none sees memory as it was.
#include "FakeModels.h"
#include "StandIn.h"
#include "Support.h"

#include <memory>
#include <optional>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;
using Catch::Matchers::EndsWith;

namespace {

constexpr const char *late = "(in an earlier run, whose result was not read)";

} // namespace

TEST_CASE("gpu run ahead: two runs are queued, the third waits for the first") {
  StandIn gpu;
  bool graph = GENERATE(true, false);
  Session cpu(Model::load(fake("cpu")), options());
  Session session(Model::load(fake("cuda")), options(graph));
  session.run("train_step", batchOf(0)).wait();
  cpu.run("train_step", batchOf(0));
  gpu.reset();
  TensorMap given = batchOf(1); // the same memory for all
  Result first = session.run("train_step", given);
  given.at("x").data<float>()[0] = 17;
  Result second = session.run("train_step", given);
  CHECK(gpu.waits() == 0);
  given.at("x").data<float>()[0] = -17;
  Result third = session.run("train_step", given);
  CHECK(gpu.calls("cuEventSynchronize") == 1);
  CHECK(gpu.calls("cuStreamSynchronize") == 0);
  given.at("x").data<float>()[0] = 0;

  given = batchOf(1);
  cpu.run("train_step", given);
  given.at("x").data<float>()[0] = 17;
  CHECK(second.loss() == cpu.run("train_step", given).loss());
  given.at("x").data<float>()[0] = -17;
  CHECK(third.loss() == cpu.run("train_step", given).loss());
  CHECK(gpu.waits() == 3);
  CHECK(second.loss() != third.loss());
  CHECK(gpu.waits() == 3); // what is over is not waited for
  CHECK_THAT(errorOf(ErrorKind::usage, [&] { first.loss(); }),
             Contains("train_step: later runs have overwritten this result"));
  CHECK(state(session) == state(cpu));
}

TEST_CASE("gpu run ahead: a loss is read one step later, on both targets") {
  StandIn gpu;
  std::vector<std::vector<float>> losses;
  for (const char *target : {"cpu", "cuda"}) {
    Session session(Model::load(fake(target)), options());
    std::optional<Result> before;
    losses.emplace_back();
    for (int i = 0; i < 4; ++i) {
      Result result = session.run("train_step", batchOf(i));
      if (before)
        losses.back().push_back(before->loss());
      before = result;
    }
    losses.back().push_back(before->loss());
  }
  CHECK(losses[0] == losses[1]);
}

TEST_CASE("gpu run ahead: tensors are those of their run until the next run but one") {
  StandIn gpu;
  Session cpu(Model::load(fake("cpu")), options()), session(Model::load(fake("cuda")), options());
  auto gradient = [](const Result &result) { return values(result["grad.linear.weight"]); };
  std::vector<float> zero = gradient(cpu.run("grad_step", batchOf(0))),
                     one = gradient(cpu.run("grad_step", batchOf(1)));
  REQUIRE(zero != one);
  Result first = session.run("grad_step", batchOf(0)),
         second = session.run("grad_step", batchOf(1));
  CHECK(gradient(second) == one);
  CHECK(gradient(first) == zero);
  session.run("grad_step", batchOf(2));
  CHECK(gradient(second) == one);
  errorOf(ErrorKind::usage, [&] { first.tensors(); });
  errorOf(ErrorKind::usage, [&] { first.find("loss"); });
  CHECK(first.has_loss());
}

TEST_CASE("gpu run ahead: data at fault is reported where the result is read") {
  StandIn gpu;
  Session cpu(Model::load(fake("cpu")), options()), session(Model::load(fake("cuda")), options());
  Result bad = session.run("train_step", badBatch()), good = session.run("train_step", batch());
  for (int i = 0; i < 2; ++i)
    CHECK_THAT(errorOf(ErrorKind::data, [&] { bad.loss(); }), EndsWith("is not a number"));
  // What comes later goes on from the state before it.
  CHECK(good.loss() == cpu.run("train_step", batch()).loss());
  CHECK(state(session) == state(cpu));
  session.synchronize();
  CHECK(session.step() == 2); // the second had been counted already

  errorOf(ErrorKind::data, [&] { session.run("train_step", badBatch()).loss(); });
  CHECK(session.step() == 2);
}

TEST_CASE("gpu run ahead: data at fault is reported by the next run but one") {
  StandIn gpu;
  bool graph = GENERATE(true, false);
  Session cpu(Model::load(fake("cpu")), options());
  Session session(Model::load(fake("cuda")), options(graph));
  session.run("train_step", badBatch());
  session.run("train_step", batchOf(1));
  CHECK_THAT(errorOf(ErrorKind::data, [&] { session.run("train_step", batchOf(2)); }),
             Contains("target[0] is not a number") && EndsWith(late));
  session.run("train_step", batchOf(2)); // was not started before
  for (int i : {1, 2})
    cpu.run("train_step", batchOf(i));
  CHECK(state(session) == state(cpu));
}

TEST_CASE("gpu run ahead: data at fault is reported once by what waits for all runs") {
  StandIn gpu;
  Folder folder;
  Session session(Model::load(fake("cuda")), options());
  session.save_checkpoint(folder / "checkpoint");
  session.save(folder / "parameters");
  Tensor weight = session.variable("linear.weight");
  std::vector<std::pair<const char *, std::function<void()>>> calls = {
      {"synchronize", [&] { session.synchronize(); }},
      {"variable", [&] { session.variable("linear.weight"); }},
      {"set_variable", [&] { session.set_variable("linear.weight", weight); }},
      {"save", [&] { session.save(folder / "new"); }},
      {"load", [&] { session.load(folder / "parameters"); }},
      {"save_checkpoint", [&] { session.save_checkpoint(folder / "new"); }},
      {"load_checkpoint", [&] { session.load_checkpoint(folder / "checkpoint"); }},
      {"start_profile", [&] { session.start_profile(); }}};
  for (const auto &[name, call] : calls) {
    INFO(name);
    session.run("train_step", badBatch());
    CHECK_THAT(errorOf(ErrorKind::data, call), EndsWith(late));
    CHECK_FALSE(std::filesystem::exists(folder / "new"));
    CHECK(session.step() == 0);
    session.synchronize();
  }
}

TEST_CASE("gpu run ahead: gradients whose data was at fault are not applied") {
  StandIn gpu;
  Session session(Model::load(fake("cuda")), options());
  std::vector<float> before = state(session);
  Result gradients = session.run("grad_step", badBatch());
  CHECK_THAT(errorOf(ErrorKind::data, [&] { session.run("apply_step", {}, gradients); }),
             EndsWith("is not a number"));
  CHECK(state(session) == before);
}

TEST_CASE("gpu run ahead: sizes and entry points have slots of their own") {
  StandIn gpu;
  Session session(Model::load(fake("sizes")), options()),
      plain(Model::load(fake("sizes")), options());
  CHECK(takeTurns(session, /*oneByOne=*/false) == takeTurns(plain, true));
  CHECK(state(session) == state(plain));
}

TEST_CASE("gpu run ahead: memory that grows is not taken from runs under way") {
  StandIn gpu;
  Setting poison("ACCC_POISON", "1"); // which every run writes to the arena
  Session cpu(Model::load(fake("cpu")), options()), session(Model::load(fake("cuda")), options());
  Result small = session.run("eval_step", batch()); // whose arena is the smallest
  Result large = session.run("train_step", batch());
  CHECK(values(small["y"]) == values(cpu.run("eval_step", batch())["y"]));
  CHECK(large.loss() == cpu.run("train_step", batch()).loss());
}

TEST_CASE("gpu run ahead: two sessions, neither of which is read") {
  StandIn gpu;
  {
    Session first(Model::load(fake("cuda")), options()),
        second(Model::load(fake("cuda")), options());
    for (int i = 0; i < 5; ++i) {
      first.run("train_step", batchOf(i));
      second.run("train_step", batchOf(i));
    }
    CHECK(state(first) == state(second));
    first.run("train_step", batch()); // under way when the session ends
    first.run("train_step", badBatch());
  }
  CHECK(gpu.leaked() == 0);
}

TEST_CASE("gpu run ahead: a failed device is reported where the result is read") {
  StandIn gpu;
  Session session(Model::load(fake("wild_kernel")));
  Result result = session.run("train_step", batch());
  for (int i = 0; i < 2; ++i)
    CHECK_THAT(errorOf(ErrorKind::machine, [&] { result.loss(); }),
               Contains("running train_step") && Contains("CUDA_ERROR_ILLEGAL_ADDRESS"));
}

TEST_CASE("gpu run ahead: a trainer's throughput includes what its steps are waited for") {
  StandIn gpu;
  Trainer trainer(Model::load(fake("cuda")), options());
  for (int i = 0; i < 6; ++i)
    trainer.step(batch());
  Throughput throughput = trainer.throughput();
  CHECK(throughput.steps == 5);
  CHECK(throughput.examples == 20);
  double waited = trainer.session().wait_seconds();
  CHECK(throughput.seconds > 0.5 * waited); // nearly all work of the stand-in
  trainer.eval(batch());
  CHECK(trainer.session().wait_seconds() > waited);
  CHECK(trainer.throughput().seconds == Approx(throughput.seconds));
  trainer.reset_throughput();
  CHECK(trainer.throughput().seconds == Approx(0));
  trainer.step(batch()).loss();
  CHECK(trainer.throughput().seconds > 0);
}
