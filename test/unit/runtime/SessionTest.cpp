// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models, sessions and trainers on a compiled model written by hand.
#include "FakeModel.h"
#include "Support.h"
#include "core/Device.h"

#include <atomic>
#include <cmath>
#include <new>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {
std::atomic<int64_t> allocations{0};
} // namespace

// Counted, to see that a step allocates nothing. Not under AddressSanitizer, which has its own.
#if !__has_feature(address_sanitizer)
void *operator new(size_t bytes) {
  ++allocations;
  if (void *memory = std::malloc(bytes ? bytes : 1))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, size_t) noexcept { std::free(memory); }
#endif

TEST_CASE("model: a compiled model describes itself") {
  Model model = Model::load(fake("good"));
  CHECK(model.name() == "linear");
  CHECK(model.entries().size() == 5);
  CHECK(to_string(model.find_variable("linear.weight")->tensor) == "f32[3, 1]");
  CHECK(model.find_entry("absent") == nullptr);
  CHECK_THAT(errorOf(ErrorKind::usage, [&] { model.entry("absent"); }),
             Contains("absent") && Contains("train_step, grad_step"));
}

TEST_CASE("model: what cannot be loaded says why") {
  auto [name, kind, expected] = GENERATE(table<std::string, ErrorKind, std::string>({
      {"absent", ErrorKind::usage, "No such file"},
      {"no_symbol", ErrorKind::data, "no symbol 'accc_model'"},
      {"wrong_version", ErrorKind::data, "compile it again"},
      {"wrong_size", ErrorKind::bug, "another size"},
      {"wrong_target", ErrorKind::machine, "x86-64 needs a runtime for tpu"},
      {"no_arch", ErrorKind::machine,
       "neither, nor, which this machine cannot run (neither needs a CPU with "},
      {"no_code", ErrorKind::bug, "it has no code"},
      {"no_sizes", ErrorKind::bug, "without a name or sizes"},
      {"twice", ErrorKind::bug, "two entry points are called apply_step"},
      {"same_inputs", ErrorKind::bug, "train_step takes the same for rows=4 and rows=2"},
      {"overlap", ErrorKind::bug, "linear.weight and linear.bias overlap"},
      {"wrong_order", ErrorKind::bug, "variable scale lies in an order that does not name each"},
      {"i32_matmul", ErrorKind::machine, "matmul of i32"},
      {"unknown_kernel", ErrorKind::bug, "train_step has a step that runs nothing"},
      {"out_of_arena", ErrorKind::bug, "a buffer of train_step reaches out of its block"},
      {"custom_path", ErrorKind::bug, "eval_step's custom call names no operator of a library"},
      {"writes_constant", ErrorKind::bug, "a buffer of train_step is written where only reading"},
  }));
  CHECK_THAT(errorOf(kind, [&] { Model::load(fake(name)); }), Contains(name) && Contains(expected));
  Folder folder;
  writeFile(folder / "text.so", "not a library");
  CHECK_THAT(errorOf(ErrorKind::data, [&] { Model::load(folder / "text.so"); }),
             Contains("text.so"));
  // The features it names are all here or unknown.
  CHECK_NOTHROW(Model::load(fake("wrong_arch")));
}

TEST_CASE("model: a file that has taken another's name is loaded, also while that is in use") {
  Folder folder;
  const std::string path = folder / "m.so";
  auto put = [&](const std::string &name) {
    std::filesystem::copy_file(fake(name), folder / "new");
    std::filesystem::rename(folder / "new", path);
  };
  put("good");
  std::optional<Model> good(Model::load(path));
  put("sizes");
  Model sizes = Model::load(path);
  CHECK(good->sizes().size() == 1);
  CHECK(sizes.sizes().size() == 2);
  CHECK(sizes.path() == good->path());
  put("ordered");
  Model ordered = Model::load(path);
  CHECK(ordered.sizes().size() == 1);
  CHECK(&ordered.description() != &good->description());
  CHECK(&Model::load(path).description() == &ordered.description()); // one file is one library
  good.reset();
  put("sizes");
  CHECK(Model::load(path).sizes().size() == 2);
}

