// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model with its state: parameters, buffers, optimizer state. Runs entry
// points by name. Trainer (trainer.h) is the simpler API on top of it.
#ifndef ACCC_SESSION_H
#define ACCC_SESSION_H

#include "accc/group.h"
#include "accc/model.h"
#include "accc/tensor.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace accc {

struct SessionOptions {
  /// Default: the `lr` of the optimizer that the library was compiled with, of several training
  /// steps that of the first; 0.001 where it has none.
  std::optional<double> learning_rate = std::nullopt;
  /// Seeds dropout and every other random operator.
  int64_t seed = 0;
  /// Number of threads shared by kernels and library calls; 0: OpenMP's default (OMP_NUM_THREADS,
  /// or the number of cores that this process may use). With another number library calls may sum
  /// in another order: the same number gives the same bits.
  int threads = 0;
  /// On a GPU, capture a step as a CUDA graph in its second run and replay the graph from then on,
  /// which saves launch overhead. ACCC_CUDA_GRAPH=0 in the environment disables this as well.
  bool graph = true;
  /// The processes that train together, with a library that was compiled with --data-parallel. The
  /// first step begins with the state of the process of rank 0 (share_state()). Each process draws
  /// random numbers of its own: that of rank r with the seed `seed` + r. All call the training
  /// entry points equally often, with the same learning rate, and load() what they load; a step
  /// that fails in one fails in all, and changes nothing. On GPUs, each process needs one of its
  /// own (Group::local_rank), and waits for the others where its session is made.
  std::shared_ptr<Group> group = nullptr;
};

/// Time of one kernel or library call of an entry point, summed over all runs since
/// start_profile().
struct ProfiledStep {
  std::string label; ///< what it computes
  /// The modules of the model that it computes a part of: "blocks.0.mlp", "blocks.0.* (backward)".
  std::string module;
  double seconds = 0;
};

struct LoadOptions {
  /// Keep the present value of parameters and buffers that the file does not hold.
  bool allow_missing = false;
  /// Skip tensors of the file that the model does not have.
  bool allow_extra = false;
};

/// The result of one run. On a GPU, which runs asynchronously, the functions that read it wait for
/// the run, and throw Error (data) if its data was invalid; such a run has changed nothing.
/// Tensors refer to buffers of the session: valid as long as the session, and overwritten by the
/// next run of the same entry point at the same sizes (clone() what is to stay), after which the
/// result gives none (Error (usage); on a GPU after the next run but one). They may be inputs of
/// that run. On a GPU a tensor of
/// more than 32 KiB is copied to the host when it is first asked for, and can be asked for until
/// that next run.
class Result {
public:
  /// May still be read after the next run. Throws Error (usage) where the entry point has no loss.
  double loss() const;
  bool has_loss() const;
  /// An output by name; throws Error (usage) that lists the outputs there are.
  const Tensor &operator[](std::string_view name) const;
  /// nullptr where there is none of that name.
  const Tensor *find(std::string_view name) const;
  /// All outputs by name, including the loss, sharing the session's buffers.
  TensorMap tensors() const;
  /// Waits until the run is complete.
  void wait() const;
  /// The entry point that ran; its `sizes` are those of the given inputs.
  const accc_entry &entry() const;

  struct Access; // the runtime's own

private:
  friend class Session;
  explicit Result(Access &access);
  /// Throws Error (usage) where later runs have overwritten the outputs.
  void requireCurrent() const;
  Access *access_;
  uint64_t run_;                       // its number
  mutable std::optional<double> loss_; // once it is known
};

/// Not thread-safe. When a call throws, the state is unchanged.
class Session {
public:
  /// Allocates the state and sets its initial values. Parameters whose values are neither in the
  /// library nor in a file beside it must be loaded before the first run. Loads the libraries of
  /// custom operators that the model calls (custom_library.h): Error (machine) where one is not
  /// found, Error (data) where it is not as the model was compiled with it.
  explicit Session(Model model, const SessionOptions &options = {});
  Session(Session &&) noexcept;
  Session &operator=(Session &&) noexcept;
  ~Session();

  const Model &model() const;
  int threads() const;

