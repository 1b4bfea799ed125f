// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/aten/Signature.h"

#include "llvm/Support/ErrorHandling.h"

using namespace accc;
using namespace accc::aten;
using llvm::StringRef;

static Argument parseDefault(StringRef text) {
  if (text == "None")
    return NoValue();
  if (text == "True" || text == "False")
    return text == "True";
  if (text.consume_front("'"))
    return text.drop_back().str();
  if (text.consume_front("[")) {
    Integers values;
    llvm::SmallVector<StringRef> parts;
    text.drop_back().split(parts, ' ', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts)
      values.push_back(std::stoll(part.str()));
    return values;
  }
  int64_t integer;
  if (!text.getAsInteger(10, integer))
    return integer;
  double real;
  if (!text.getAsDouble(real))
    return real;
  llvm_unreachable("a default value in the table of operators");
}

Signature::Signature(StringRef text) {
  auto [head, rest] = text.split('(');
  name = head.str();
  llvm::SmallVector<StringRef> parts;
  rest.rtrim(')').split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    auto [parameter, value] = part.trim().split('=');
    if (parameter == "*") // what follows is given by name; files do so anyway
      continue;
    parameters.push_back({parameter.str(), std::nullopt});
    if (!value.empty())
      parameters.back().otherwise = parseDefault(value);
  }
}

const Signature::Parameter *Signature::find(StringRef parameter) const {
  for (const Parameter &each : parameters)
    if (each.name == parameter)
      return &each;
  return nullptr;
}
