// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Large outputs stay on the device until they are read, and go from one entry point to another
// there. The fake models' tensors are large where ACCC_CUDA_LARGE_BYTES says so: all but the loss
// and the bias.
#include "FakeModels.h"
#include "StandIn.h"
#include "Support.h"

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {

constexpr const char *weightGradient = "grad.linear.weight";

struct Large {
  Setting large{"ACCC_CUDA_LARGE_BYTES", "8"};
  StandIn gpu;
  Session cpu{Model::load(fake("cpu")), options()};
  Session session{Model::load(fake("cuda")), options(GENERATE(true, false))};
};

} // namespace

TEST_CASE("gpu large tensors: training is that of the CPU") {
  Large t;
  CHECK(train(t.session) == train(t.cpu));
}

TEST_CASE("gpu large tensors: gradients, updates and evaluation are those of the CPU") {
  Large t;
  for (int i = 0; i < 3; ++i) {
    Result expected = t.cpu.run("grad_step", batch()), got = t.session.run("grad_step", batch());
    CHECK(got.loss() == expected.loss());
    for (const auto &[name, value] : expected.tensors())
      if (value.dtype() == DType::f32)
        CHECK(values(got.tensors().at(name)) == values(value));
    t.cpu.run("apply_step", {}, expected);
    t.session.run("apply_step", {}, got);
    CHECK(state(t.session) == state(t.cpu));
    CHECK(values(t.session.run("eval_step", batch())["y"]) ==
          values(t.cpu.run("eval_step", batch())["y"]));
  }
}

TEST_CASE("gpu large tensors: an output is copied when it is read, once") {
  Large t;
  Result result = t.session.run("grad_step", batch());
  result.loss();
  int copies = t.gpu.calls("cuMemcpyDtoHAsync");
  CHECK(copies == 1);
  Tensor gradient = result[weightGradient];
  CHECK(t.gpu.calls("cuMemcpyDtoHAsync") == copies + 1);
  CHECK(result[weightGradient].raw() == gradient.raw());
  CHECK(t.gpu.calls("cuMemcpyDtoHAsync") == copies + 1);
  CHECK(values(gradient) == values(t.cpu.run("grad_step", batch())[weightGradient]));
}

TEST_CASE("gpu large tensors: gradients go to the update on the device") {
  Large t;
  auto step = [&](Session &session) {
    session.run("apply_step", {}, session.run("grad_step", batch()));
  };
  for (int i = 0; i < 2; ++i) { // both slots
    step(t.session);
    step(t.cpu);
  }
  t.gpu.reset();
  step(t.session);
  CHECK(t.gpu.calls("cuMemcpyDtoDAsync") == 1); // the weight's
  CHECK(t.gpu.calls("cuMemcpyDtoHAsync") == 2); // a status and what is small, of each entry point
  CHECK(t.gpu.calls("cuMemAllocHost") == 0);
  step(t.cpu);
  CHECK(state(t.session) == state(t.cpu));
}

TEST_CASE("gpu large tensors: a later run overwrites what was not read") {
  Large t;
  Result first = t.session.run("grad_step", batch());
  const Tensor read = first[weightGradient];
  Result second = t.session.run("grad_step", batch());
  CHECK(first[weightGradient].raw() == read.raw()); // on the host since before
  Result third = t.session.run("grad_step", batch());
  CHECK(second.loss() == third.loss());
  std::string message = errorOf(ErrorKind::usage, [&] { second[weightGradient]; });
  CHECK_THAT(message, Contains("grad_step: a later run has overwritten grad.linear.weight") &&
                          Contains("before the next run"));
  CHECK(message == errorOf(ErrorKind::usage, [&] { t.session.run("apply_step", {}, second); }));
  CHECK(values(third[weightGradient]) == values(t.cpu.run("grad_step", batch())[weightGradient]));
}

TEST_CASE("gpu large tensors: a run that fails to start may have overwritten them") {
  Large t;
  t.session.run("grad_step", batch()).loss();
  Result result = t.session.run("grad_step", batch());
  CHECK(std::isfinite(result.loss()));
  {
    Setting failing("STANDIN_FAIL", "cuEventRecord:1"); // after the work is queued
    t.gpu.reset();
    errorOf(ErrorKind::machine, [&] { t.session.run("grad_step", batch()); });
  }
  t.gpu.reset();
  errorOf(ErrorKind::usage, [&] { result[weightGradient]; });
  errorOf(ErrorKind::usage, [&] { t.session.run("apply_step", {}, result); });
}

TEST_CASE("gpu large tensors: gradients of a run that failed are not applied") {
  Large t;
  std::vector<float> before = state(t.session);
  Result bad = t.session.run("grad_step", badBatch());
  for (int i = 0; i < 2; ++i)
    errorOf(ErrorKind::data, [&] { t.session.run("apply_step", {}, bad); });
  CHECK(state(t.session) == before);
}

TEST_CASE("gpu large tensors: gradients of another session come by way of the host") {
  Large t;
  Session other(Model::load(fake("cuda")), options());
  t.session.run("apply_step", {}, other.run("grad_step", batch()));
  CHECK(t.gpu.calls("cuMemcpyDtoDAsync") == 0);
  t.cpu.run("apply_step", {}, t.cpu.run("grad_step", batch()));
  CHECK(state(t.session) == state(t.cpu));
}

TEST_CASE("gpu large tensors: copies that fail leave the session usable") {
  Large t;
  Result result = t.session.run("grad_step", batch());
  result.loss();
  for (const char *function : {"cuMemAllocHost", "cuMemcpyDtoHAsync", "cuMemcpyDtoDAsync"}) {
    INFO(function);
    t.gpu.reset();
    Setting failing("STANDIN_FAIL", std::string(function) + ":1");
    errorOf(ErrorKind::machine, [&] {
      if (function == std::string("cuMemcpyDtoDAsync"))
        t.session.run("apply_step", {}, result);
      else
        result[weightGradient];
    });
  }
  t.gpu.reset();
  t.session.run("apply_step", {}, result);
  t.cpu.run("apply_step", {}, t.cpu.run("grad_step", batch()));
  CHECK(state(t.session) == state(t.cpu));
}

TEST_CASE("gpu large tensors: the limit is a number of bytes") {
  StandIn gpu;
  Setting wrong("ACCC_CUDA_LARGE_BYTES", "8k");
  CHECK_THAT(errorOf(ErrorKind::usage, [] { Session(Model::load(fake("cuda")), options()); }),
             Contains("ACCC_CUDA_LARGE_BYTES=8k: expected a number of bytes"));
}