TEST_CASE("model: the first code that the CPU can run is taken") {
  Model model = Model::load(fake("archs"));
  CHECK(model.code().arch == std::string("x86-64-v2"));
  ::setenv("ACCC_ARCH", "x86-64", 1);
  CHECK(Model::load(fake("archs")).code().arch == std::string("x86-64"));
  ::setenv("ACCC_ARCH", "neither", 1);
  CHECK_THAT(errorOf(ErrorKind::machine, [&] { Model::load(fake("archs")); }),
             Contains("neither needs"));
  ::setenv("ACCC_ARCH", "z80", 1);
  CHECK_THAT(errorOf(ErrorKind::usage, [&] { Model::load(fake("archs")); }),
             Contains("no code for ACCC_ARCH=z80") && Contains("neither, x86-64-v2, x86-64"));
  ::unsetenv("ACCC_ARCH");
}

TEST_CASE("sizes: the shapes of a batch choose, and all train the same parameters") {
  Model model = Model::load(fake("sizes"));
  CHECK(model.sizes() == std::vector<std::string_view>{"rows=4", "rows=2"});
  CHECK(Model::load(fake("good")).sizes() == std::vector<std::string_view>{""});
  CHECK(model.entry("train_step").sizes == std::string("rows=4"));
  CHECK(model.entry("train_step", "rows=2").inputs[0].tensor.shape[0] == 2);
  CHECK(model.entry("apply_step", "rows=2").sizes == std::string());
  CHECK_THAT(errorOf(ErrorKind::usage, [&] { model.entry("train_step", "rows=3"); }),
             Contains("no train_step for rows=3") && Contains("rows=4 or rows=2"));

  // A batch of two rows twice over has the loss and gradients of one of four.
  TensorMap few{{"x", Tensor::of<float>({2, 3}, {1, 0, 2, -1, 1, 0})},
                {"target", Tensor::of<float>({2, 1}, {1, -1})}};
  TensorMap twice{{"x", Tensor::of<float>({4, 3}, {1, 0, 2, -1, 1, 0, 1, 0, 2, -1, 1, 0})},
                  {"target", Tensor::of<float>({4, 1}, {1, -1, 1, -1})}};
  Trainer mixed(model, {.learning_rate = 0.1f, .seed = 3});
  Trainer alone(Model::load(fake("good")), {.learning_rate = 0.1f, .seed = 3});
  for (int i = 0; i < 6; ++i) {
    const TensorMap &batch = i % 2 ? few : twice;
    Result result = mixed.step(batch), expected = alone.step(twice);
    CHECK(result.entry().sizes == std::string(i % 2 ? "rows=2" : "rows=4"));
    CHECK(result.loss() == Approx(expected.loss()));
    // One counter for all sizes.
    CHECK(result["random"].item<int64_t>() == 3000 + i);
  }
  CHECK_THAT(parameters(mixed.session()), Catch::Matchers::Approx(parameters(alone.session())));
  mixed.apply_step(mixed.grad_step(few));
  CHECK(mixed.throughput().steps == 4); // without the first of each
  CHECK(mixed.throughput().examples == 2 * 4 + 2 * 2);
  CHECK(mixed.batch_size() == 4);

  int64_t before = allocations;
  mixed.step(few).loss();
  mixed.step(twice).loss();
  CHECK(allocations == before);

  Session session(model);
  session.prepare("train_step");
  CHECK(session.choose("train_step", few).sizes == std::string("rows=2"));
  TensorMap wrong = few;
  wrong.at("x") = Tensor(DType::f32, {5, 3});
  wrong["foo"] = Tensor();
  std::string message = errorOf(ErrorKind::usage, [&] { session.run("train_step", wrong); });
  CHECK_THAT(message,
             Contains("x: expected f32[4, 3] (rows=4) or f32[2, 3] (rows=2), got f32[5, 3]") &&
                 Contains("target: expected") && Contains("foo: the model has no such input") &&
                 !Contains("learning_rate"));
  CHECK_THAT(errorOf(ErrorKind::usage, [&] { session.run("train_step", {}); }),
             Contains("x: expected f32[4, 3] (rows=4) or f32[2, 3] (rows=2), not given"));
}

