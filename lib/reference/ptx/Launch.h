// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Executes a kernel of a PTX module on the host, finds its faults and counts what it costs.
//
// Threads run 32 at a time (a warp), warps of a block in turn, and blocks one after the other: a
// kernel whose blocks wait for each other runs into the step limit. Arithmetic is that of the host
// in IEEE mode, so
// `.rn` instructions give a device's bits. Approximate instructions (`ex2.approx`, `sin.approx`,
// `div.full`,
// ...) give the correctly rounded value: a device's bits may differ within the bounds that the PTX
// manual documents for each. NaN results are the canonical 0x7fffffff, as on a device.
#ifndef ACCC_REFERENCE_PTX_LAUNCH_H
#define ACCC_REFERENCE_PTX_LAUNCH_H

#include "reference/ptx/Error.h"
#include "reference/ptx/Memory.h"
#include "reference/ptx/Module.h"

#include <array>
#include <optional>
#include <span>

namespace accc::ptx {

/// What a warp's instruction is counted as.
enum class InstructionClass : uint8_t {
  Integer,    ///< arithmetic, logic, comparison, selection and moves
  Float,      ///< f32
  Double,     ///< f64
  Half,       ///< f16 and bf16, packed or not
  Special,    ///< approximate functions, division, square root
  Conversion, ///< cvt
  Load,       ///< global, local, constant and parameter memory
  Store,      ///< global and local memory
  Shared,     ///< loads and stores of shared memory
  Atomic,     ///< atom, red
  Warp,       ///< shfl, vote, match, redux
  Barrier,    ///< bar, barrier, fences
  Control,    ///< bra, call, ret
};
inline constexpr unsigned numInstructionClasses = unsigned(InstructionClass::Control) + 1;
const char *name(InstructionClass);

/// What a launch cost. An instruction counts once for each warp that issues it, however many of its
/// lanes are active; diverged lanes issue it again.
struct Counts {
  std::array<uint64_t, numInstructionClasses> issued{}; ///< by InstructionClass
  uint64_t laneInstructions = 0;                        ///< each active lane counts
  uint64_t globalReadBytes = 0, globalWriteBytes = 0;   ///< what lanes ask for, atomics as both
  /// Sectors of 32 bytes: the distinct ones of each warp's access, summed. No cache is modelled.
  uint64_t globalReadSectors = 0, globalWriteSectors = 0;
  uint64_t sharedReadBytes = 0, sharedWriteBytes = 0;
  uint64_t localBytes = 0;       ///< loads and stores of local memory: spills and indexed arrays
  uint64_t sharedWavefronts = 0; ///< passes over the 32 banks of shared memory
  uint64_t sharedExtraWavefronts = 0; ///< those among them that bank conflicts cost
  uint64_t barriers = 0;              ///< of blocks: a barrier that a block passes counts once
  uint64_t divergentBranches = 0;     ///< branches that split the lanes of a warp
  uint64_t blocks = 0, warps = 0;

  uint64_t total() const;
  Counts &operator+=(const Counts &);
};

struct LaunchOptions {
  bool checkInitialized = true; ///< reads of bytes that nobody has written
  bool checkRaces = true;       ///< accesses that nothing orders; `ld.global.nc` of what is written
  /// Runs blocks in an order drawn with this seed instead of ascending, and warps as well: results
  /// that depend on the order differ.
  std::optional<uint64_t> orderSeed;
  uint64_t stepLimit = uint64_t(1) << 32; ///< instructions that warps may issue in all
  /// Of a larger grid so many blocks are run, evenly spread from the first to the last, as a
  /// sample.
  uint64_t mostBlocks = ~uint64_t(0);
};

struct LaunchResult {
  std::optional<Error> error; ///< none: every block has run
  Counts counts = {};         ///< up to the error
};

/// Runs `kernel` to its end. `parameters` is the buffer of all parameters (Kernel::pack);
/// `dynamicShared` is the size of `extern __shared__` memory in bytes. The kernel's module must be
/// loaded into `memory`. After an error, memory holds what was written up to it.
LaunchResult launch(const Kernel &kernel, Memory &memory, Dim3 grid, Dim3 block,
                    uint32_t dynamicShared, std::span<const std::byte> parameters,
                    const LaunchOptions &options = {});

} // namespace accc::ptx

#endif
