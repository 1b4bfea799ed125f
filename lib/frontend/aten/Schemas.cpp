// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/aten/Schemas.h"
#include "frontend/aten/OpTable.h"

#include "llvm/ADT/StringMap.h"

using namespace accc::aten;
using llvm::StringRef;

static constexpr const char *kDeclarations[] = {
#include "frontend/aten/Schemas.inc"
};

static Schema parse(StringRef overload, StringRef declaration) {
  auto [parameters, results] = declaration.rsplit(" -> ");
  bool isTuple = results.starts_with("(");
  Schema schema{overload.str(), {}, isTuple ? results.count(',') + (results != "()") : 1};
  parameters.consume_back(")");
  bool isKeywordOnly = false;
  while (!parameters.empty()) {
    // A default may be a list.
    size_t end = parameters.find(", ");
    while (end != StringRef::npos &&
           parameters.take_front(end).count('[') != parameters.take_front(end).count(']'))
      end = parameters.find(", ", end + 1);
    StringRef part = parameters.take_front(end);
    parameters = end == StringRef::npos ? "" : parameters.drop_front(end + 2);
    if (part == "*") {
      isKeywordOnly = true;
      continue;
    }
    auto [declared, value] = part.split('=');
    auto [type, name] = declared.split(' ');
    schema.parameters.push_back({type.str(), name.str(), declared != part, isKeywordOnly});
  }
  return schema;
}

static const llvm::StringMap<std::vector<Schema>> &table() {
  static const llvm::StringMap<std::vector<Schema>> all = [] {
    llvm::StringMap<std::vector<Schema>> schemas;
    for (StringRef text : kDeclarations) {
      auto [head, declaration] = text.split('(');
      auto [name, overload] = head.split('.');
      schemas[name].push_back(parse(overload, declaration));
    }
    return schemas;
  }();
  return all;
}

llvm::ArrayRef<Schema> accc::aten::schemasOf(StringRef name) {
  auto found = table().find(name);
  if (found == table().end())
    found = table().find(functionalName(name));
  if (found == table().end())
    return {};
  return found->second;
}
