// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "reference/ptx/Module.h"
#include "reference/ptx/FunctionDecoder.h"
#include "reference/ptx/Program.h"

#include <algorithm>
#include <cstring>

namespace accc::ptx {

namespace {

uint64_t alignTo(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

/// Variables and functions get their numbers and addresses, then functions are decoded.
class ProgramDecoder {
public:
  ProgramDecoder(ModuleSyntax &module, Program &program) : module(module), program(program) {}

  void run() {
    numberVariables();
    for (FunctionSyntax &function : module.functions)
      if (function.hasBody)
        program.functions.emplace_back(place(function));
    decodeAll();
    for (const Function &function : program.functions)
      checkRecursion(uint32_t(&function - program.functions.data()), 0);
    for (const FunctionSyntax &function : module.functions)
      if (function.kernel && function.hasBody)
        addKernel(function);
  }

private:
  void numberVariables() {
    std::map<std::string_view, Symbol *> defined;
    for (Symbol *symbol : module.variables)
      if (!symbol->external || symbol->space == Space::Shared || !defined.count(symbol->name))
        defined[symbol->name] = symbol;
    for (Symbol *symbol : module.variables)
      numberVariable(*symbol, *defined[symbol->name]);
    for (FunctionSyntax &function : module.functions)
      for (Symbol *symbol : function.locals)
        if (symbol->space == Space::Shared)
          numberVariable(*symbol, *symbol);
    for (Symbol *symbol : module.variables)
      for (const Symbol::Initial &initial : symbol->initial)
        initialize(*symbol, initial, defined);
  }

  void numberVariable(Symbol &symbol, Symbol &definition) {
    if (&symbol != &definition && definition.number == Symbol::none)
      numberVariable(definition, definition);
    if (definition.number == Symbol::none) {
      if (definition.space == Space::Shared) {
        definition.number = uint32_t(program.shared.size());
        program.shared.push_back({std::string(definition.name), definition.bytes,
                                  definition.alignment, definition.bytes == 0});
      } else {
        if (definition.external)
          failParse(ErrorKind::Unsupported, definition.line,
                    "'" + std::string(definition.name) + "' is defined in another module");
        definition.number = uint32_t(program.variables.size());
        program.variables.push_back({std::string(definition.name),
                                     definition.bytes,
                                     definition.space == Space::Const,
                                     0,
                                     {}});
      }
    }
    symbol.number = definition.number;
  }

  void initialize(const Symbol &symbol, const Symbol::Initial &initial,
                  const std::map<std::string_view, Symbol *> &defined) {
    GlobalVariable::Initial result{initial.offset, initial.width, initial.shift, initial.value, -1};
    if (!initial.symbol.empty()) {
      auto found = defined.find(initial.symbol);
      if (found == defined.end() || found->second->space == Space::Shared)
        failParse(ErrorKind::Unsupported, symbol.line,
                  "the initial value of '" + std::string(symbol.name) + "' is the address of '" +
                      std::string(initial.symbol) + "', which is no variable in global memory");
      result.variable = int(found->second->number);
    }
    program.variables[symbol.number].initial.push_back(result);
  }

  /// Gives parameters and local variables their addresses. Those of kernels overlap.
  Function place(FunctionSyntax &syntax) {
    Function function;
    function.name = syntax.name;
    function.kernel = syntax.kernel;
    uint64_t arena = syntax.kernel ? 0 : deviceArena, local = syntax.kernel ? 0 : deviceLocal;
    function.localBegin = uint32_t(local);
    auto inArena = [&](Symbol *symbol) {
      arena = alignTo(arena, std::max<uint64_t>(symbol->alignment, 8));
      symbol->offset = arenaBase + arena;
      arena += symbol->bytes;
    };
    if (syntax.kernel) {
      uint64_t offset = 0;
      for (Symbol *symbol : syntax.parameters) {
        symbol->offset = offset = alignTo(offset, symbol->alignment);
        offset += symbol->bytes;
      }
    } else {
      std::ranges::for_each(syntax.parameters, inArena);
      std::ranges::for_each(syntax.results, inArena);
    }
    for (Symbol *symbol : syntax.locals) {
      if (symbol->space == Space::Param)
        inArena(symbol);
      if (symbol->space != Space::Local)
        continue;
      // Apart from each other, so that running past an end is found.
      local = alignTo(local + 16, std::max<uint64_t>(symbol->alignment, 16));
      symbol->offset = local;
      function.locals.push_back({uint32_t(local), uint32_t(symbol->bytes)});
      local += symbol->bytes;
    }
    local = alignTo(local + 16, 16);
    function.arenaBytes = uint32_t(alignTo(arena, 8));
    function.localEnd = uint32_t(local);
    if (!syntax.kernel) {
      deviceArena = function.arenaBytes;
      deviceLocal = local;
    }
    return function;
  }

  void decodeAll() {
    const uint32_t common = specialSlots + numSpecials * 4 * warpSize;
    uint32_t frame = common;
    for (bool kernels : {false, true})
      for (uint32_t i = 0; i < program.functions.size(); ++i) {
        if (program.functions[i].kernel != kernels)
          continue;
        if (kernels)
          shiftKernel(i);
        auto syntax = std::ranges::find(
            module.functions, std::string_view(program.functions[i].name), &FunctionSyntax::name);
        FunctionDecoder(program, module, *syntax, i, frame).run();
        if (!kernels)
          frame = program.functions[i].frameBytes;
      }
  }

  /// A kernel's arena and local memory lie behind those of the functions that it may call.
  void shiftKernel(uint32_t number) {
    Function &function = program.functions[number];
    auto syntax =
        std::ranges::find(module.functions, std::string_view(function.name), &FunctionSyntax::name);
    for (Symbol *symbol : syntax->locals) {
      if (symbol->space == Space::Param)
        symbol->offset += alignTo(deviceArena, 128);
      if (symbol->space == Space::Local)
        symbol->offset += alignTo(deviceLocal, 128);
    }
    for (Function::Local &local : function.locals)
      local.offset += uint32_t(alignTo(deviceLocal, 128));
    function.arenaBytes += uint32_t(alignTo(deviceArena, 128));
    function.localBegin += uint32_t(alignTo(deviceLocal, 128));
    function.localEnd += uint32_t(alignTo(deviceLocal, 128));
  }

  void checkRecursion(uint32_t number, unsigned depth) {
    if (depth > program.functions.size())
      failParse(ErrorKind::Unsupported, program.origins[program.functions[number].first].line,
                "'" + program.functions[number].name + "' calls itself, which is not supported");
    for (uint32_t callee : program.functions[number].callees)
      checkRecursion(callee, depth + 1);
  }

  void addCallees(uint32_t number, std::vector<uint32_t> &reached) {
    if (std::ranges::find(reached, number) != reached.end())
      return;
    reached.push_back(number);
    for (uint32_t callee : program.functions[number].callees)
      addCallees(callee, reached);
  }

  void addKernel(const FunctionSyntax &syntax) {
    Kernel kernel;
    kernel.name = syntax.name;
    kernel.program = &program;
    auto function =
        std::ranges::find(program.functions, std::string_view(kernel.name), &Function::name);
    kernel.function = uint32_t(function - program.functions.begin());
    for (const Symbol *symbol : syntax.parameters) {
      kernel.parameters.push_back({std::string(symbol->name), uint32_t(symbol->offset),
                                   uint32_t(symbol->bytes), symbol->alignment});
      kernel.parameterBytes = uint32_t(symbol->offset + symbol->bytes);
    }
    kernel.requiredBlock = syntax.requiredBlock;
    kernel.largestBlock = syntax.largestBlock;
    std::vector<uint32_t> reached;
    addCallees(kernel.function, reached);
    std::vector<int> &shared = function->shared; // with that of its callees
    for (uint32_t number : reached) {
      for (const Function::Local &local : program.functions[number].locals)
        kernel.localBytes += local.bytes;
      for (int variable : program.functions[number].shared)
        if (std::ranges::find(shared, variable) == shared.end())
          shared.push_back(variable);
    }
    std::ranges::sort(shared);
    uint64_t offset = 0;
    for (int variable : shared)
      if (const SharedVariable &v = program.shared[unsigned(variable)]; !v.dynamic)
        offset = alignTo(offset, v.alignment) + v.bytes;
    kernel.sharedBytes = uint32_t(offset);
    program.kernels.emplace(kernel.name, kernel);
  }

  ModuleSyntax &module;
  Program &program;
  uint64_t deviceArena = 0, deviceLocal = 0;
};

} // namespace

std::vector<std::byte> Kernel::pack(const void *const *values) const {
  std::vector<std::byte> buffer(parameterBytes);
  for (size_t i = 0; i < parameters.size(); ++i)
    std::memcpy(buffer.data() + parameters[i].offset, values[i], parameters[i].bytes);
  return buffer;
}

Module::Module(std::unique_ptr<Program> program) : program(std::move(program)) {}
Module::Module(Module &&) = default;
Module &Module::operator=(Module &&) = default;
Module::~Module() = default;

std::optional<Module> Module::parse(std::string_view text, Error &error) {
  try {
    ModuleSyntax syntax = parseSyntax(text);
    auto program = std::make_unique<Program>();
    ProgramDecoder(syntax, *program).run();
    return Module(std::move(program));
  } catch (ParseFailure &failure) {
    error = std::move(failure.error);
    return std::nullopt;
  }
}

const Kernel *Module::kernel(std::string_view name) const {
  auto found = program->kernels.find(name);
  return found == program->kernels.end() ? nullptr : &found->second;
}

std::vector<const Kernel *> Module::kernels() const {
  std::vector<const Kernel *> result;
  for (const auto &[name, kernel] : program->kernels)
    result.push_back(&kernel);
  return result;
}

std::optional<Error> Module::load(Memory &memory) {
  auto usage = [](std::string message) {
    Error error;
    error.message = std::move(message);
    return error;
  };
  if (program->loaded)
    return usage("the module is already loaded");
  for (GlobalVariable &variable : program->variables) {
    variable.address = memory.allocate(std::max<uint64_t>(variable.bytes, 1));
    if (!variable.address) {
      unload(memory);
      return usage("no memory for the module's variable '" + variable.name + "' of " +
                   std::to_string(variable.bytes) + " bytes");
    }
    Allocation *allocation = memory.find(variable.address);
    allocation->name = variable.name;
    allocation->readOnly = variable.constant;
  }
  for (const GlobalVariable &variable : program->variables) {
    std::vector<std::byte> contents(std::max<uint64_t>(variable.bytes, 1));
    for (const GlobalVariable::Initial &initial : variable.initial) {
      uint64_t value = initial.value;
      if (initial.variable >= 0)
        value = (value + program->variables[unsigned(initial.variable)].address) >> initial.shift;
      std::memcpy(contents.data() + initial.offset, &value, initial.width);
    }
    memory.write(variable.address, contents.data(), contents.size());
  }
  program->loaded = true;
  return std::nullopt;
}

void Module::unload(Memory &memory) {
  for (GlobalVariable &variable : program->variables)
    if (variable.address) {
      memory.free(variable.address);
      variable.address = 0;
    }
  program->loaded = false;
}

std::optional<Variable> Module::variable(std::string_view name) const {
  for (const GlobalVariable &variable : program->variables)
    if (variable.name == name && variable.address)
      return Variable{variable.address, variable.bytes, variable.constant};
  return std::nullopt;
}

} // namespace accc::ptx
