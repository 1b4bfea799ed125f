// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a program says of its values, and does not compute with.
#include "frontend/torchexport/Program.h"

using namespace accc;
using namespace accc::torchexport;

static bool isAssertion(llvm::StringRef target) {
  for (llvm::StringRef name :
       {"torch.ops.aten._assert_scalar.default", "torch.ops.aten._assert_async.msg",
        "torch.ops.aten._assert_async.default", "torch.ops.aten._assert_tensor_metadata.default",
        "torch.ops.aten.sym_constrain_range.default",
        "torch.ops.aten.sym_constrain_range_for_size.default", "torch._check"})
    if (target == name)
      return true;
  return false;
}

/// The names of a node's results where these are numbers: sizes, or elements of tensors.
static std::vector<std::string> numbersOf(const Json &outputs) {
  std::vector<std::string> names;
  for (size_t i = 0; i < outputs.size(); ++i) {
    Json output = outputs.at(i);
    if (!llvm::StringRef(output.tag()).starts_with("as_sym_") ||
        output.content().tag() != "as_name")
      return {};
    names.push_back(output.content().content().string());
  }
  return names;
}

std::set<size_t> accc::torchexport::assertionsOf(const Json &graph) {
  std::set<size_t> left;
  Json nodes = graph.at("nodes");
  std::set<std::string> read = graph.at("outputs").texts();
  for (size_t i = nodes.size(); i-- > 0;) { // readers first
    Json node = nodes.at(i);
    std::vector<std::string> numbers = numbersOf(node.at("outputs"));
    bool isUnread = !numbers.empty() && llvm::none_of(numbers, [&](const std::string &name) {
      return read.contains(name);
    });
    if (isUnread || isAssertion(node.at("target").string()))
      left.insert(i);
    else
      read.merge(node.at("inputs").texts());
  }
  return left;
}
