// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variables, files of parameters and checkpoints, of a compiled model written by hand.
#include "FakeModel.h"
#include "Support.h"

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

TEST_CASE("session: variables are set where they fit") {
  Session session(Model::load(fake("no_weights")));
  CHECK_THAT(errorOf(ErrorKind::usage, [&] { session.set_variable("absent", Tensor()); }),
             Contains("no parameter absent"));
  for (const Tensor &wrong : {Tensor(DType::f64, {3, 1}), Tensor(DType::f32, {1, 3})})
    CHECK_THAT(errorOf(ErrorKind::usage, [&] { session.set_variable("linear.weight", wrong); }),
               Contains("linear.weight of model linear: expected f32[3, 1], got " +
                        to_string(wrong.dtype(), wrong.shape())));
  CHECK_THAT(errorOf(ErrorKind::usage,
                     [&] {
                       session.set_variable("linear.weight",
                                            Tensor::borrow(DType::f32, {3, 1}, nullptr));
                     }),
             Contains("linear.weight of model linear: it has no elements in memory"));
  session.set_variable("linear.weight", Tensor::of<float>({3, 1}, {1, 2, 3}));
  session.set_variable("scale", Tensor::scalar<int64_t>(7));
  CHECK_THAT(errorOf(ErrorKind::usage, [&] { session.run("grad_step", batch()); }),
             Contains("1 parameters have no value yet (linear.bias"));
  session.set_variable("linear.bias", Tensor::of<float>({1}, {4}));
  CHECK(parameters(session) == std::vector<float>{1, 2, 3, 4});
  session.run("grad_step", batch()); // nothing is missing any more
}

TEST_CASE("session: a tied parameter has several names") {
  Session session(Model::load(fake("manifest")));
  session.set_variable("tied.weight", Tensor::of<float>({3, 1}, {1, 2, 3}));
  CHECK(session.variable("linear.weight").data<float>()[2] == 3);
  CHECK(session.variable("tied.weight").data<float>()[2] == 3);
}

TEST_CASE("parameters: saved under their names and read back") {
  Folder folder;
  Trainer trainer(Model::load(fake("good")), {.learning_rate = 0.1f});
  trainer.step(batch());
  trainer.save(folder / "p.safetensors");
  TensorMap saved = load_safetensors(folder / "p.safetensors");
  CHECK(saved.size() == 3); // no optimizer state
  CHECK(saved.at("scale").item<int64_t>() == 7);

  Trainer other(Model::load(fake("good")));
  other.load(folder / "p.safetensors");
  CHECK(parameters(other.session()) == parameters(trainer.session()));

  SECTION("all differences are listed and nothing is loaded") {
    saved.erase("linear.bias");
    saved.at("linear.weight") = Tensor(DType::f32, {3});
    saved["extra"] = Tensor(DType::i32, {2});
    saved["bn.num_batches_tracked"] = Tensor::scalar<int64_t>(5); // PyTorch's; skipped
    save_safetensors(folder / "bad", saved);
    std::vector<float> before = parameters(other.session());
    std::string message = errorOf(ErrorKind::data, [&] { other.load(folder / "bad"); });
    CHECK_THAT(message, Contains("linear.bias: missing, expected f32[1]") &&
                            Contains("linear.weight: expected f32[3, 1], the file has f32[3]") &&
                            Contains("extra: the model has no such parameter (i32[2]") &&
                            !Contains("num_batches"));
    CHECK(parameters(other.session()) == before);
  }
  SECTION("missing and extra ones may be allowed") {
    saved.erase("linear.bias");
    saved["extra"] = Tensor(DType::i32, {2});
    save_safetensors(folder / "part", saved);
    CHECK_NOTHROW(other.load(folder / "part", {.allow_missing = true, .allow_extra = true}));
  }
}

