// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A PTX text as it can be executed: its kernels and its variables.
#ifndef ACCC_REFERENCE_PTX_MODULE_H
#define ACCC_REFERENCE_PTX_MODULE_H

#include "reference/ptx/Error.h"
#include "reference/ptx/Memory.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace accc::ptx {

struct Program; // the decoded text (Program.h)

/// A parameter of a kernel, and its place in the buffer of all parameters.
struct Parameter {
  std::string name;
  uint32_t offset = 0, bytes = 0, alignment = 1;
};

/// What is known of a kernel before it runs.
struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;
  uint32_t parameterBytes = 0;       ///< of the buffer of all parameters
  uint32_t sharedBytes = 0;          ///< static shared memory
  uint32_t localBytes = 0;           ///< per thread
  std::optional<Dim3> requiredBlock; ///< `.reqntid`
  std::optional<Dim3> largestBlock;  ///< `.maxntid`
  const Program *program = nullptr;  ///< what it is a part of
  uint32_t function = 0;             ///< its number in `program`

  /// Packs parameters given by pointers, one for each, as cuLaunchKernel takes them.
  std::vector<std::byte> pack(const void *const *values) const;
};

/// A `.global` or `.const` variable of a loaded module.
struct Variable {
  uint64_t address = 0, bytes = 0;
  bool constant = false;
};

/// One PTX text. Immutable once it is loaded; it must outlive the launches of its kernels.
class Module {
public:
  /// Reads a whole text. An instruction, type or directive that the interpreter does not know is an
  /// error here, whether or not it would be executed. `error` is written on failure only.
  static std::optional<Module> parse(std::string_view text, Error &error);

  Module(Module &&);
  Module &operator=(Module &&);
  ~Module();

  /// Null where the text has no `.entry` of that name.
  const Kernel *kernel(std::string_view name) const;
  std::vector<const Kernel *> kernels() const;

  /// Allocates and initializes the variables; once, and before any launch. Variables without an
  /// initializer are zero, as PTX has it.
  std::optional<Error> load(Memory &memory);
  /// Frees the variables.
  void unload(Memory &memory);

  /// A variable of a loaded module; none where there is no such name.
  std::optional<Variable> variable(std::string_view name) const;

private:
  explicit Module(std::unique_ptr<Program> program);

  std::unique_ptr<Program> program;
};

} // namespace accc::ptx

#endif
