// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A training, as a list of calls, which writes what PyTorch's is compared with.
//
//   long_training LIB.so DATA.safetensors OUT.safetensors RANKS CALL...
//
// DATA holds the inputs of batches as NUMBER.RANK.NAME. RANKS threads train together, each with its
// share of every batch; what is written is that of the first, and all end with the same bits.
// Calls:
//
//   rate@X                  the learning rate from here on
//   step@N apart@N          train_step; grad_step and apply_step, with batch N
//   accumulate@N update@0   gradients of several batches
//   eval@N average@N        evaluations
//   fault@N faultadded@N    step, accumulate_step with a batch at fault: it changes nothing
//   state@N                 writes all variables, as N
//   save@N load@N           a checkpoint, OUT.N
//
// Of a library with several training steps a call has the name of one, as step:d@N. The results of
// the calls are named by their numbers, `loss.3`, unless a call says /NUMBER. Ends with 1 where the
// runtime did not do as it should, and with 10 and the kind of Error that it threw.
#include "../training/Expect.h"

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace accc;

namespace {
struct Call {
  std::string text, what, step, number, name;
};

class Training {
public:
  Training(const std::string &library, const TensorMap &data, std::string out,
           const std::shared_ptr<Group> &group)
      : data(data), out(std::move(out)), rank(group ? group->rank() : 0),
        trainer(Model::load(library), {.seed = 1, .threads = 1, .group = group}) {}

  void run(const Call &call);
  TensorMap records;

private:
  TensorMap batchOf(const std::string &number) const;
  void note(const Call &call, const Result &result);
  void expectUnchanged(const Call &call, const TensorMap &before);

  const TensorMap &data;
  std::string out;
  int rank;
  Trainer trainer;
};
} // namespace

/// This process's rows.
TensorMap Training::batchOf(const std::string &number) const {
  TensorMap batch;
  const std::string own = number + "." + std::to_string(rank) + ".";
  for (const auto &[name, tensor] : data)
    if (name.starts_with(own))
      batch.emplace(name.substr(own.size()), tensor);
  return batch;
}

void Training::note(const Call &call, const Result &result) {
  for (const auto &[name, tensor] : result.tensors())
    if (!name.starts_with("grad."))
      records.insert_or_assign(name + "." + call.name, tensor.clone());
}

void Training::expectUnchanged(const Call &call, const TensorMap &before) {
  for (const auto &[name, now] : variables(trainer))
    if (!equal(before.at(name), now))
      throw std::runtime_error(call.text + " changes " + name);
}

void Training::run(const Call &call) {
  const TensorMap batch = batchOf(call.number);
  if (call.what == "rate") {
    trainer.set_learning_rate(std::strtod(call.number.c_str(), nullptr));
  } else if (call.what == "step") {
    note(call, trainer.step(call.step, batch));
  } else if (call.what == "apart") {
    Result gradients = trainer.grad_step(call.step, batch);
    note(call, gradients);
    trainer.apply_step(call.step, gradients);
  } else if (call.what == "accumulate") {
    note(call, trainer.accumulate_step(call.step, batch));
  } else if (call.what == "update") {
    trainer.update_step(call.step);
  } else if (call.what == "eval" || call.what == "average") {
    const TensorMap before = variables(trainer);
    note(call, call.what == "eval" ? trainer.eval(call.step, batch)
                                   : trainer.average_eval(call.step, batch));
    expectUnchanged(call, before);
  } else if (call.what.starts_with("fault")) {
    const TensorMap before = variables(trainer);
    try {
      (call.what == "fault" ? trainer.step(call.step, batch)
                            : trainer.accumulate_step(call.step, batch))
          .loss();
    } catch (const Error &error) {
      if (error.kind() != ErrorKind::data)
        throw;
      expectUnchanged(call, before);
      return;
    }
    throw std::runtime_error(call.text + " is not refused");
  } else if (call.what == "state") {
    for (auto &[name, tensor] : variables(trainer))
      records.insert_or_assign("state." + call.number + "." + name, tensor);
  } else if (call.what == "save") {
    if (rank == 0)
      trainer.save_checkpoint(out + "." + call.number);
  } else if (call.what == "load") {
    trainer.load_checkpoint(out + "." + call.number);
  } else {
    throw std::runtime_error(call.text + ": there is no such call");
  }
}

static Call parse(const std::string &text, int number) {
  size_t at = text.find('@'), slash = std::min(text.find('/'), text.size());
  if (at == std::string::npos)
    throw std::runtime_error(text + " is no call");
  std::string name = slash < text.size() ? text.substr(slash + 1) : std::to_string(number);
  std::string what = text.substr(0, at), step;
  if (size_t colon = what.find(':'); colon != std::string::npos) {
    step = what.substr(colon + 1);
    what.resize(colon);
  }
  return {text, what, step, text.substr(at + 1, slash - at - 1), name};
}

/// Sums of gradients are each process's own.
static void expectEqual(const TensorMap &first, const TensorMap &other) {
  for (const auto &[name, tensor] : first)
    if (name.starts_with("state.") && name.find(".optimizer.grad_sum.") == std::string::npos &&
        !equal(tensor, other.at(name)))
      throw std::runtime_error("processes have another " + name);
}

int main(int argc, char **argv) {
  if (argc < 5)
    return 2;
  const TensorMap data = load_safetensors(argv[2]);
  std::vector<Call> calls;
  for (int i = 5; i < argc; ++i)
    calls.push_back(parse(argv[i], i - 5));

  const int ranks = std::atoi(argv[4]);
  std::vector<std::shared_ptr<Group>> groups(1);
  if (ranks > 1)
    groups = thread_groups(ranks);
  std::vector<TensorMap> records(groups.size());
  std::atomic<int> code = 0;
  auto train = [&](size_t rank) {
    std::string present = "begin";
    try {
      Training training(argv[1], data, argv[3], std::exchange(groups[rank], nullptr));
      for (const Call &call : calls) {
        present = call.text;
        training.run(call);
      }
      records[rank] = std::move(training.records);
    } catch (const Error &error) {
      std::printf("%s: %s\n", present.c_str(), error.what());
      code = 10 + error.exit_code();
    } catch (const std::exception &error) {
      std::printf("%s: %s\n", present.c_str(), error.what());
      code = 1;
    }
  };
  std::vector<std::thread> threads;
  for (size_t rank = 1; rank < groups.size(); ++rank)
    threads.emplace_back(train, rank);
  train(0);
  for (std::thread &thread : threads)
    thread.join();
  if (code)
    return code;
  try {
    for (const TensorMap &other : records)
      expectEqual(records[0], other);
    save_safetensors(argv[3], records[0]);
  } catch (const std::exception &error) {
    std::printf("end: %s\n", error.what());
    return 1;
  }
  return 0;
}
