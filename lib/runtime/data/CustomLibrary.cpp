// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "accc/custom_library.h"

#include "LibraryFiles.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <optional>
#include <set>
#include <unistd.h>

namespace accc {

namespace {

bool isBareName(const std::string &path) { return path.find('/') == std::string::npos; }

/// Bit i for each of `count` tensors.
uint32_t allBits(int32_t count) { return count >= 32 ? ~uint32_t(0) : (uint32_t(1) << count) - 1; }

/// "domain::name", neither part empty, the domain none of those that accc itself implements.
std::optional<std::string> whyNameIsWrong(std::string_view name) {
  size_t colons = name.find("::");
  if (colons == std::string_view::npos || colons == 0 || colons + 2 == name.size())
    return "its name is not of the form domain::name";
  std::string_view domain = name.substr(0, colons);
  for (std::string_view taken : {"ai.onnx", "aten", "prim", "prims", "accc"})
    if (domain == taken)
      return "its domain is not free: " + std::string(domain);
  return std::nullopt;
}

std::optional<std::string> whyWrong(const accc_custom_operator &op) {
  if (auto wrong = whyNameIsWrong(op.name))
    return wrong;
  auto isCount = [](int32_t count) { return count >= 1 && count <= ACCC_CUSTOM_MAX_TENSORS; };
  if (!isCount(op.num_inputs) || !isCount(op.num_outputs))
    return "it has " + std::to_string(op.num_inputs) + " inputs and " +
           std::to_string(op.num_outputs) + " outputs; 1 to " +
           std::to_string(ACCC_CUSTOM_MAX_TENSORS) + " are possible";
  if (!op.infer)
    return "it has no infer function";
  if (!op.forward_cpu && !op.forward_cuda)
    return "it has no forward function";
  if (op.gradient < ACCC_GRADIENT_UNKNOWN || op.gradient > ACCC_GRADIENT_BACKWARD)
    return "its gradient is none of accc_custom_gradient";
  uint32_t inputs = allBits(op.num_inputs), outputs = allBits(op.num_outputs);
  if ((op.differentiable_inputs | op.backward_inputs) & ~inputs || op.backward_outputs & ~outputs)
    return "a bit is set for an input or output that it does not have";
  if (op.gradient != ACCC_GRADIENT_BACKWARD)
    return std::nullopt;
  if (!op.differentiable_inputs)
    return "its backward function gives no gradient: differentiable_inputs is 0";
  if ((op.forward_cpu && !op.backward_cpu) || (op.forward_cuda && !op.backward_cuda))
    return "it has a forward function without the backward function for the same target";
  return std::nullopt;
}

/// Throws Error (data) where the library contradicts custom_op.h.
void check(const accc_custom_operators *given, const std::string &path) {
  auto refuse = [&](const std::string &what) {
    throw Error(ErrorKind::data, "the library of custom operators " + path + " " + what);
  };
  if (!given)
    refuse("describes no operators: " ACCC_CUSTOM_OPS_SYMBOL " returned NULL");
  if (given->version != ACCC_CUSTOM_OPS_VERSION)
    refuse("was built for version " + std::to_string(given->version) +
           " of accc/custom_op.h, this accc has version " +
           std::to_string(ACCC_CUSTOM_OPS_VERSION) + ": build it again with this accc's header");
  if (given->num_operators < 1 || !given->operators)
    refuse("gives no operator");
  std::set<std::string_view> names;
  for (int32_t i = 0; i < given->num_operators; ++i) {
    const accc_custom_operator &op = given->operators[i];
    if (!op.name)
      refuse("gives an operator without a name");
    if (auto wrong = whyWrong(op))
      refuse("describes the operator " + std::string(op.name) + " wrongly: " + *wrong);
    if (!names.insert(op.name).second)
      refuse("gives two operators called " + std::string(op.name));
  }
}

} // namespace

CustomLibrary CustomLibrary::load(const std::string &path) {
  if (!isBareName(path) && ::access(path.c_str(), F_OK) != 0)
    throw Error(ErrorKind::usage,
                "the library of custom operators " + path + ": " + std::strerror(errno));
  void *handle = isBareName(path) ? ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)
                                  : detail::openLibrary(std::filesystem::absolute(path).string());
  if (!handle) {
    const char *reason = ::dlerror();
    throw Error(ErrorKind::data, "the library of custom operators " + path +
                                     " cannot be loaded: " + (reason ? reason : "unknown error"));
  }
  auto describe =
      reinterpret_cast<accc_custom_ops_function>(::dlsym(handle, ACCC_CUSTOM_OPS_SYMBOL));
  if (!describe)
    throw Error(ErrorKind::data, path + " is no library of custom operators: it does not export " +
                                     ACCC_CUSTOM_OPS_SYMBOL + " (accc/custom_op.h)");
  const accc_custom_operators *given = describe();
  check(given, path);
  CustomLibrary library;
  library.path_ = path;
  library.operators_ = {given->operators, static_cast<size_t>(given->num_operators)};
  return library;
}

const accc_custom_operator *CustomLibrary::find(std::string_view name) const {
  for (const accc_custom_operator &op : operators_)
    if (op.name == name)
      return &op;
  return nullptr;
}

} // namespace accc
