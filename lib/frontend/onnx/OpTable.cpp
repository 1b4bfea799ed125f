// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/OpTable.h"
#include "frontend/onnx/Import.h"

#include "llvm/ADT/StringMap.h"

using namespace accc;
using namespace accc::onnx_import;

std::vector<OpRow> accc::onnx_import::allOps() {
  std::vector<OpRow> rows;
#define ACCC_APPEND_FAMILY(family) rows.insert(rows.end(), family().begin(), family().end());
  ACCC_ONNX_FAMILIES(ACCC_APPEND_FAMILY)
#undef ACCC_APPEND_FAMILY
  return rows;
}

Rule accc::onnx_import::findRule(llvm::StringRef domain, llvm::StringRef name) {
  static const llvm::StringMap<Rule> rules = [] {
    llvm::StringMap<Rule> map;
    for (const OpRow &row : allOps())
      map[(llvm::Twine(row.domain) + ":" + row.name).str()] = row.rule;
    return map;
  }();
  auto found = rules.find(((domain == "ai.onnx" ? "" : domain) + ":" + name).str());
  return found == rules.end() ? nullptr : found->second;
}

std::vector<std::string> accc::onnxOperators() {
  std::vector<std::string> names;
  for (const OpRow &row : allOps())
    names.push_back(*row.domain ? std::string(row.domain) + "." + row.name : row.name);
  llvm::sort(names);
  return names;
}
