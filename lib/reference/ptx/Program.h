// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A PTX text decoded for execution.
//
// Registers live in a warp's register file: a slot holds the values of all 32 lanes one after the
// other, each of the register's size; a predicate is one bit a lane. Immediate values, addresses of
// variables and special registers are slots as well, so that an instruction knows only offsets into
// the file. There is no recursion, so each function has its slots at a fixed place; those of
// kernels overlap.
#ifndef ACCC_REFERENCE_PTX_PROGRAM_H
#define ACCC_REFERENCE_PTX_PROGRAM_H

#include "reference/ptx/Launch.h"
#include "reference/ptx/Module.h"
#include "reference/ptx/Numbers.h"
#include "reference/ptx/Types.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace accc::ptx {

inline constexpr unsigned warpSize = 32;

struct Warp;
struct Instruction;

/// Executes an instruction for the lanes in `mask`, which is not empty.
using Handler = void (*)(Warp &warp, const Instruction &in, uint32_t mask);

/// What the warp's loop has to do with an instruction.
enum class Flow : uint8_t {
  Plain,         ///< the handler is all
  Branch,        ///< to `target`
  BranchIndexed, ///< to targets[target + a]
  Call,          ///< calls[target]
  Return,
  Exit,
  WarpSync,     ///< waits for all lanes in the mask `a`, then as Plain
  BlockBarrier, ///< barriers[target]
  Trap,
};

struct Instruction {
  Handler handler = nullptr;
  uint32_t result = 0, a = 0, b = 0, c = 0, d = 0; ///< slots
  uint32_t guard = 0;                              ///< the slot of the guarding predicate, 0: none
  uint32_t target = 0; ///< see Flow; of memory instructions, their accesses[]
  bool guardNegated = false;
  Flow flow = Flow::Plain;
  InstructionClass counted = InstructionClass::Integer;
  uint8_t immediate = 0; ///< a truth table, a mode: as the handler says
};

/// For messages: where an instruction comes from.
struct Origin {
  unsigned line = 0;
  std::string text, op, source;
};

/// A slot of a register and its bytes a lane.
struct Place {
  uint32_t slot = 0;
  uint8_t bytes = 0;
};

/// A load, store, atomic operation or asynchronous copy.
struct Access {
  Space space = Space::Generic;
  bool write = false, atomic = false;
  bool nonCoherent = false; ///< `.nc`
  bool strong = false;      ///< volatile, relaxed and stronger: no data race with its like
  bool acquire = false, release = false;
  bool isSigned = false; ///< of the element: a wider register is sign-extended
  uint8_t elementBytes = 0;
  uint8_t count = 1; ///< elements of a vector
  Place address;     ///< 4 or 8 bytes
  int64_t offset = 0;
  Place elements[8]; ///< slot 0: the element is dropped
  bool constants = false;

  unsigned bytes() const { return elementBytes * count; }
};

/// A cvt. The registers may be wider than the types.
struct Conversion {
  Type to, from;
  uint8_t toBytes = 0, fromBytes = 0; ///< of the registers
  Rounding rounding = Rounding::Nearest;
  bool toInteger = false; ///< `.rni` and its like, of a floating-point result
  bool ftz = false, saturates = false, relu = false;
};

/// A barrier instruction.
struct Barrier {
  bool aligned = true;  ///< all threads of a warp take part together
  bool waits = true;    ///< false: `arrive`
  bool counted = false; ///< the number of threads is given, in slot `count`
  uint32_t number = 0, count = 0;
  enum Reduction : uint8_t { None, Count, And, Or } reduction = None;
  uint32_t predicate = 0;
  bool negated = false;
  uint32_t result = 0;
};

struct Call {
  uint32_t function = 0;
  struct Move {
    uint32_t from = 0, to = 0, bytes = 0; ///< in the parameter arena
  };
  std::vector<Move> arguments, results;
};

/// A slot filled before a launch: the same in all lanes.
struct Constant {
  uint32_t slot = 0;
  uint8_t bytes = 0;
  uint64_t value = 0;
  int variable = -1;    ///< adds the address of Program::variables[i]
  int shared = -1;      ///< adds the address of Program::shared[i] in the kernel's layout
  bool generic = false; ///< of a shared variable
};

enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NtidX,
  NtidY,
  NtidZ,
  CtaidX,
  CtaidY,
  CtaidZ,
  NctaidX,
  NctaidY,
  NctaidZ,
  LaneId,
  WarpId,
  NumWarps,
  LaneMaskEq,
  LaneMaskLe,
  LaneMaskLt,
  LaneMaskGe,
  LaneMaskGt,
  DynamicSharedSize,
  TotalSharedSize,
  GridId,
  SmId,
  NumSms,
  LocalStack,
};
inline constexpr unsigned numSpecials = unsigned(Special::LocalStack) + 1;

/// Offset of the slots of special registers, 4 bytes a lane each, in every file.
inline constexpr uint32_t specialSlots = 64;

struct Function {
  std::string name;
  bool kernel = false;
  uint32_t first = 0, end = 0;           ///< its instructions
  uint32_t frameBytes = 0;               ///< end of its slots in the file
  uint32_t arenaBytes = 0;               ///< end of its parameters in the arena
  uint32_t localBegin = 0, localEnd = 0; ///< its variables in local memory
  std::vector<Constant> constants;
  std::vector<int> shared; ///< variables it refers to
  std::vector<uint32_t> callees;
  struct Local {
    uint32_t offset, bytes;
  };
  std::vector<Local> locals;
};

struct SharedVariable {
  std::string name;
  uint64_t bytes = 0;
  uint32_t alignment = 1;
  bool dynamic = false;
};

/// A `.global` or `.const` variable.
struct GlobalVariable {
  std::string name;
  uint64_t bytes = 0;
  bool constant = false;
  uint64_t address = 0; ///< once loaded
  struct Initial {
    uint64_t offset = 0;
    unsigned width = 0, shift = 0;
    uint64_t value = 0;
    int variable = -1;
  };
  std::vector<Initial> initial;
};

struct Program {
  std::vector<Instruction> code;
  std::vector<Origin> origins; ///< of each instruction
  std::vector<Access> accesses;
  std::vector<Conversion> conversions;
  std::vector<Barrier> barriers;
  std::vector<Call> calls;
  std::vector<uint32_t> targets; ///< of indexed branches: their number, then the instructions
  std::vector<Function> functions;
  std::vector<SharedVariable> shared;
  std::vector<GlobalVariable> variables;
  std::map<std::string, Kernel, std::less<>> kernels;
  bool loaded = false;
};

} // namespace accc::ptx

#endif
