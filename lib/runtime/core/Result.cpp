// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "EntryState.h"
#include "Scalar.h"

#include <chrono>

namespace accc {

namespace {

/// Adds the time of its life to what a session has waited.
class TimedWait {
public:
  explicit TimedWait(detail::Progress &progress) : progress(progress) {}
  TimedWait(const TimedWait &) = delete;
  ~TimedWait() {
    progress.waited +=
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

private:
  detail::Progress &progress;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

} // namespace

// ---- Result::Access ----

Result::Access::Access(detail::EntryState &owner, size_t slot)
    : owner(owner), slot(slot), outputs(owner.prepared->outputs(slot)) {}

bool Result::Access::runsAhead() const { return owner.runs.size() > 1; }

const Tensor &Result::Access::output(size_t index) {
  const std::pair run(slot, number);
  if (!owner.prepared->staysOnDevice(index) || owner.fetched[index] == run)
    return outputs[index];
  if (!owner.isLast(*this))
    throw Error(ErrorKind::usage,
                std::string(owner.entry.name) + ": a later run has overwritten " +
                    owner.entry.outputs[index].tensor.name +
                    ", which stays on the device until it is read; read it, or clone() it, before "
                    "the next run");
  const TimedWait timed(owner.progress);
  outputs[index] = owner.prepared->fetch(index);
  owner.fetched[index] = run;
  return outputs[index];
}

detail::Source Result::Access::source(size_t index) {
  if (owner.prepared->staysOnDevice(index) && owner.isLast(*this))
    return {&outputs[index], owner.prepared.get(), index};
  return {&output(index)};
}

/// Why a run failed that ended with `status`, or nothing.
static std::optional<Error> whyFailed(int32_t status, const detail::EntryState &owner,
                                      size_t slot) {
  const accc_entry &entry = owner.entry;
  int32_t dataError = status - ACCC_FIRST_DATA_ERROR;
  if (dataError >= 0 && dataError < entry.num_errors) {
    std::string why = owner.findBadIndex(slot);
    return Error(ErrorKind::data,
                 std::string(entry.name) + ": " + (why.empty() ? entry.errors[dataError] : why));
  }
  if (status == ACCC_CALL_FAILED)
    return owner.prepared->failure();
  if (status == ACCC_OTHER_FAILED)
    return Error(ErrorKind::data, std::string(entry.name) +
                                      ": another process of the group could not take this step, "
                                      "and says why; no process has changed its state");
  if (status != ACCC_DONE)
    return Error(ErrorKind::bug, std::string(entry.name) + " returned the unknown status " +
                                     std::to_string(status));
  return std::nullopt;
}

void Result::Access::wait() {
  if (isUnderWay) {
    isUnderWay = isReported = false;
    try {
      std::optional<TimedWait> timed;
      if (runsAhead())
        timed.emplace(owner.progress);
      failure = whyFailed(owner.prepared->wait(slot), owner, slot);
    } catch (const Error &error) {
      failure = error;
    }
    // It does not count, unless a later run has taken the next number already.
    if (failure && countedAs >= 0 && owner.progress.step == countedAs + 1)
      owner.progress.step = countedAs;
  }
  if (failure) {
    isReported = true;
    throw Error(*failure);
  }
}

void Result::Access::settle() {
  if (!isUnderWay && (!failure || isReported))
    return;
  try {
    wait();
  } catch (const Error &error) {
    throw Error(error.kind(),
                std::string(error.what()) + " (in an earlier run, whose result was not read)");
  }
}

// ---- Result ----

static int lossIndex(const accc_entry &entry) {
  for (int32_t i = 0; i < entry.num_outputs; ++i)
    if (entry.outputs[i].usage == ACCC_LOSS)
      return i;
  return -1;
}

Result::Result(Access &access) : access_(&access), run_(access.number) {
  if (!access.runsAhead() && has_loss())
    loss_ = loss();
}

void Result::requireCurrent() const {
  if (run_ != access_->number)
    throw Error(ErrorKind::usage,
                std::string(entry().name) +
                    ": later runs have overwritten this result; read it, or clone() its tensors, "
                    "before the next run" +
                    (access_->runsAhead() ? " but one" : ""));
}

void Result::wait() const {
  if (!access_->runsAhead())
    return;
  requireCurrent();
  access_->wait();
}

const Tensor *Result::find(std::string_view name) const {
  requireCurrent();
  wait();
  for (int32_t i = 0; i < entry().num_outputs; ++i)
    if (entry().outputs[i].tensor.name == name)
      return &access_->output(static_cast<size_t>(i));
  return nullptr;
}

const Tensor &Result::operator[](std::string_view name) const {
  if (const Tensor *found = find(name))
    return *found;
  std::string list;
  for (int32_t i = 0; i < entry().num_outputs; ++i)
    list += (i ? ", " : "") + std::string(entry().outputs[i].tensor.name);
  throw Error(ErrorKind::usage, std::string(entry().name) + " has no output " + std::string(name) +
                                    "; it has: " + list);
}

bool Result::has_loss() const { return lossIndex(entry()) >= 0; }

double Result::loss() const {
  if (loss_)
    return *loss_;
  int index = lossIndex(entry());
  if (index < 0)
    throw Error(ErrorKind::usage,
                std::string(entry().name) + " has no loss: the model was compiled without --loss");
  wait();
  loss_ = detail::floatOf(access_->output(static_cast<size_t>(index)));
  return *loss_;
}

const accc_entry &Result::entry() const { return access_->owner.entry; }

TensorMap Result::tensors() const {
  requireCurrent();
  wait();
  TensorMap result;
  for (int32_t i = 0; i < entry().num_outputs; ++i)
    result.emplace(entry().outputs[i].tensor.name, access_->output(static_cast<size_t>(i)));
  return result;
}

} // namespace accc
