// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program says of values that were known when it was exported.
#include "frontend/torchexport/Program.h"

using namespace accc;
using namespace accc::torchexport;

/// Whether an operator says something about values that were known when the program was exported,
/// and computes nothing.
static bool isAssertion(llvm::StringRef target) {
  for (llvm::StringRef name :
       {"torch.ops.aten._assert_scalar.default", "torch.ops.aten._assert_async.msg",
        "torch.ops.aten._assert_tensor_metadata.default",
        "torch.ops.aten.sym_constrain_range.default",
        "torch.ops.aten.sym_constrain_range_for_size.default", "torch._check"})
    if (target == name)
      return true;
  return false;
}

/// Whether a target gives a number, and changes nothing.
static bool givesNumber(llvm::StringRef target) {
  return target == "torch.ops.aten.item.default" ||
         target == "torch.ops.aten._local_scalar_dense.default" ||
         target.starts_with("_operator.") || target.starts_with("torch.sym_") ||
         target.starts_with("math.");
}

std::vector<bool> accc::torchexport::onlyAsserted(const Json &graph) {
  Json nodes = graph.at("nodes");
  std::vector<bool> isAsserted(nodes.size());
  std::set<std::string> read;
  graph.at("outputs").collectStrings(read);
  for (size_t i = nodes.size(); i-- > 0;) {
    Json node = nodes.at(i);
    std::string target = node.at("target").string();
    std::set<std::string> results;
    node.at("outputs").collectStrings(results);
    isAsserted[i] = isAssertion(target) ||
                    (givesNumber(target) && llvm::none_of(results, [&](const std::string &name) {
                       return read.contains(name);
                     }));
    if (!isAsserted[i])
      node.at("inputs").collectStrings(read);
  }
  return isAsserted;
}
