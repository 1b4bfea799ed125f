// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs PTX in tests: buffers in, buffers out, errors as they come.
#ifndef ACCC_TEST_UNIT_PTX_DEVICE_H
#define ACCC_TEST_UNIT_PTX_DEVICE_H

#include "reference/ptx/Launch.h"

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

namespace accc::ptx::test {

/// The text around a kernel `test` with 64-bit parameters p0, p1, ...: `.version` and the like,
/// registers, and each parameter in %p0, %p1, ... Registers: %r, %rd, %rs, %f, %fd, %p (predicates,
/// from %p10 on), 40 of each.
std::string kernelText(unsigned parameters, const std::string &body,
                       const std::string &declarations = {});

/// One module and one memory.
class Device {
public:
  /// Fails the test where the text cannot be read.
  explicit Device(const std::string &text);

  template <class T> uint64_t upload(const std::vector<T> &values) {
    uint64_t address = memory.allocate(values.size() * sizeof(T));
    check(memory.write(address, values.data(), values.size() * sizeof(T)));
    return address;
  }
  uint64_t allocate(uint64_t bytes) { return memory.allocate(bytes); }
  template <class T> std::vector<T> download(uint64_t address, size_t count) {
    std::vector<T> values(count);
    check(memory.read(values.data(), address, count * sizeof(T)));
    return values;
  }

  /// Parameters that are all of 64 bits.
  LaunchResult launch(Dim3 grid, Dim3 block, const std::vector<uint64_t> &parameters,
                      const LaunchOptions &options = {}, const char *kernel = "test",
                      uint32_t dynamicShared = 0);
  /// The same; fails the test where there is an error.
  Counts run(Dim3 grid, Dim3 block, const std::vector<uint64_t> &parameters,
             const LaunchOptions &options = {}, const char *kernel = "test",
             uint32_t dynamicShared = 0);
  /// Parameters of any type, for kernels of compilers.
  Counts runWith(const char *kernel, Dim3 grid, Dim3 block,
                 std::initializer_list<const void *> parameters, uint32_t dynamicShared = 0,
                 const LaunchOptions &options = {});

  Memory memory;
  Module module;

private:
  static Module parse(const std::string &text);
  static void check(const std::optional<Error> &error);
};

/// A file of inputs/.
std::string input(const std::string &name);

} // namespace accc::ptx::test

#endif
