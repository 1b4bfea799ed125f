// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model with its state: parameters, buffers, optimizer state. Runs entry
// points by name. Trainer (trainer.h) is the friendlier face of it.
#ifndef ACCC_SESSION_H
#define ACCC_SESSION_H

#include "accc/model.h"
#include "accc/tensor.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace accc {

struct SessionOptions {
  float learning_rate = 1e-3f;
  /// Seeds dropout and every other random operator.
  int64_t seed = 0;
  /// Threads of the team that kernels and library calls share; 0: what OpenMP would take
  /// (OMP_NUM_THREADS, or the cores that this process may use).
  int threads = 0;
  /// On a GPU, capture a step when it first runs again and replay it as a CUDA graph, which saves
  /// the time of its launches. ACCC_CUDA_GRAPH=0 in the environment switches that off as well.
  bool graph = true;
};

/// What one kernel or library call of an entry point took, over all runs of a profiling session.
struct ProfiledStep {
  std::string label; ///< what it computes
  double seconds = 0;
};

struct LoadOptions {
  /// Keep the present value of parameters and buffers that the file does not hold.
  bool allow_missing = false;
  /// Skip tensors of the file that the model does not have.
  bool allow_extra = false;
};

/// What one run gives. On a GPU, which runs ahead of the host, the functions that read it wait for
/// the run, and throw Error (data) where its data was at fault: then it has changed nothing.
/// Tensors refer to buffers of the session: valid as long as the session, and overwritten by the
/// next run of the same entry point at the same sizes (clone() what is to stay).
class Result {
public:
  /// May still be read after the next run. Throws Error (usage) where the entry point has no loss.
  float loss() const;
  bool has_loss() const;
  /// An output by name; throws Error (usage) that lists the outputs there are.
  const Tensor &operator[](std::string_view name) const;
  /// nullptr where there is none of that name.
  const Tensor *find(std::string_view name) const;
  /// All outputs by name, the loss among them, sharing the session's buffers.
  TensorMap tensors() const;
  /// Waits until the run is over.
  void wait() const;
  /// What ran: its `sizes` are those of the inputs given.
  const accc_entry &entry() const;

  struct Access; // the runtime's own

private:
  friend class Session;
  explicit Result(Access &access);
  Access *access_;
  uint64_t run_;                      // its number
  mutable std::optional<float> loss_; // once it is known
};

/// Not for use from several threads at once. When a call throws, the state is as it was before.
class Session {
public:
  /// Allocates the state and gives it its initial values. Parameters that come with neither the
  /// library nor a file beside it must be loaded before the first run.
  explicit Session(Model model, const SessionOptions &options = {});
  Session(Session &&) noexcept;
  Session &operator=(Session &&) noexcept;
  ~Session();

  const Model &model() const;
  int threads() const;

  /// Runs an entry point; where the library holds several sizes of it, that whose inputs have the
  /// shapes of those given. `inputs` holds the entry's inputs by name; learning rate, seed and step
  /// may be left out and are then the session's own. Names that belong to another entry point of
  /// the model are ignored; any other unknown name, and all missing names and wrong shapes or
  /// types, are reported together as one Error (usage). Labels or indices out of range are Error
  /// (data). After the first run of an entry point (at these sizes) no memory is allocated. While
  /// it runs, floats below 1.18e-38 (subnormals) count as zero, on its threads only.
  ///
  /// On a CPU this returns when the run is over. On a GPU it returns when the inputs are read and
  /// the work is queued; it waits only where two runs of the entry point at these sizes are under
  /// way. What goes wrong on the device is thrown where the Result is read, else by the next but
  /// one run of the entry point (which is not started then), or by a function that waits for all
  /// runs: synchronize() and those that read or change the state or take a profile. A run whose
  /// data is at fault changes nothing, and runs after it go on from there; step() counts it only
  /// where one of them had been started before that was known.
  Result run(std::string_view entry, const TensorMap &inputs);
  /// As above, where `more` (a result of grad_step) holds what `inputs` does not.
  Result run(std::string_view entry, const TensorMap &inputs, const Result &more);
  /// The entry point that run() takes for these inputs. Throws as it does where none fits.
  const accc_entry &choose(std::string_view entry, const TensorMap &inputs) const;
  /// Does the work of an entry point's first run (buffers, library kernels) without running it: at
  /// the sizes named ("seq=64"), or at all that the library holds.
  void prepare(std::string_view entry, std::string_view sizes = {});

  /// Waits until all runs are over. Throws Error where one failed and nobody was told.
  void synchronize() const;
  /// Seconds that the host has waited on a GPU's runs so far, here and in run(), in Results and in
  /// functions that wait for all runs.
  double wait_seconds() const;

  float learning_rate() const;
  void set_learning_rate(float value);
  int64_t seed() const;
  void set_seed(int64_t value);
  /// How many calls that draw random numbers or count steps were done.
  int64_t step() const;
  void set_step(int64_t value);

  /// The value of a parameter, buffer or piece of optimizer state. On a CPU it shares the state's
  /// memory and follows what runs change; on a GPU it is a copy, which lives as long as the tensor.
  /// set_variable() changes it on both.
  Tensor variable(std::string_view name);
  /// Throws Error (usage) where there is none of that name, or of another shape or type.
  void set_variable(std::string_view name, const Tensor &value);

  /// Parameters and buffers as safetensors under the exporter's names. load() holds names, shapes
  /// and types against the model's (of tied parameters a file may hold one name or all, and save()
  /// writes all that the exporter named), reports all differences as one Error (data) and changes
  /// nothing then. Tensors "*.num_batches_tracked", which PyTorch keeps and compiled models do not,
  /// are skipped.
  void save(const std::string &path) const;
  void load(const std::string &path, const LoadOptions &options = {});

  /// Everything that a run needs to go on as if it had not stopped: as save(), and the
  /// optimizer state, step, seed and learning rate.
  void save_checkpoint(const std::string &path) const;
  void load_checkpoint(const std::string &path);

  /// From now on measures every kernel and library call, which costs a little time.
  void start_profile();
  /// What the entry point's runs since then took, in the order of execution; of several sizes those
  /// named, or the first.
  std::vector<ProfiledStep> profile(std::string_view entry, std::string_view sizes = {}) const;

  /// Bytes held for the state, and for the outputs, arena and library scratch of the entry points
  /// prepared so far, which share the latter two; on a GPU those of its memory, with constants and
  /// inputs.
  uint64_t state_bytes() const;
  uint64_t working_bytes() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

} // namespace accc

#endif // ACCC_SESSION_H
