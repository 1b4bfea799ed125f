// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Device.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

namespace accc::ptx::test {

std::string kernelText(unsigned parameters, const std::string &body,
                       const std::string &declarations) {
  std::ostringstream text;
  text << ".version 8.3\n.target sm_90\n.address_size 64\n"
       << declarations << "\n.visible .entry test(";
  for (unsigned i = 0; i < parameters; ++i)
    text << (i ? ", " : "") << ".param .b64 test_param_" << i;
  text << ")\n{\n.reg .pred %p<40>;\n.reg .b16 %rs<40>;\n.reg .b32 %r<40>;\n.reg .f32 %f<40>;\n"
          ".reg .f64 %fd<40>;\n.reg .b64 %rd<40>;\n.reg .b64 %a<10>;\n";
  for (unsigned i = 0; i < parameters; ++i)
    text << "ld.param.u64 %a" << i << ", [test_param_" << i << "];\n";
  text << body << "\nret;\n}\n";
  return text.str();
}

Module Device::parse(const std::string &text) {
  Error error;
  std::optional<Module> module = Module::parse(text, error);
  INFO(error.message);
  REQUIRE(module);
  return std::move(*module);
}

void Device::check(const std::optional<Error> &error) {
  INFO((error ? error->message : ""));
  REQUIRE(!error);
}

Device::Device(const std::string &text) : module(parse(text)) { check(module.load(memory)); }

LaunchResult Device::launch(Dim3 grid, Dim3 block, const std::vector<uint64_t> &parameters,
                            const LaunchOptions &options, const char *name,
                            uint32_t dynamicShared) {
  const Kernel *kernel = module.kernel(name);
  REQUIRE(kernel);
  REQUIRE(kernel->parameters.size() == parameters.size());
  std::vector<const void *> values;
  for (const uint64_t &parameter : parameters)
    values.push_back(&parameter);
  return ptx::launch(*kernel, memory, grid, block, dynamicShared, kernel->pack(values.data()),
                     options);
}

Counts Device::run(Dim3 grid, Dim3 block, const std::vector<uint64_t> &parameters,
                   const LaunchOptions &options, const char *name, uint32_t dynamicShared) {
  LaunchResult result = launch(grid, block, parameters, options, name, dynamicShared);
  check(result.error);
  return result.counts;
}

Counts Device::runWith(const char *name, Dim3 grid, Dim3 block,
                       std::initializer_list<const void *> parameters, uint32_t dynamicShared,
                       const LaunchOptions &options) {
  const Kernel *kernel = module.kernel(name);
  REQUIRE(kernel);
  REQUIRE(kernel->parameters.size() == parameters.size());
  LaunchResult result = ptx::launch(*kernel, memory, grid, block, dynamicShared,
                                    kernel->pack(parameters.begin()), options);
  check(result.error);
  return result.counts;
}

std::string input(const std::string &name) {
  std::ifstream file(PTX_INPUTS "/" + name);
  REQUIRE(file);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

} // namespace accc::ptx::test
