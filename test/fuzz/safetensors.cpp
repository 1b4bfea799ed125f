// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "accc/safetensors.h"
#include "accc/error.h"

#include <sys/mman.h>
#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  int file = memfd_create("fuzz", 0);
  if (file < 0 || write(file, data, size) != static_cast<ssize_t>(size))
    abort();
  try {
    accc::SafetensorsReader("/proc/self/fd/" + std::to_string(file)).read_all();
  } catch (const accc::Error &) { // any other exception ends the program
  }
  close(file);
  return 0;
}