TEST_CASE("trainer: steps reduce the loss and equal gradients applied apart") {
  Model model = Model::load(fake("good"));
  Trainer whole(model, {.learning_rate = 0.1f, .seed = 3});
  Trainer parts(model, {.learning_rate = 0.1f, .seed = 3, .threads = 1});
  float first = 0, last = 0;
  for (int i = 0; i < 20; ++i) {
    Result result = whole.step(batch());
    CHECK(result["random"].item<int64_t>() == 3000 + i);
    last = result.loss();
    first = i ? first : last;
    Result gradients = parts.grad_step(batch());
    CHECK(gradients.loss() == Approx(last));
    parts.apply_step(gradients);
  }
  CHECK(last < first / 10);
  CHECK(parameters(whole.session()) == parameters(parts.session()));
  CHECK(whole.step_count() == 20);
  CHECK(whole.throughput().steps == 19); // all but the first
  CHECK(whole.throughput().examples == 19 * 4);
  CHECK(whole.throughput().steps_per_second() > 0);

  SECTION("the learning rate is set between steps") {
    std::vector<float> before = parameters(whole.session());
    whole.set_learning_rate(0);
    whole.step(batch());
    CHECK(parameters(whole.session()) == before);
  }
  SECTION("eval takes the same batch, whose target it does not need") {
    float loss = 0;
    Result result = whole.eval(batch());
    for (size_t i = 0; i < 4; ++i)
      loss += std::pow(result["y"].data<float>()[i] - batch().at("target").data<float>()[i], 2) / 4;
    CHECK(whole.grad_step(batch()).loss() == Approx(loss));
    CHECK_FALSE(result.has_loss());
    CHECK_THAT(errorOf(ErrorKind::usage, [&] { result.loss(); }), Contains("no loss"));
    CHECK_THAT(errorOf(ErrorKind::usage, [&] { result["z"]; }), Contains("it has: y"));
  }
  SECTION("gradients of one's own") {
    whole.apply_step({{"grad.linear.weight", Tensor(DType::f32, {3, 1})},
                      {"grad.linear.bias", Tensor(DType::f32, {1})}});
    CHECK(whole.throughput().steps == 19); // the first apply_step again
  }
}

TEST_CASE("session: wrong inputs are listed at once") {
  Session session(Model::load(fake("good")));
  std::vector<float> before = parameters(session);
  std::string message = errorOf(ErrorKind::usage, [&] {
    session.run("train_step", {{"x", Tensor(DType::f32, {4, 4})}, {"foo", Tensor()}});
  });
  CHECK_THAT(message, Contains("x: expected f32[4, 3], got f32[4, 4]") &&
                          Contains("target: expected f32[4, 1], not given") &&
                          Contains("foo: the model has no such input"));
  TensorMap wrong = batch();
  wrong.at("x") = Tensor(DType::f64, {4, 3});
  CHECK_THAT(errorOf(ErrorKind::usage, [&] { session.run("train_step", wrong); }),
             Contains("got f64[4, 3]"));
  wrong.at("x") = Tensor(DType::f32, {4, 3, 1}); // more dimensions, the first of which fit
  CHECK_THAT(errorOf(ErrorKind::usage, [&] { session.run("train_step", wrong); }),
             Contains("got f32[4, 3, 1]"));
  wrong.at("x") = Tensor::borrow(DType::f32, {4, 3}, nullptr);
  CHECK_THAT(errorOf(ErrorKind::usage, [&] { session.run("train_step", wrong); }),
             Contains("x: it has no elements in memory"));
  TensorMap bad = batch();
  bad.at("target").data<float>()[0] = NAN;
  CHECK_THAT(errorOf(ErrorKind::data, [&] { session.run("train_step", bad); }),
             Contains("target[0] is not a number"));
  CHECK(parameters(session) == before);
  CHECK(session.step() == 0);
  CHECK_THAT(errorOf(ErrorKind::usage, [&] { session.variable("absent"); }), Contains("absent"));
}