  /// Runs an entry point. If the library was compiled for several sizes, the shapes of the inputs
  /// select one. `inputs` holds the entry's inputs by name; learning rate, seed and step default to
  /// the session's. Inputs and outputs of other entry points of the model are ignored (all that
  /// grad_step gave may be given to apply_step); all unknown names, missing inputs and wrong shapes
  /// or types are reported together as one Error (usage). Labels or indices out of range are Error
  /// (data). After the first run of an entry point (at these sizes) no memory is allocated. While
  /// it runs, floats below 1.18e-38 (subnormals) are flushed to zero, on its threads only, which
  /// round to nearest and do not trap then, whatever the program has set (fesetround,
  /// feenableexcept). A child of fork() may go on with its copy of a session that is in no group.
  ///
  /// On a CPU this returns when the run is complete. On a GPU it returns when the inputs have been
  /// read and the work is queued; it waits only if two runs of the entry point at these sizes are
  /// in flight. Errors on the device are thrown where the Result is read, otherwise by the next run
  /// but one of the entry point (which is then not started), or by a function that waits for all
  /// runs: synchronize() and those that read or change the state or take a profile. A run with
  /// invalid data changes nothing, and later runs continue from the state before it; step() counts
  /// it only if a later run was started before the error was known.
  Result run(std::string_view entry, const TensorMap &inputs);
  /// As above, where `more` (a result of grad_step) holds what `inputs` does not. Waits until that
  /// run is over; its large tensors do not leave a GPU.
  Result run(std::string_view entry, const TensorMap &inputs, const Result &more);
  /// The entry point that run() selects for these inputs. Throws as run() does if none fits.
  const accc_entry &choose(std::string_view entry, const TensorMap &inputs) const;
  /// Does the one-time work of an entry point's first run (buffers, library kernels) without
  /// running it, for the named sizes ("seq=64") or for all sizes.
  void prepare(std::string_view entry, std::string_view sizes = {});

  /// Gives all processes of the group the state of that of rank 0, with its learning rate, seed and
  /// step(): for all to call, after that one alone has loaded or changed something. Nothing where
  /// there is no group.
  void share_state();

  /// Waits until all runs are complete. Throws Error if one failed and this was not reported yet.
  void synchronize() const;
  /// Total seconds that the host has waited for a GPU's runs, in all functions that wait.
  double wait_seconds() const;

  double learning_rate() const;
  void set_learning_rate(double value);
  int64_t seed() const;
  void set_seed(int64_t value);
  /// The number of runs so far of entry points that draw random numbers or count steps.
  int64_t step() const;
  void set_step(int64_t value);

  /// The value of a parameter (by any of its names, if it is tied), buffer or optimizer state
  /// tensor. On a CPU it shares the state's memory and reflects later updates; on a GPU it is a
  /// copy. set_variable() changes it on both.
  Tensor variable(std::string_view name);
  /// Throws Error (usage) if there is no variable of that name, shape and type.
  void set_variable(std::string_view name, const Tensor &value);

  /// Saves and loads parameters and buffers as safetensors under the exporter's names. load()
  /// checks names, shapes and types (a file may hold one or all names of a tied parameter; save()
  /// writes all names that the exporter gave it), reports all differences as one Error (data) and
  /// then changes nothing. Tensors "*.num_batches_tracked", which PyTorch keeps, are skipped where
  /// the model has none.
  void save(const std::string &path) const;
  void load(const std::string &path, const LoadOptions &options = {});

  /// Of a library that was compiled with --average-weights: as save(), with averages in place of
  /// the parameters that a training step (the only one, or the one of this name) has averaged, and
  /// of their type. Throws Error (usage) where it averages none.
  void save_averages(const std::string &path, std::string_view step = {}) const;

  /// Everything needed to resume training exactly: what save() writes, the optimizer state, step,
  /// seed and learning rate.
  void save_checkpoint(const std::string &path) const;
  void load_checkpoint(const std::string &path);

  /// Starts measuring every kernel and library call, which costs a little time.
  void start_profile();
  /// The times of the entry point's kernels and calls since then, in order of execution, at the
  /// named sizes or the first.
  std::vector<ProfiledStep> profile(std::string_view entry, std::string_view sizes = {}) const;

  /// Bytes allocated for the state, and for the outputs, arena and library workspace of the entry
  /// points prepared so far (which share arena and workspace); on a GPU bytes of device memory,
  /// including constants and inputs.
  uint64_t state_bytes() const;
  uint64_t working_bytes() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace accc

#endif // ACCC_SESSION_H
