// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "CheckDescription.h"

#include "CheckCall.h"
#include "Device.h"
#include "VariableOrder.h"
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
  Checker(const accc_model_description &model, const std::string &path, bool toRun,
          std::string_view target)
      : model(model), path(path), toRun(toRun), target(target) {}

  const accc_code &check() {
    require(model.name && model.manifest, "a string is missing");
    require(model.constants || model.constants_bytes == 0, "constants without a block");
    require(model.num_variables >= 0 && (model.num_variables == 0 || model.variables),
            "variables without a table");
    require(model.num_codes > 0 && model.codes, "it has no code");
    for (const accc_code *code : codes()) {
      require(code && code->target && code->arch, "code for no machine");
      require(code->num_entries >= 0 && (code->num_entries == 0 || code->entries),
              "entry points without a table");
      require(code->num_kernels >= 0 && (code->num_kernels == 0 || code->kernels),
              "kernels without a table");
      require(code->tables || code->tables_bytes == 0, "tables without a block");
    }
    const accc_code &code = chooseCode();
    for (int32_t i = 0; i < code.num_kernels; ++i)
      checkKernel(code.kernels[i], code);
    for (int32_t i = 0; i < model.num_variables; ++i)
      checkVariable(model.variables[i], code);
    checkOverlap();
    for (int32_t i = 0; i < code.num_entries; ++i)
      checkEntry(code.entries[i], code);
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

  std::span<const accc_code *const> codes() const {
    return {model.codes, static_cast<size_t>(model.num_codes)};
  }

  /// What this machine or runtime lacks to run `code`, or nothing.
  std::optional<std::string> whyUnable(const accc_code &code) const {
    const Platform *platform = findPlatform(code.target);
    if (!platform)
      return "a runtime for " + std::string(code.target) + ", which this one is not";
    if (auto missing = platform->whyUnable(code.arch))
      return missing;
    for (int32_t i = 0; i < code.num_entries; ++i) {
      const accc_entry &entry = code.entries[i];
      require(entry.num_library_calls == 0 || entry.library_calls,
              "an entry point without its library calls");
      for (int32_t j = 0; j < entry.num_library_calls; ++j)
        if (auto reason = platform->whyUnsupported(entry.library_calls[j]))
          return "a library for what this runtime cannot do: " + *reason;
    }
    return std::nullopt;
  }

  void checkKernel(const accc_kernel &kernel, const accc_code &code) const {
    require(kernel.name && (kernel.function || code.image), "a kernel without code");
    require(kernel.function ||
                (kernel.threads > 0 && kernel.tasks_per_block > 0 && kernel.shared_bytes >= 0),
            std::string(kernel.name) + " has blocks of no size");
  }

  /// The first that this machine can run, or that the user asked for.
  const accc_code &chooseCode() const {
    std::string_view wanted;
    if (const char *name = std::getenv("ACCC_ARCH"))
      wanted = name;
    std::string names;
    std::vector<Lack> lacks;
    for (const accc_code *code : codes()) {
      std::string_view name =
          std::string_view(code->arch).substr(0, std::string_view(code->arch).find(':'));
      add(names, name);
      if ((!wanted.empty() && name != wanted) || (!target.empty() && code->target != target))
        continue;
      auto missing = whyUnable(*code);
      if (!missing)
        return *code;
      addLack(lacks, *missing, name);
    }
    if (!toRun && wanted.empty())
      return *codes().front();
    std::string asked = (target.empty() ? "" : " " + std::string(target)) +
                        (wanted.empty() ? "" : " ACCC_ARCH=" + std::string(wanted));
    if (lacks.empty())
      throw Error(ErrorKind::usage,
                  path + " holds no code for" + asked + "; it was compiled for " + names);
    if (!asked.empty())
      throw Error(ErrorKind::machine, "this machine cannot run the code in " + path + " for" +
                                          asked + ": " + textOf(lacks));
    throw Error(ErrorKind::machine, path + " was compiled for " + names +
                                        ", which this machine cannot run (" + textOf(lacks) +
                                        "); compile it for this machine: --target and --arch");
  }

  /// What this machine lacks, and for which architectures.
  struct Lack {
    std::string missing, names;
    bool isOfMany = false;
  };
  static void add(std::string &list, std::string_view name) {
    list += (list.empty() ? "" : ", ") + std::string(name);
  }
  static void addLack(std::vector<Lack> &lacks, const std::string &missing, std::string_view name) {
    for (Lack &lack : lacks)
      if (lack.missing == missing) {
        add(lack.names, name);
        lack.isOfMany = true;
        return;
      }
    lacks.push_back({missing, std::string(name)});
  }
  static std::string textOf(const std::vector<Lack> &lacks) {
    std::string text;
    for (const Lack &lack : lacks)
      text += (text.empty() ? "" : "; ") + lack.names + (lack.isOfMany ? " need " : " needs ") +
              lack.missing;
    return text;
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

  void checkVariable(const accc_variable &variable, const accc_code &code) {
    uint64_t bytes = checkTensor(variable.tensor), end = 0;
    std::string name = "variable " + std::string(variable.tensor.name);
    require(names.insert(variable.tensor.name).second, name + " is there twice");
    require(variable.role >= ACCC_PARAMETER && variable.role <= ACCC_OPTIMIZER_STATE,
            name + " has an unknown role");
    require(isOrder(orderOf(model, code, variable)),
            name + " lies in an order that does not name each of its dimensions once");
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

  void checkEntry(const accc_entry &entry, const accc_code &code) const {
    require(entry.name && entry.sizes, "an entry point without a name or sizes");
    std::string name = entry.name;
    require(entry.num_inputs >= 0 && entry.num_outputs >= 0 && entry.num_library_calls >= 0 &&
                entry.num_errors >= 0 && entry.num_steps >= 0 && entry.num_buffers >= 0 &&
                entry.num_launches >= 0 && entry.num_custom_calls >= 0 &&
                entry.num_collectives >= 0,
            name + " has a negative count");
    require((entry.num_inputs == 0 || entry.inputs) && (entry.num_outputs == 0 || entry.outputs) &&
                (entry.num_library_calls == 0 || entry.library_calls) &&
                (entry.num_custom_calls == 0 || entry.custom_calls) &&
                (entry.num_collectives == 0 || entry.collectives) &&
                (entry.num_errors == 0 || entry.errors) && (entry.num_steps == 0 || entry.steps) &&
                (entry.num_buffers == 0 || entry.buffers),
            name + " lacks a table");
    for (int32_t i = 0; i < entry.num_inputs; ++i)
      checkValue(entry.inputs[i], name);
    for (int32_t i = 0; i < entry.num_outputs; ++i)
      checkValue(entry.outputs[i], name);
    for (int32_t i = 0; i < entry.num_custom_calls; ++i)
      checkCustomCall(entry.custom_calls[i], name);
    for (const accc_step &step : std::span(entry.steps, static_cast<size_t>(entry.num_steps)))
      checkStep(step, entry, code);
    for (const accc_buffer &buffer :
         std::span(entry.buffers, static_cast<size_t>(entry.num_buffers)))
      checkBuffer(buffer, entry, code);
  }

  void checkCustomCall(const accc_custom_call &call, const std::string &entry) const {
    std::string name = entry + "'s custom call";
    require(call.name && call.library && !std::string_view(call.library).empty() &&
                std::string_view(call.library).find('/') == std::string_view::npos,
            name + " names no operator of a library");
    name += " of " + std::string(call.name);
    require(call.num_inputs > 0 && call.num_outputs > 0 && call.num_attributes >= 0 &&
                call.inputs && call.outputs && call.buffers &&
                (call.num_attributes == 0 || call.attributes),
            name + " lacks a table");
    for (const accc_tensor &tensor : std::span(call.inputs, static_cast<size_t>(call.num_inputs)))
      checkTensor(tensor);
    for (const accc_tensor &tensor : std::span(call.outputs, static_cast<size_t>(call.num_outputs)))
      checkTensor(tensor);
  }

  /// That each buffer of a step is one tensor of the call, and as large.
  void checkCustomBuffers(const accc_custom_call &call, const accc_step &step,
                          const accc_entry &entry) const {
    std::string name = std::string(entry.name) + "'s custom call of " + call.name;
    std::vector<bool> isUsed(static_cast<size_t>(step.num_buffers));
    auto check = [&](const int32_t *&number, const accc_tensor *tensors, int32_t count) {
      for (int32_t i = 0; i < count; ++i, ++number) {
        require(*number >= -1 && *number < step.num_buffers,
                name + " uses a buffer that the step does not have");
        if (*number < 0)
          continue;
        auto buffer = static_cast<size_t>(*number);
        require(!isUsed[buffer] &&
                    entry.buffers[step.first_buffer + *number].bytes == size_bytes_of(tensors[i]),
                name + " has a buffer of another size than its tensor");
        isUsed[buffer] = true;
      }
    };
    const int32_t *number = call.buffers;
    check(number, call.inputs, call.num_inputs);
    check(number, call.outputs, call.num_outputs);
    check(number, call.outputs, call.num_outputs);
    check(number, call.inputs, call.num_inputs);
    require(std::find(isUsed.begin(), isUsed.end(), false) == isUsed.end(),
            name + " has a buffer that is no tensor of it");
  }

  void checkStep(const accc_step &step, const accc_entry &entry, const accc_code &code) const {
    std::string name = entry.name;
    require(step.kind >= ACCC_STEP_LAUNCH && step.kind <= ACCC_STEP_AGREE,
            name + " has a step of an unknown kind");
    int32_t count = step.kind == ACCC_STEP_LAUNCH         ? code.num_kernels
                    : step.kind == ACCC_STEP_LIBRARY_CALL ? entry.num_library_calls
                    : step.kind == ACCC_STEP_CUSTOM_CALL  ? entry.num_custom_calls
                    : step.kind == ACCC_STEP_COLLECTIVE   ? entry.num_collectives
                                                          : 1;
    require(step.index >= 0 && step.index < count && step.tasks >= 0,
            name + " has a step that runs nothing of the library's");
    require(step.label != nullptr, name + " has a step without a label");
    require(step.num_buffers >= 0 && step.first_buffer >= 0 &&
                step.num_buffers <= entry.num_buffers - step.first_buffer,
            name + " has a step with buffers that are not there");
    require(step.kind != ACCC_STEP_LIBRARY_CALL ||
                step.num_buffers == countBuffers(entry.library_calls[step.index]),
            name + " has a library call with too few or too many buffers");
    if (step.kind == ACCC_STEP_CUSTOM_CALL)
      checkCustomBuffers(entry.custom_calls[step.index], step, entry);
    if (step.kind == ACCC_STEP_COLLECTIVE)
      checkCollective(entry.collectives[step.index], step, entry);
  }

  void checkCollective(const accc_collective &collective, const accc_step &step,
                       const accc_entry &entry) const {
    std::string name = std::string(entry.name) + "'s collective";
    auto type = dtype_of(collective.dtype);
    require(type.has_value() && collective.kind >= ACCC_ALL_REDUCE &&
                collective.kind <= ACCC_ALL_REDUCE_SUM,
            name + " is of an unknown kind or type");
    require(step.num_buffers % 2 == 0, name + " does not receive as many tensors as it sends");
    const accc_buffer *sent = entry.buffers + step.first_buffer,
                      *received = sent + step.num_buffers / 2;
    for (int32_t i = 0; i < step.num_buffers / 2; ++i)
      require(sent[i].bytes == received[i].bytes && sent[i].bytes % size_of(*type) == 0,
              name + " receives a tensor of another size than it sends");
  }

  void checkBuffer(const accc_buffer &buffer, const accc_entry &entry,
                   const accc_code &code) const {
    const uint64_t blocks[] = {model.state_size,
                               entry.arena_size,
                               static_cast<uint64_t>(entry.num_inputs),
                               static_cast<uint64_t>(entry.num_outputs),
                               model.constants_bytes,
                               code.tables_bytes,
                               sizeof(int64_t)};
    std::string name = std::string("a buffer of ") + entry.name;
    require(buffer.space >= ACCC_STATE && buffer.space <= ACCC_STATUS,
            name + " lies in no memory that is known");
    bool isNumber = buffer.space == ACCC_INPUT || buffer.space == ACCC_OUTPUT;
    uint64_t bytes = isNumber ? 1 : buffer.bytes, end = 0;
    require(!__builtin_add_overflow(buffer.offset, bytes, &end) && end <= blocks[buffer.space],
            name + " reaches out of its block");
    if (buffer.access & ACCC_WRITE)
      require(buffer.space != ACCC_INPUT && buffer.space != ACCC_CONSTANT &&
                  buffer.space != ACCC_TABLE,
              name + " is written where only reading is allowed");
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
    require(!value.indices || (value.indices->what && value.indices->first < value.indices->end),
            name + " has indices without bounds");
    if (value.usage == ACCC_LEARNING_RATE || value.usage == ACCC_LOSS)
      require(isScalar(ACCC_F32) || isScalar(ACCC_F64), name + " must be an f32 or f64 scalar");
    if (value.usage == ACCC_SEED || value.usage == ACCC_STEP)
      require(isScalar(ACCC_I64), name + " must be an i64 scalar");
  }

  struct Range {
    uint64_t begin, end;
    const char *name;
  };
  const accc_model_description &model;
  const std::string &path;
  bool toRun;
  std::string_view target; // the only one that will do, if any
  std::set<std::string_view> names;
  std::vector<Range> ranges;
};

} // namespace

const accc_code &checkDescription(const accc_model_description *description,
                                  const std::string &path, bool toRun, std::string_view target) {
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
  return Checker(*description, path, toRun, target).check();
}

} // namespace accc::detail
