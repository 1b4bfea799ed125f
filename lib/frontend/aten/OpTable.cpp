// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/aten/OpTable.h"

using namespace accc;
using namespace accc::aten;

static const llvm::StringMap<Operator> &table() {
  static const llvm::StringMap<Operator> all = [] {
    llvm::StringMap<Operator> rows;
    auto add = [&](llvm::ArrayRef<OpRow> family) {
      for (const OpRow &row : family) {
        Signature signature(row.signature);
        std::string name = signature.name;
        bool inPlace =
            llvm::StringRef(name).ends_with("_") && !llvm::StringRef(name).ends_with("__");
        rows.insert(
            {name, Operator{std::move(signature), row.rule, row.alias, row.selected, inPlace}});
      }
    };
#define ACCC_ADD_FAMILY(family) add(family());
    ACCC_ATEN_FAMILIES(ACCC_ADD_FAMILY)
#undef ACCC_ADD_FAMILY
    return rows;
  }();
  return all;
}

std::string accc::aten::functionalName(llvm::StringRef name) {
  if (name.ends_with("__")) // Python's |= and its like
    return name.consume_front("__i") ? "__" + name.str() : "";
  return name.consume_back("_") ? name.str() : "";
}

std::optional<Operator> accc::aten::findOperator(llvm::StringRef name) {
  auto lookUp = [](llvm::StringRef name) -> const Operator * {
    auto row = table().find(name);
    return row == table().end() ? nullptr : &row->second;
  };
  auto [base, overload] = name.split('.');
  if (const Operator *exact = lookUp(name))
    return *exact;
  if (const Operator *any = lookUp(base))
    return *any;
  std::string functionalBase = functionalName(base);
  if (functionalBase.empty())
    return std::nullopt;
  const Operator *functional = lookUp(functionalBase + "." + overload.str());
  if (!functional)
    functional = lookUp(functionalBase);
  if (!functional)
    return std::nullopt;
  Operator inPlace = *functional;
  inPlace.inPlace = true;
  return inPlace;
}

std::optional<std::string> accc::aten::prefixOfLibrary(llvm::StringRef library) {
  if (library == "aten")
    return "";
  std::string prefix = (library + "::").str();
  bool isThere = llvm::any_of(table(), [&](auto &row) { return row.first().starts_with(prefix); });
  return isThere ? std::optional(prefix) : std::nullopt;
}

std::vector<std::string> accc::aten::allOperators() {
  std::vector<std::string> rows;
  auto add = [&](llvm::ArrayRef<OpRow> family) {
    for (const OpRow &row : family)
      rows.push_back(row.signature);
  };
#define ACCC_ADD_FAMILY(family) add(family());
  ACCC_ATEN_FAMILIES(ACCC_ADD_FAMILY)
#undef ACCC_ADD_FAMILY
  llvm::sort(rows);
  return rows;
}
