// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "EntryState.h"

#include "BadIndex.h"
#include "Scalar.h"
#include "data/Elements.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace accc::detail {

namespace {

bool isKnownToSession(int32_t usage) {
  return usage == ACCC_LEARNING_RATE || usage == ACCC_SEED || usage == ACCC_STEP;
}

bool matches(const Tensor &tensor, const accc_tensor &wanted) {
  auto shape = shape_of(wanted);
  return tensor.dtype() == static_cast<DType>(wanted.dtype) &&
         std::equal(shape.begin(), shape.end(), tensor.shape().begin(), tensor.shape().end());
}

std::string describe(const Source &given) {
  return given ? "got " + to_string(given.tensor->dtype(), given.tensor->shape()) : "not given";
}

} // namespace

EntryState::EntryState(const accc_entry &entry, Device &device, Progress &progress)
    : entry(entry), progress(progress), prepared(device.prepare(entry)),
      inputs(static_cast<size_t>(entry.num_inputs)), known(static_cast<size_t>(entry.num_inputs)) {
  for (int32_t i = 0; i < entry.num_inputs; ++i)
    if (isKnownToSession(entry.inputs[i].usage))
      known[i] = makeTensor(entry.inputs[i].tensor);
  for (size_t slot = 0; slot < prepared->slots(); ++slot)
    runs.emplace_back(*this, slot);
}

bool EntryState::fits(const accc_entry &entry, const Find &find) {
  for (int32_t i = 0; i < entry.num_inputs; ++i) {
    const accc_value &input = entry.inputs[i];
    const Source given = find(input.tensor.name);
    if (given ? !matches(*given.tensor, input.tensor) : !isKnownToSession(input.usage))
      return false;
  }
  return true;
}

void EntryState::refuse(std::span<const accc_entry> entries, std::string_view name,
                        const Find &find, std::string problems) {
  // By input, in the order of the first entry: where one fits all, it is not the reason.
  std::vector<std::pair<std::string, std::string>> expected;
  std::set<std::string> wrong;
  for (const accc_entry &entry : entries)
    for (int32_t i = 0; entry.name == name && i < entry.num_inputs; ++i) {
      const accc_value &input = entry.inputs[i];
      const Source given = find(input.tensor.name);
      if (given ? !matches(*given.tensor, input.tensor) : !isKnownToSession(input.usage))
        wrong.insert(input.tensor.name);
      auto known = std::find_if(expected.begin(), expected.end(),
                                [&](const auto &line) { return line.first == input.tensor.name; });
      std::string text = to_string(input.tensor) + " (" + entry.sizes + ")";
      if (known == expected.end())
        expected.emplace_back(input.tensor.name, text);
      else
        known->second += " or " + text;
    }
  for (const auto &[input, list] : expected)
    if (wrong.contains(input)) {
      problems += "\n  " + input + ": expected " + list + ", " + describe(find(input.c_str()));
    }
  throw Error(ErrorKind::usage, std::string(name) +
                                    " cannot take these inputs at any of the sizes that it was "
                                    "compiled for:" +
                                    problems);
}

void EntryState::bind(const Find &find, std::string problems) {
  for (int32_t i = 0; i < entry.num_inputs; ++i) {
    const accc_value &input = entry.inputs[i];
    const Source given = find(input.tensor.name);
    if (!given && isKnownToSession(input.usage)) {
      char *bytes = static_cast<char *>(known[i].raw());
      const int64_t seed = progress.seed + progress.rank; // each process draws its own numbers
      if (input.usage == ACCC_LEARNING_RATE)
        setFloat(known[i], progress.learningRate);
      else
        std::memcpy(bytes, input.usage == ACCC_SEED ? &seed : &progress.step, sizeof(int64_t));
      inputs[i] = {&known[i]};
      continue;
    }
    if (!given || !matches(*given.tensor, input.tensor)) {
      problems += std::string("\n  ") + input.tensor.name + ": expected " +
                  to_string(input.tensor) + ", " + describe(given);
      continue;
    }
    if (!given.entry && lacksElements(*given.tensor)) { // what stays on the device is there
      problems += std::string("\n  ") + input.tensor.name + ": " + kNoElements;
      continue;
    }
    inputs[i] = given;
  }
  if (!problems.empty())
    throw Error(ErrorKind::usage,
                std::string(entry.name) + " cannot take these inputs:" + problems);
}

std::string EntryState::findBadIndex(size_t slot) const {
  for (int32_t i = 0; i < entry.num_inputs; ++i) {
    auto number = static_cast<size_t>(i);
    const void *kept = prepared->input(slot, number);
    if (!kept && !runs.front().runsAhead()) // the caller still waits in start()
      kept = inputs[number].tensor->raw();
    if (!kept)
      continue;
    if (std::string found = describeBadIndex(entry.inputs[i], kept); !found.empty())
      return found;
  }
  return "";
}

bool EntryState::counts() const {
  for (int32_t i = 0; i < entry.num_inputs; ++i)
    if (entry.inputs[i].usage == ACCC_STEP)
      return true;
  return false;
}

bool EntryState::isLast(const Result::Access &run) const {
  return hasStarted && (run.slot + 1) % runs.size() == next;
}

Result::Access &EntryState::start() {
  Result::Access &run = runs[next];
  run.settle();
  ++run.number; // earlier results of the slot are void from here on
  run.failure.reset();
  hasStarted = false;
  prepared->start(run.slot, inputs);
  hasStarted = true;
  run.isUnderWay = true;
  run.countedAs = counts() ? progress.step++ : -1;
  next = (next + 1) % runs.size();
  if (!run.runsAhead())
    run.wait();
  return run;
}

void EntryState::settle() {
  for (size_t i = 0; i < runs.size(); ++i) // the oldest first
    runs[(next + i) % runs.size()].settle();
}

} // namespace accc::detail
