// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/WorkScope.h"

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <atomic>
#include <cstring>

using namespace mlir;
using namespace accc;
using llvm::StringRef;

static thread_local const WorkScope *innermost = nullptr;
static std::atomic<const char *> workPhase = "";

WorkScope::WorkScope(Operation *work) : outer(innermost) {
  if (auto function = dyn_cast<FunctionOpInterface>(work)) {
    entry = function.getNameAttr().getValue();
  } else {
    op = work->getName().getStringRef();
    location = work->getLoc();
  }
  innermost = this;
}

WorkScope::WorkScope(StringRef node, StringRef op) : node(node), op(op), outer(innermost) {
  innermost = this;
}

WorkScope::~WorkScope() { innermost = outer; }

void accc::setWorkPhase(const char *phase) { workPhase = phase; }

/// nodeName() without heap memory; of IR text the file.
static StringRef findName(LocationAttr location) {
  if (auto name = dyn_cast_if_present<NameLoc>(location))
    return name.getName();
  if (auto file = dyn_cast_if_present<FileLineColLoc>(location))
    return file.getFilename();
  if (auto call = dyn_cast_if_present<CallSiteLoc>(location))
    return findName(call.getCallee());
  if (auto fused = dyn_cast_if_present<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (StringRef name = findName(part); !name.empty())
        return name;
  return "";
}

template <size_t size> static void assign(char (&to)[size], StringRef text) {
  size_t length = std::min(text.size(), size - 1);
  if (length > 0)
    std::memcpy(to, text.data(), length);
  to[length] = 0;
}

void accc::describeWork(WorkPlace &place) {
  assign(place.phase, workPhase.load());
  for (const WorkScope *scope = innermost; scope; scope = scope->outer) {
    if (!place.entry[0])
      assign(place.entry, scope->entry);
    if (place.node[0] || place.op[0] || !scope->entry.empty())
      continue;
    assign(place.op, scope->op);
    assign(place.node, scope->node.empty() ? findName(scope->location) : scope->node);
  }
}
