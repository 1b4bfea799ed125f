// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What tests ask of the stand-in for NVIDIA's driver, and how they configure it.
#ifndef ACCC_TEST_GPU_STANDIN_H
#define ACCC_TEST_GPU_STANDIN_H

#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <dlfcn.h>
#include <string>

namespace accc::test {

/// The stand-in as it is in a new process, during one test.
class StandIn {
public:
  StandIn() : library(::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL)) {
    reset();
    before = bytes();
  }
  StandIn(const StandIn &) = delete;
  ~StandIn() { reset(); }

  void reset() { function<void()>("standin_reset")(); }
  /// Calls of one of the driver's functions, or of its libraries', since then.
  int calls(const char *name) { return function<int(const char *)>("standin_calls")(name); }
  /// How often the host has waited for the device.
  int waits() { return calls("cuStreamSynchronize") + calls("cuEventSynchronize"); }
  /// Bytes of device memory that are allocated, and what of them was not there before the test.
  uint64_t bytes() { return function<uint64_t()>("standin_bytes")(); }
  uint64_t leaked() { return bytes() - before; }

private:
  template <typename Type> Type *function(const char *name) {
    void *symbol = library ? ::dlsym(library, name) : nullptr;
    INFO("the tests run with LD_LIBRARY_PATH at the stand-in: ctest sets it");
    REQUIRE(symbol);
    return reinterpret_cast<Type *>(symbol);
  }

  void *library;
  uint64_t before = 0;
};

/// An environment variable for as long as this lives.
class Setting {
public:
  Setting(const char *name, const std::string &value) : name(name) {
    ::setenv(name, value.c_str(), 1);
  }
  Setting(const Setting &) = delete;
  ~Setting() { ::unsetenv(name); }

private:
  const char *name;
};

} // namespace accc::test

#endif // ACCC_TEST_GPU_STANDIN_H