TEST_CASE("checkpoint: a resumed run equals one that never stopped") {
  Folder folder;
  Model model = Model::load(fake("good"));
  Trainer straight(model, {.learning_rate = 0.05, .seed = 11});
  for (int i = 0; i < 5; ++i)
    straight.step(batch());
  straight.save_checkpoint(folder / "c");
  Trainer resumed(model, {.learning_rate = 1, .seed = 1});
  resumed.load_checkpoint(folder / "c");
  CHECK(resumed.learning_rate() == 0.05); // no float
  CHECK(resumed.step_count() == 5);
  for (int i = 0; i < 5; ++i)
    CHECK(straight.step(batch())["random"].item<int64_t>() ==
          resumed.step(batch())["random"].item<int64_t>());
  CHECK(parameters(straight.session()) == parameters(resumed.session()));

  straight.save(folder / "p");
  CHECK_THAT(errorOf(ErrorKind::data, [&] { resumed.load_checkpoint(folder / "p"); }),
             Contains("no checkpoint"));
  CHECK_THAT(
      errorOf(ErrorKind::data, [&] { resumed.load(folder / "c"); }),
      Contains("velocity.linear.bias: state of the optimizer, which load_checkpoint() takes") &&
          !Contains("no such parameter"));
}

TEST_CASE("checkpoint: of an optimizer that keeps something else") {
  Folder folder;
  Trainer trainer(Model::load(fake("good")));
  trainer.save_checkpoint(folder / "c");
  SafetensorsReader file(folder / "c");
  TensorMap saved = load_safetensors(folder / "c");
  auto errorWithout = [&](const std::string &name) {
    TensorMap rest = saved;
    rest.erase(name);
    save_safetensors(folder / "part", rest, file.metadata());
    return errorOf(ErrorKind::data, [&] { trainer.load_checkpoint(folder / "part"); });
  };
  CHECK_THAT(errorWithout("velocity.linear.bias"),
             Contains("velocity.linear.bias: missing, expected f32[1]") &&
                 Contains("what an optimizer keeps depends on --optimizer"));
  CHECK_THAT(errorWithout("linear.bias"),
             Contains("linear.bias: missing") && !Contains("what an optimizer keeps"));
  saved["optimizer.exp_avg.linear.bias"] = Tensor(DType::f32, {1});
  CHECK_THAT(errorWithout(""), Contains("optimizer.exp_avg.linear.bias: the model has no such") &&
                                   Contains("--average-weights") && Contains("allow_extra"));
}

TEST_CASE("parameters: a library without its weights") {
  Folder folder;
  Session good(Model::load(fake("good")));
  good.save(folder / "p");

  Session session(Model::load(fake("no_weights")));
  CHECK_THAT(errorOf(ErrorKind::usage, [&] { session.run("train_step", batch()); }),
             Contains("3 parameters have no value") && Contains("--weights none"));
  session.load(folder / "p");
  CHECK(session.run("grad_step", batch()).loss() == good.run("grad_step", batch()).loss());

  // Beside the library: absent, then right, then of another model.
  std::filesystem::copy_file(fake("weights_beside"), folder / "m.so");
  Session absent(Model::load(folder / "m.so"));
  CHECK_THAT(errorOf(ErrorKind::usage, [&] { absent.run("train_step", batch()); }),
             Contains("weights_beside.safetensors, which is not there"));
  std::filesystem::copy_file(folder / "p", folder / "weights_beside.safetensors");
  Session beside(Model::load(folder / "m.so"));
  CHECK(beside.run("grad_step", batch()).loss() == good.run("grad_step", batch()).loss());
  save_safetensors(folder / "weights_beside.safetensors", TensorMap{});
  CHECK_THAT(errorOf(ErrorKind::data, [&] { Session(Model::load(folder / "m.so")); }),
             Contains("linear.bias: expected f32[1], the file has no such tensor"));
  TensorMap wrong;
  wrong["linear.weight"] = Tensor(DType::f32, {2, 1});
  wrong["linear.bias"] = Tensor(DType::i64, {1});
  wrong["scale"] = Tensor(DType::i64, {});
  save_safetensors(folder / "weights_beside.safetensors", wrong);
  CHECK_THAT(errorOf(ErrorKind::data, [&] { Session(Model::load(folder / "m.so")); }),
             Contains("linear.weight: expected f32[3, 1], the file has f32[2, 1]") &&
                 Contains("linear.bias: expected f32[1], the file has i64[1]") &&
                 !Contains("scale"));

  // A library names no file but one beside it.
  CHECK_THAT(errorOf(ErrorKind::bug, [&] { Session(Model::load(fake("weights_elsewhere"))); }),
             Contains("not beside it: ../weights_beside.safetensors"));
}