TEST_CASE("session: a failing library call is the machine's fault, not the data's") {
  Session session(Model::load(fake("failing_call")));
  std::vector<float> before = parameters(session);
  for (const char *entry : {"train_step", "grad_step"})
    CHECK_THAT(errorOf(ErrorKind::machine, [&] { session.run(entry, batch()); }),
               Contains(std::string(entry) + ": "));
  CHECK(parameters(session) == before);
  CHECK(session.step() == 0);
}

TEST_CASE("cpu: a library call that fails ends the step, and says which it was") {
  Model model = Model::load(fake("good"));
  accc_entry entry = model.entry("train_step");
  std::vector<accc_step> steps(entry.steps, entry.steps + entry.num_steps);
  for (accc_step &step : steps)
    if (step.kind == ACCC_STEP_LIBRARY_CALL)
      step.index = 7; // there is none
  entry.steps = steps.data();
  auto device = detail::findPlatform("cpu")->open(model.description(), model.code(), {1});
  std::vector<char> before(device->stateBytes()), after(before.size());
  device->readState(0, before.data(), before.size());
  auto prepared = device->prepare(entry);
  TensorMap given = batch();
  Tensor rate = Tensor::of<float>({}, {0.1f}), seed = Tensor::of<int64_t>({}, {1}),
         step = Tensor::of<int64_t>({}, {0});
  prepared->start(0, {{&given.at("x")}, {&given.at("target")}, {&rate}, {&seed}, {&step}});
  CHECK(prepared->wait(0) == ACCC_CALL_FAILED);
  CHECK_THAT(std::string(prepared->failure().what()), Contains("library call 7 failed: "));
  device->readState(0, after.data(), after.size());
  CHECK(after == before);
}

TEST_CASE("cpu: entries that fit run on where another found no memory") {
  Model model = Model::load(fake("good"));
  auto device = detail::findPlatform("cpu")->open(model.description(), model.code(), {1});
  auto peek = device->prepare(model.entry("peek")); // reads its arena
  accc_entry huge = model.entry("train_step");
  huge.arena_size = uint64_t(1) << 60;
  CHECK_THAT(errorOf(ErrorKind::machine, [&] { device->prepare(huge); }),
             Contains("the arena of train_step"));
  peek->start(0, {});
  CHECK(peek->wait(0) == ACCC_DONE);
}

TEST_CASE("session: inputs of any alignment") {
  Session session(Model::load(fake("good")));
  float expected = session.run("grad_step", batch()).loss();
  std::vector<float> storage(13);
  TensorMap shifted = batch();
  auto values = shifted.at("x").data<float>();
  std::copy(values.begin(), values.end(), storage.begin() + 1);
  shifted.at("x") = Tensor::borrow(DType::f32, {4, 3}, storage.data() + 1);
  CHECK(session.run("grad_step", shifted).loss() == expected);
}

TEST_CASE("session: a step takes subnormals for zero") {
  Session session(Model::load(fake("good")));
  session.run("apply_step", {{"grad.linear.weight", Tensor::of<float>({3, 1}, {1e-40f, 1e-30f, 0})},
                             {"grad.linear.bias", Tensor::of<float>({1}, {0})}});
  auto velocity = session.variable("velocity.linear.weight").data<float>();
  CHECK(velocity[0] == 0);
  CHECK(velocity[1] == 1e-30f);
}

TEST_CASE("session: a loss is that of its run, also after the next") {
  Session session(Model::load(fake("good"))), other(Model::load(fake("good")));
  Result first = session.run("train_step", batch()), second = session.run("train_step", batch());
  float loss = other.run("train_step", batch()).loss();
  CHECK(first.loss() == loss);
  CHECK(second.loss() == other.run("train_step", batch()).loss());
  CHECK(first.loss() != second.loss());
  first.wait();
  session.synchronize();
  CHECK(session.wait_seconds() == 0);
}

