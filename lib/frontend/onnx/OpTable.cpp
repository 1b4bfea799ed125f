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

const OpRow *accc::onnx_import::findOp(llvm::StringRef domain, llvm::StringRef name) {
  static const llvm::StringMap<OpRow> rows = [] {
    llvm::StringMap<OpRow> map;
    for (const OpRow &row : allOps())
      map[(llvm::Twine(row.domain) + ":" + row.name).str()] = row;
    return map;
  }();
  auto found = rows.find(((domain == "ai.onnx" ? "" : domain) + ":" + name).str());
  return found == rows.end() ? nullptr : &found->second;
}

std::vector<OnnxOperator> accc::onnxOperators() {
  std::vector<OnnxOperator> operators;
  for (const OpRow &row : allOps())
    operators.push_back(
        {*row.domain ? std::string(row.domain) + "." + row.name : row.name, row.oldest});
  llvm::sort(operators,
             [](const OnnxOperator &a, const OnnxOperator &b) { return a.name < b.name; });
  return operators;
}

int64_t accc::newestOnnxOpset() { return kNewestOpset; }
