// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which inputs of a graph change, found before it is imported.
#include "frontend/torchexport/Program.h"

using namespace accc;
using namespace accc::torchexport;

/// The name of an ATen operator, "add_.Tensor", or "" for other targets.
static llvm::StringRef atenName(llvm::StringRef target) {
  return target.consume_front("torch.ops.aten.") ? target : "";
}

static std::string tensorName(const Json &argument) {
  std::optional<Json> tensor = argument.find("as_tensor");
  return tensor ? tensor->at("name").string() : "";
}

std::set<std::string> accc::torchexport::writtenInputs(const Json &graph) {
  std::map<std::string, std::string> sources; // of each tensor, what it may be a view of
  std::set<std::string> written;
  auto mark = [&](std::string name) {
    while (!name.empty() && written.insert(name).second)
      name = sources[name];
  };
  Json nodes = graph.at("nodes");
  for (size_t i = 0; i < nodes.size(); ++i) {
    Json node = nodes.at(i), inputs = node.at("inputs"), outputs = node.at("outputs");
    std::string target = node.at("target").string();
    if (llvm::StringRef name = atenName(target); !name.empty() && inputs.size() > 0) {
      std::string first = tensorName(inputs.at(size_t(0)).at("arg"));
      std::optional<aten::Operator> op = aten::findOperator(name);
      bool hasOut = false; // what it writes into, and gives
      for (size_t a = 0; a < inputs.size(); ++a)
        if (inputs.at(a).at("name").string() == "out" && op && !op->signature.find("out")) {
          first = tensorName(inputs.at(a).at("arg"));
          hasOut = true;
        }
      for (size_t o = 0; o < outputs.size(); ++o) {
        Json output = outputs.at(o);
        if (std::string result = tensorName(output); !result.empty())
          sources[result] = first;
        if (std::optional<Json> list = output.find("as_tensors"))
          for (size_t k = 0; k < list->size(); ++k)
            sources[list->at(k).at("name").string()] = first;
      }
      if (op && (op->inPlace || hasOut))
        mark(first);
      continue;
    }
    // The inputs of a graph in the graph are the arguments after it.
    for (size_t a = 0; a < inputs.size(); ++a) {
      std::optional<Json> inner = inputs.at(a).at("arg").find("as_graph");
      if (!inner)
        continue;
      Json body = inner->at("graph"), names = body.at("inputs");
      std::set<std::string> changed = writtenInputs(body);
      for (size_t k = 0; k < names.size() && a + 1 + k < inputs.size(); ++k)
        if (changed.contains(tensorName(names.at(k))))
          mark(tensorName(inputs.at(a + 1 + k).at("arg")));
    }
  }
  return written;
}