TEST_CASE("session: a step allocates nothing") {
  Trainer trainer(Model::load(fake("good")));
  TensorMap data = batch();
  trainer.step(data);
  int64_t before = allocations;
  for (int i = 0; i < 10; ++i)
    trainer.step(data).loss();
  CHECK(allocations == before);
}

TEST_CASE("session: a result that a later run has overwritten is not taken for that run's") {
  Trainer trainer(Model::load(fake("good")), {.learning_rate = 0.1f});
  TensorMap other = batch();
  other.at("target") = Tensor(DType::f32, {4, 1});
  Result first = trainer.grad_step(batch());
  const float loss = first.loss();
  (void)trainer.eval(batch()); // another entry point
  CHECK(first["grad.linear.weight"].size() == 3);
  Result second = trainer.grad_step(other);
  CHECK(first.loss() == loss);
  CHECK(second.loss() != loss);
  std::vector<float> before = parameters(trainer.session());
  const std::function<void()> uses[] = {
      [&] { (void)first["y"]; }, [&] { (void)first.find("grad.linear.bias"); },
      [&] { (void)first.tensors(); }, [&] { trainer.apply_step(first); }};
  for (const auto &use : uses)
    CHECK_THAT(errorOf(ErrorKind::usage, use),
               Contains("grad_step: later runs have overwritten this result"));
  CHECK(parameters(trainer.session()) == before);
  trainer.apply_step(second);
  CHECK(parameters(trainer.session()) != before);
}

TEST_CASE("session: a poisoned arena shows what is read before it is written") {
  ::setenv("ACCC_POISON", "1", 1);
  Session session(Model::load(fake("good")));
  ::unsetenv("ACCC_POISON");
  Result result = session.run("peek", {});
  CHECK(std::isnan(result.loss()));
  CHECK(std::isnan(result["y"].data<float>()[0])); // an output that nobody writes
}

TEST_CASE("trainer: the learning rate is the given one, or that of the library's optimizer") {
  CHECK(Trainer(Model::load(fake("manifest"))).learning_rate() == 0.25f);
  CHECK(Trainer(Model::load(fake("manifest")), {.learning_rate = 0}).learning_rate() == 0);
  CHECK(Trainer(Model::load(fake("good"))).learning_rate() == 1e-3);

  Trainer given(Model::load(fake("manifest")), {.learning_rate = 0.25f}),
      own(Model::load(fake("manifest")), {.seed = 1});
  given.step(batch());
  own.step(batch());
  CHECK(parameters(given.session()) == parameters(own.session()));
}

TEST_CASE("session: the arena is as large as the largest entry point wants") {
  Session session(Model::load(fake("good")));
  session.run("eval_step", batch());
  uint64_t before = session.working_bytes();
  session.run("grad_step", batch());
  CHECK(session.working_bytes() >= before + 64);
}

TEST_CASE("session: what is given counts before what another run gave") {
  Session session(Model::load(fake("good")));
  Result gradients = session.run("grad_step", batch());
  float weight = session.variable("linear.weight").data<float>()[0];
  session.run("apply_step",
              {{"grad.linear.bias", Tensor::of<float>({1}, {0})},
               {"learning_rate", Tensor::scalar<float>(1)}},
              gradients);
  CHECK(session.variable("linear.bias").data<float>()[0] == 0.125f);
  CHECK(session.variable("linear.weight").data<float>()[0] ==
        weight - gradients["grad.linear.weight"].data<float>()[0]);
}

TEST_CASE("session: an evaluation is no step") {
  Trainer trainer(Model::load(fake("good")), {.learning_rate = 0.1f});
  trainer.step(batch());
  trainer.eval(batch());
  CHECK(trainer.step_count() == 1);
}

TEST_CASE("session: what is prepared for all sizes takes nothing more later") {
  Session session(Model::load(fake("sizes")));
  session.prepare("grad_step");
  uint64_t before = session.working_bytes();
  session.run("grad_step", batch());
  session.run("grad_step", {{"x", Tensor::of<float>({2, 3}, {1, 0, 2, -1, 1, 0})},
                            {"target", Tensor::of<float>({2, 1}, {1, -1})}});
  CHECK(session.working_bytes() == before);
}
