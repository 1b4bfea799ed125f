// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CheckDescription.h"

#include "accc/model.h"
#include "cpu/Instructions.h"
#include "cpu/LibraryCall.h"

#include <algorithm>
#include <set>
#include <vector>

namespace accc::detail {

namespace {

class Checker {
public:
  Checker(const accc_model_description &model, const std::string &path)
      : model(model), path(path) {}

  void check() {
    require(model.name && model.target && model.arch && model.manifest, "a string is missing");
    require(model.num_variables >= 0 && model.num_entries >= 0, "a count is negative");
    checkMachine();
    for (int32_t i = 0; i < model.num_variables; ++i)
      checkVariable(model.variables[i]);
    checkOverlap();
    for (int32_t i = 0; i < model.num_entries; ++i)
      checkEntry(model.entries[i]);
  }

private:
  void require(bool condition, const std::string &what) const {
    if (!condition)
      throw Error(ErrorKind::bug, path + ": the compiled model describes itself wrongly (" + what +
                                      "); this is a bug in accc, please report it");
  }

  void checkMachine() const {
    if (std::string_view(model.target) != "cpu")
      throw Error(ErrorKind::machine, path + " was compiled for " + model.target +
                                          ", but this runtime was built for the CPU only; " +
                                          "compile it with --target cpu");
    if (auto missing = missingInstructions(model.arch))
      throw Error(ErrorKind::machine,
                  path + " was compiled for " + model.arch + ", but this CPU lacks " + *missing +
                      "; compile it with --arch x86-64-v3 or --arch native on this machine");
  }

  uint64_t checkTensor(const accc_tensor &tensor) const {
    require(tensor.name != nullptr, "a tensor without a name");
    std::string name = "tensor " + std::string(tensor.name);
    auto type = dtype_of(tensor.dtype);
    require(type.has_value(), name + " has an unknown type");
    require(tensor.rank >= 0 && (tensor.rank == 0 || tensor.shape), name + " has no shape");
    uint64_t bytes = size_of(*type);
    for (int64_t extent : shape_of(tensor)) {
      require(extent >= 0, name + " has a negative extent");
      require(!__builtin_mul_overflow(bytes, static_cast<uint64_t>(extent), &bytes),
              name + " overflows");
    }
    return bytes;
  }

  void checkVariable(const accc_variable &variable) {
    uint64_t bytes = checkTensor(variable.tensor), end = 0;
    std::string name = "variable " + std::string(variable.tensor.name);
    require(names.insert(variable.tensor.name).second, name + " is there twice");
    require(variable.role >= ACCC_PARAMETER && variable.role <= ACCC_OPTIMIZER_STATE,
            name + " has an unknown role");
    require(variable.offset % ACCC_ALIGNMENT == 0, name + " is not aligned");
    require(!__builtin_add_overflow(variable.offset, bytes, &end) && end <= model.state_size,
            name + " reaches out of the state block");
    if (bytes)
      ranges.push_back({variable.offset, end, variable.tensor.name});
  }

  void checkOverlap() {
    std::sort(ranges.begin(), ranges.end(),
              [](const Range &a, const Range &b) { return a.begin < b.begin; });
    for (size_t i = 1; i < ranges.size(); ++i)
      require(ranges[i - 1].end <= ranges[i].begin, std::string("variables ") + ranges[i - 1].name +
                                                        " and " + ranges[i].name + " overlap");
  }

  void checkEntry(const accc_entry &entry) const {
    require(entry.name && entry.function, "an entry point without a name or function");
    std::string name = entry.name;
    require(entry.num_inputs >= 0 && entry.num_outputs >= 0 && entry.num_library_calls >= 0 &&
                entry.num_errors >= 0,
            name + " has a negative count");
    for (int32_t i = 0; i < entry.num_inputs; ++i)
      checkValue(entry.inputs[i], name);
    for (int32_t i = 0; i < entry.num_outputs; ++i)
      checkValue(entry.outputs[i], name);
    for (int32_t i = 0; i < entry.num_library_calls; ++i)
      if (auto reason = whyUnsupported(entry.library_calls[i]))
        throw Error(ErrorKind::machine, path + ": " + name + " calls a library for what this " +
                                            "runtime cannot do: " + *reason);
  }

  void checkValue(const accc_value &value, const std::string &entry) const {
    uint64_t bytes = checkTensor(value.tensor);
    std::string name = entry + "'s " + value.tensor.name;
    require(value.usage >= ACCC_DATA && value.usage <= ACCC_GRADIENT,
            name + " has an unknown usage");
    auto isScalar = [&](int32_t type) {
      return value.tensor.dtype == type && bytes == size_of(*dtype_of(type));
    };
    if (value.usage == ACCC_LEARNING_RATE || value.usage == ACCC_LOSS)
      require(isScalar(ACCC_F32), name + " must be an f32 scalar");
    if (value.usage == ACCC_SEED || value.usage == ACCC_STEP)
      require(isScalar(ACCC_I64), name + " must be an i64 scalar");
  }

  struct Range {
    uint64_t begin, end;
    const char *name;
  };
  const accc_model_description &model;
  const std::string &path;
  std::set<std::string_view> names;
  std::vector<Range> ranges;
};

} // namespace

void checkDescription(const accc_model_description *description, const std::string &path) {
  if (!description)
    throw Error(ErrorKind::bug, path + ": the compiled model returned no description");
  // Only the first field can be read before the version is known.
  if (description->abi_version != ACCC_ABI_VERSION)
    throw Error(ErrorKind::data, path + " was compiled for version " +
                                     std::to_string(description->abi_version) +
                                     " of the interface between models and runtimes, but this " +
                                     "runtime has version " + std::to_string(ACCC_ABI_VERSION) +
                                     "; compile it again with the accc of this runtime");
  if (description->struct_size != sizeof(accc_model_description))
    throw Error(ErrorKind::bug, path + ": the description has another size than version " +
                                    std::to_string(ACCC_ABI_VERSION) + " of its interface");
  Checker(*description, path).check();
}

} // namespace accc::detail
