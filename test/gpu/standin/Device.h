// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The device behind the stand-in for NVIDIA's driver: kernels are interpreted, memory is the
// interpreter's. What the stand-ins for cuBLASLt and cuDNN see of it.
//
// Streams do nothing by themselves: their work is done when somebody waits for it, and not before,
// so that who does not wait sees memory as it was; a stream that waits for another's event is
// somebody, too. Configured by the environment, read at each call:
//   STANDIN_DEVICES     number of devices (1)
//   STANDIN_CAPABILITY  their compute capability (9.0)
//   STANDIN_MEMORY      bytes of their memory (16 GiB)
//   STANDIN_DRIVER      the driver's version, as cuDriverGetVersion gives it (13000)
//   STANDIN_FAIL        FUNCTION:N[:CODE]: the N-th call from now on fails
//   STANDIN_LACKS       a function that the driver does not have
//   STANDIN_CUBLASLT    "plain": cuBLASLt has no algorithm that adds a bias; "strided": none that
//                       reads the addresses of matrices
//   STANDIN_CUDNN       "random": cuDNN has only plans and algorithms that are not reproducible;
//                       "rounding": only some that round; "broken": a plan that does not run, and
//                       then a right one; "plans": no algorithms of its older interface;
//                       "algorithms": only these; "channels_first": only those of them for tensors
//                       channels first
//   STANDIN_STREAMS     "eager": who waits for a stream has the work of all others done before, as
//                       far as no event holds it back
//   STANDIN_SEED        runs the blocks of kernels in an order drawn with it
//   STANDIN_GRAPHS      "late": of the work of a graph that waits for nothing any more, what was
//                       captured last is done first
#ifndef ACCC_TEST_GPU_STANDIN_DEVICE_H
#define ACCC_TEST_GPU_STANDIN_DEVICE_H

#include "reference/ptx/Memory.h"

#include <cuda.h>

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace standin {

/// Thrown by work that goes wrong on the device: nothing more can be done with it.
struct Fault {
  CUresult result;
  std::string text;
};

/// What a stream does, or a graph again and again.
using Work = std::function<void()>;

/// Work in the order in which it was captured; each piece waits for those at these places, all
/// before it.
struct CapturedWork {
  Work work;
  std::vector<size_t> waitsFor;
};

} // namespace standin

// What cuda.h declares.
struct CUgraphNode_st {
  size_t place; // in its capture
};

namespace standin {

struct Capture {
  CUstreamCaptureMode mode;
  std::thread::id thread = std::this_thread::get_id(); // that began it
  std::vector<CapturedWork> work = {};
  std::deque<CUgraphNode_st> nodes = {}; // one for each
  std::vector<CUgraphNode> last = {};    // what the next piece waits for
  bool invalid = false;

  void add(Work work);
};

} // namespace standin

struct CUstream_st {
  std::deque<standin::Work> pending;
  std::optional<standin::Capture> capture;
};

namespace standin {

class Device {
public:
  static Device &get();

  /// For the start of each function of the driver's: counts the call, and gives what it returns
  /// without doing anything: a failure that STANDIN_FAIL asks for, or that of an earlier fault.
  /// `needsContext` is for functions that work in the current context.
  CUresult enter(const char *function, bool needsContext);
  /// Whether STANDIN_FAIL asks this call to fail; `code` is that of its third part, if any.
  bool fails(const char *function, std::optional<int> &code);
  /// Calls of a function since the last reset().
  int calls(const std::string &function) const;
  /// Everything as in a new process, but for memory that is still allocated.
  void reset();

  /// Takes work for a stream, or for the graph that is being captured there.
  CUresult submit(CUstream stream, Work work);
  /// Does work of a stream, all of it or until `isDone`, and what that waits for. An error where it
  /// is being captured.
  CUresult wait(CUstream stream, const std::function<bool()> &isDone = {});
  /// The same, whatever STANDIN_STREAMS says: for work that waits for another stream's event.
  CUresult advance(CUstream stream, const std::function<bool()> &isDone = {});
  /// Does all work of all streams, as unloading a module does.
  CUresult waitForAll();
  /// For functions that may not be called while a stream is captured, by the thread that does it
  /// or, in global mode, by any: ends the capture then.
  CUresult refuseInCapture();

  /// Runs work now, for functions that do not return before it is done.
  CUresult run(const Work &work);

  /// Throws Fault where `error` is one, for what kernels and copies did wrong.
  static void check(const std::optional<accc::ptx::Error> &error);

  uint64_t memoryLimit() const;

  /// A run of accc's begins by setting its status, a word of 8 bytes, to zero. Kernels that would
  /// do harm find something else there and do nothing; others and libraries know nothing of it and
  /// go on with whatever there is.
  void beginRun(CUdeviceptr status) { statusWord = status; }
  bool kernelsHaveStopped();

  /// Held by each function of the driver's, so that threads take turns.
  std::recursive_mutex mutex;
  accc::ptx::Memory memory;
  std::map<CUstream, CUstream_st *> streams;
  bool started = false;
  int contexts = 0; // retained

private:
  CUresult fault = CUDA_SUCCESS; // the sticky one
  CUdeviceptr statusWord = 0;    // of the run that began last
  std::map<std::string, int> counts;
  std::string failing; // STANDIN_FAIL as it was when counting began
  int failingCalls = 0;
};

/// Of the calling thread.
bool &contextIsCurrent();

/// A range of device memory as work of a library sees it; checks every access.
class Operand {
public:
  /// Throws Fault where `address` is no device memory.
  Operand(CUdeviceptr address, const char *name);
  /// `bytes` bytes at an offset from the address. Throws Fault where they reach out of the
  /// allocation, or, for read(), where nobody has written them, unless the kernels that would have
  /// done so have stopped.
  const std::byte *read(int64_t offset, uint64_t bytes) const;
  std::byte *write(int64_t offset, uint64_t bytes);

private:
  std::byte *at(int64_t offset, uint64_t bytes) const;

  accc::ptx::Allocation *allocation;
  uint64_t start;
  const char *name;
};

/// The value of an environment variable, or what is taken where it is not set.
std::string setting(const char *name, const char *otherwise);

} // namespace standin

#endif // ACCC_TEST_GPU_STANDIN_DEVICE_H
