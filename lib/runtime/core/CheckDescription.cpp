// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CheckDescription.h"

#include "Device.h"
#include "accc/model.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <span>
#include <vector>

namespace accc::detail {

namespace {

class Checker {
public:
  Checker(const accc_model_description &model, const std::string &path)
      : model(model), platform(model.target ? findPlatform(model.target) : nullptr), path(path) {}

  const accc_code &check() {
    require(model.name && model.target && model.manifest, "a string is missing");
    require(model.num_variables >= 0 && (model.num_variables == 0 || model.variables),
            "variables without a table");
    require(model.num_codes > 0 && model.codes, "it has no code");
    for (const accc_code &code : codes()) {
      require(code.arch != nullptr, "code for no CPU");
      require(code.num_entries >= 0 && (code.num_entries == 0 || code.entries),
              "entry points without a table");
    }
    const accc_code &code = chooseCode();
    for (int32_t i = 0; i < model.num_variables; ++i)
      checkVariable(model.variables[i]);
    checkOverlap();
    for (int32_t i = 0; i < code.num_entries; ++i)
      checkEntry(code.entries[i]);
    for (int32_t i = 0; i < code.num_entries; ++i)
      for (int32_t j = 0; j < i; ++j)
        checkChoice(code.entries[j], code.entries[i]);
    return code;
  }

private:
  void require(bool condition, const std::string &what) const {
    if (!condition)
      throw Error(ErrorKind::bug, path + ": the compiled model describes itself wrongly (" + what +
                                      "); this is a bug in accc, please report it");
  }

  std::span<const accc_code> codes() const {
    return {model.codes, static_cast<size_t>(model.num_codes)};
  }

  /// The first that this CPU can run, or that the user asked for.
  const accc_code &chooseCode() const {
    if (!platform)
      throw Error(ErrorKind::machine, path + " was compiled for " + model.target +
                                          ", but this runtime was built for the CPU only; " +
                                          "compile it with --target cpu");
    std::string_view wanted;
    if (const char *name = std::getenv("ACCC_ARCH"))
      wanted = name;
    std::string names, reasons;
    for (const accc_code &code : codes()) {
      std::string_view name =
          std::string_view(code.arch).substr(0, std::string_view(code.arch).find(':'));
      names += (names.empty() ? "" : ", ") + std::string(name);
      if (!wanted.empty() && name != wanted)
        continue;
      auto missing = platform->whyUnable(code.arch);
      if (!missing)
        return code;
      reasons += (reasons.empty() ? "" : "; ") + std::string(name) + " needs " + *missing;
    }
    if (reasons.empty())
      throw Error(ErrorKind::usage, path + " holds no code for ACCC_ARCH=" + std::string(wanted) +
                                        "; it was compiled for " + names);
    throw Error(ErrorKind::machine,
                path + " was compiled for " + names + ", which this CPU cannot run (" + reasons +
                    "); compile it with --arch x86-64-v3 or --arch native on this machine");
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
    require(entry.name && entry.function && entry.sizes,
            "an entry point without a name, sizes or function");
    std::string name = entry.name;
    require(entry.num_inputs >= 0 && entry.num_outputs >= 0 && entry.num_library_calls >= 0 &&
                entry.num_errors >= 0,
            name + " has a negative count");
    require((entry.num_inputs == 0 || entry.inputs) && (entry.num_outputs == 0 || entry.outputs) &&
                (entry.num_library_calls == 0 || entry.library_calls) &&
                (entry.num_errors == 0 || entry.errors),
            name + " lacks a table");
    for (int32_t i = 0; i < entry.num_inputs; ++i)
      checkValue(entry.inputs[i], name);
    for (int32_t i = 0; i < entry.num_outputs; ++i)
      checkValue(entry.outputs[i], name);
    for (int32_t i = 0; i < entry.num_library_calls; ++i)
      if (auto reason = platform->whyUnsupported(entry.library_calls[i]))
        throw Error(ErrorKind::machine, path + ": " + name + " calls a library for what this " +
                                            "runtime cannot do: " + *reason);
  }

  /// Tensors that fit one entry must not fit another of its name.
  void checkChoice(const accc_entry &a, const accc_entry &b) const {
    if (std::string_view(a.name) != b.name)
      return;
    require(*a.sizes && *b.sizes && std::string_view(a.sizes) != b.sizes,
            std::string("two entry points are called ") + a.name);
    require(!std::equal(a.inputs, a.inputs + a.num_inputs, b.inputs, b.inputs + b.num_inputs,
                        [](const accc_value &x, const accc_value &y) {
                          return std::string_view(x.tensor.name) == y.tensor.name &&
                                 x.tensor.dtype == y.tensor.dtype &&
                                 std::ranges::equal(shape_of(x.tensor), shape_of(y.tensor));
                        }),
            std::string(a.name) + " takes the same for " + a.sizes + " and " + b.sizes);
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
  const Platform *platform; // of the model's target; null: none here
  const std::string &path;
  std::set<std::string_view> names;
  std::vector<Range> ranges;
};

} // namespace

const accc_code &checkDescription(const accc_model_description *description,
                                  const std::string &path) {
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
  return Checker(*description, path).check();
}

} // namespace accc::detail
