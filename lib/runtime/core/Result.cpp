// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "EntryState.h"

#include <chrono>

namespace accc {

// ---- Result::Access ----

Result::Access::Access(detail::EntryState &owner, size_t slot)
    : owner(owner), slot(slot), outputs(owner.prepared->outputs(slot)) {}

bool Result::Access::runsAhead() const { return owner.runs.size() > 1; }

/// Why a run failed that ended with `status`, or nothing.
static std::optional<Error> whyFailed(int32_t status, const detail::EntryState &owner) {
  const accc_entry &entry = owner.entry;
  int32_t dataError = status - ACCC_FIRST_DATA_ERROR;
  if (dataError >= 0 && dataError < entry.num_errors)
    return Error(ErrorKind::data, std::string(entry.name) + ": " + entry.errors[dataError]);
  if (status == ACCC_LIBRARY_CALL_FAILED)
    return Error(ErrorKind::machine, std::string(entry.name) + ": " + owner.prepared->failure());
  if (status != ACCC_DONE)
    return Error(ErrorKind::bug, std::string(entry.name) + " returned the unknown status " +
                                     std::to_string(status));
  return std::nullopt;
}

void Result::Access::wait() {
  if (isUnderWay) {
    isUnderWay = isReported = false;
    auto start = std::chrono::steady_clock::now();
    try {
      failure = whyFailed(owner.prepared->wait(slot), owner);
    } catch (const Error &error) {
      failure = error;
    }
    if (runsAhead())
      owner.progress.waited +=
          std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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

void Result::wait() const {
  if (!access_->runsAhead())
    return;
  if (run_ != access_->number)
    throw Error(ErrorKind::usage, std::string(entry().name) +
                                      ": later runs have overwritten this result; read it, or "
                                      "clone() its tensors, before the next run but one");
  access_->wait();
}

const Tensor *Result::find(std::string_view name) const {
  wait();
  for (int32_t i = 0; i < entry().num_outputs; ++i)
    if (entry().outputs[i].tensor.name == name)
      return &access_->outputs[static_cast<size_t>(i)];
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

float Result::loss() const {
  if (loss_)
    return *loss_;
  int index = lossIndex(entry());
  if (index < 0)
    throw Error(ErrorKind::usage,
                std::string(entry().name) + " has no loss: the model was compiled without --loss");
  wait();
  loss_ = access_->outputs[static_cast<size_t>(index)].item<float>();
  return *loss_;
}

const accc_entry &Result::entry() const { return access_->owner.entry; }

TensorMap Result::tensors() const {
  wait();
  TensorMap result;
  for (int32_t i = 0; i < entry().num_outputs; ++i)
    result.emplace(entry().outputs[i].tensor.name, access_->outputs[static_cast<size_t>(i)]);
  return result;
}

} // namespace accc
