// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/aten/ForEach.h"

using namespace mlir;
using namespace accc;
using namespace accc::aten;
using frontend::fail;

static constexpr StringRef kPrefix = "_foreach_";

bool accc::aten::isForEach(StringRef op) { return op.starts_with(kPrefix); }

/// How the operator of one tensor calls a parameter; nothing where it has the same position.
static std::string parameterOf(StringRef op, StringRef parameter) {
  if (parameter == "ord")
    return "p";
  if (parameter == "scalars" && op.starts_with("addc")) // addcmul and addcdiv
    return "value";
  return parameter == "alpha" || parameter == "value" || parameter == "dtype" ? parameter.str()
                                                                              : "";
}

/// What the call for one element takes of an argument: its element of a list, else all of it.
static Local elementOf(const NamedLocal &argument, size_t index) {
  return std::visit(
      [&](const auto &value) -> Local {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, MutableTensors> || std::is_same_v<T, Reals> ||
                      std::is_same_v<T, Integers>) {
          if (index >= value.size())
            fail("the list '" + argument.name + "' has " + Twine(value.size()) +
                 " elements, fewer than others");
          return value[index];
        } else if constexpr (std::is_same_v<T, MutableTensor>) {
          if (argument.name == "scalars")
            fail("numbers of the elements in one tensor are not supported");
          return value;
        } else {
          return value;
        }
      },
      argument.value);
}

std::vector<Local> accc::aten::callForEach(Caller &caller, Location loc, StringRef op,
                                           const std::vector<NamedLocal> &arguments,
                                           StringRef name) {
  StringRef base = op.drop_front(kPrefix.size()).split('.').first;
  auto *self = arguments.empty() ? nullptr : std::get_if<MutableTensors>(&arguments[0].value);
  if (!self)
    fail("its first argument is no list of tensors");
  MutableTensors results;
  for (size_t i = 0; i < self->size(); ++i) {
    std::vector<NamedLocal> given;
    for (const NamedLocal &each : arguments)
      given.push_back({parameterOf(base, each.name), elementOf(each, i)});
    std::vector<Local> found = caller.call(loc, base, given, name);
    auto *result = found.size() == 1 ? std::get_if<MutableTensor>(&found[0]) : nullptr;
    if (!result)
      fail("gives another result than a tensor for each element");
    results.push_back(*result);
  }
  if (base.ends_with("_"))
    return {};
  return {std::move(results)};
}
