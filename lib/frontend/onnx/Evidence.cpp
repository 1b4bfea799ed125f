// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/Evidence.h"
#include "frontend/onnx/TensorFlowName.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include <google/protobuf/unknown_field_set.h>

using namespace accc::onnx_import;

namespace {
constexpr int kNodeMetadata = 9, kGraphMetadata = 16, kValueInfoMetadata = 4;
constexpr const char kSignature[] = "pkg.torch.export.ExportedProgram.graph_signature";
constexpr const char kScopes[] = "pkg.torch.onnx.name_scopes";
constexpr const char kRule[] = "pkg.onnxscript.rewriter.rule_name";
constexpr const char kFoldedFrom[] = "pkg.onnxscript.optimizer.folded_from";

/// What torch.export's signature says of an input or output of its program.
struct Spec {
  std::string placeholder, kind, target;
  bool isPersistent = true;
};

/// What stands in quotes at the beginning of the text.
std::string quoted(llvm::StringRef text) {
  return text.size() < 2 ? "" : text.drop_front().split(text.front()).first.str();
}

/// "p_fc_weight: PARAMETER target='fc.weight'", or "b_mask: BUFFER target='mask' persistent=True".
Spec parseLine(llvm::StringRef line) {
  auto [placeholder, rest] = line.split(": ");
  auto [kind, target] = rest.split(" target=");
  return {placeholder.str(), kind.str(), quoted(target), !target.contains("persistent=False")};
}

/// "PARAMETER: 2>, arg=TensorArgument(name='p_fc_weight'), target='fc.weight', persistent=None)":
/// what follows "InputSpec(kind=<InputKind." in files of PyTorch up to 2.6.
Spec parseObject(llvm::StringRef object) {
  return {quoted(object.split("(name=").second), object.split(": ").first.str(),
          quoted(object.split("), target=").second), !object.contains("persistent=False")};
}

std::vector<Spec> parseSignature(llvm::StringRef text) {
  bool isOfObjects = text.starts_with("ExportGraphSignature(");
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, isOfObjects ? "putKind." : "\n"); // InputKind, OutputKind
  std::vector<Spec> specs;
  for (llvm::StringRef part : parts)
    specs.push_back(isOfObjects ? parseObject(part) : parseLine(part.trim()));
  return specs;
}

/// Whether the exporter that wrote the file noted what it folded, as it does since PyTorch 2.9.
bool notesFolded(llvm::StringRef version) {
  auto [major, rest] = version.split('.');
  unsigned first = 0, second = 0;
  if (major.getAsInteger(10, first) || rest.split('.').first.getAsInteger(10, second))
    return true;
  return first > 2 || (first == 2 && second >= 9);
}
} // namespace

std::vector<std::string> accc::onnx_import::unknownFields(const google::protobuf::Message &message,
                                                          int field) {
  std::vector<std::string> found;
  const google::protobuf::UnknownFieldSet &fields =
      message.GetReflection()->GetUnknownFields(message);
  for (int i = 0; i < fields.field_count(); ++i) {
    const google::protobuf::UnknownField &each = fields.field(i);
    if (each.number() == field &&
        each.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED)
      found.push_back(each.length_delimited());
  }
  return found;
}

Metadata accc::onnx_import::metadataOf(const google::protobuf::Message &message, int field) {
  Metadata result;
  for (const std::string &bytes : unknownFields(message, field))
    if (onnx::StringStringEntryProto entry; entry.ParseFromString(bytes))
      result[entry.key()] = entry.value();
  return result;
}

Metadata accc::onnx_import::metadataOf(const onnx::ValueInfoProto &value) {
  return metadataOf(value, kValueInfoMetadata);
}

Metadata accc::onnx_import::metadataOf(const onnx::NodeProto &node) {
  return metadataOf(node, kNodeMetadata);
}

std::vector<std::string> accc::onnx_import::parsePythonList(llvm::StringRef text) {
  std::vector<std::string> items;
  while (true) {
    size_t open = text.find_first_of("'\"");
    if (open == llvm::StringRef::npos)
      return items;
    size_t close = text.find(text[open], open + 1);
    if (close == llvm::StringRef::npos)
      return items;
    items.push_back(text.slice(open + 1, close).str());
    text = text.drop_front(close + 1);
  }
}

Evidence::Evidence(const onnx::ModelProto &model) {
  if (llvm::StringRef(model.producer_name()).starts_with("tf2onnx"))
    hasVariableReads =
        llvm::any_of(model.graph().initializer(), [](const onnx::TensorProto &tensor) {
          return TensorFlowName(tensor.name()).isVariable();
        });
  ofPyTorch = llvm::StringRef(model.producer_name()).starts_with("pytorch");
  if (!ofPyTorch)
    return;
  const onnx::GraphProto &graph = model.graph();
  Metadata entries = metadataOf(graph, kGraphMetadata);
  if (auto signature = entries.find(kSignature); signature != entries.end())
    for (Spec &spec : parseSignature(signature->second)) {
      named.insert(spec.target);
      bool isParameter = spec.kind == "PARAMETER";
      if (spec.kind == "BUFFER_MUTATION" || spec.kind == "PARAMETER_MUTATION")
        writtenState.push_back(std::move(spec.target));
      else if (isParameter || spec.kind == "BUFFER")
        state.push_back(
            {std::move(spec.target), isParameter, spec.isPersistent, std::move(spec.placeholder)});
    }
  for (const auto &[i, entry] : llvm::enumerate(state)) {
    order[entry.name] = i;
    placeholders[entry.placeholder] = i;
  }
  for (const onnx::NodeProto &node : graph.node()) {
    hasScopes |= !state.empty() && !hasScopes && scopeOf(node).has_value();
    hasPaths |= state.empty() && llvm::StringRef(node.name()).starts_with("/");
    bool isConstant = node.op_type() == "Constant";
    hasConstants |= isConstant;
    hasFolded |= isConstant && isMadeByOptimizer(node);
  }
  for (const onnx::TensorProto &tensor : graph.initializer())
    hasFolded |= !isOfModule(tensor.name());
  for (const onnx::ValueInfoProto &value : graph.value_info()) {
    Metadata metadata = metadataOf(value);
    if (auto from = metadata.find(kFoldedFrom); from != metadata.end())
      folded[value.name()] = parsePythonList(from->second);
  }
  hasFoldedFrom = !folded.empty() || notesFolded(model.producer_version());
}

std::optional<size_t> Evidence::find(llvm::StringRef name) const {
  auto found = order.find(name);
  return found == order.end() ? std::nullopt : std::optional(found->second);
}

std::string Evidence::stateOf(llvm::StringRef argument) const {
  if (!argument.consume_front("%"))
    return "";
  auto found = placeholders.find(argument);
  return found == placeholders.end() ? "" : state[found->second].name;
}

bool Evidence::isParameter(llvm::StringRef name) const {
  std::optional<size_t> at = find(name);
  return at && state[*at].isParameter;
}

std::optional<Evidence::Scope> Evidence::scopeOf(const onnx::NodeProto &node) {
  Metadata metadata = metadataOf(node);
  auto found = metadata.find(kScopes);
  if (found == metadata.end())
    return std::nullopt;
  std::vector<std::string> scopes = parsePythonList(found->second);
  if (scopes.empty())
    return std::nullopt;
  return Scope{scopes.size() > 1 ? scopes[scopes.size() - 2] : "", scopes.back()};
}

std::string Evidence::placeOf(const onnx::NodeProto &node) {
  if (std::optional<Scope> scope = scopeOf(node))
    return scope->module.empty() ? scope->call : scope->module;
  llvm::StringRef name = node.name();
  if (!name.consume_front("/"))
    return name.str();
  std::string module = moduleOf(pathOf(node), /*joinsLists=*/true);
  return module.empty() ? name.str() : module;
}

bool Evidence::isMadeByOptimizer(const onnx::NodeProto &node) { return !scopeOf(node); }

std::string Evidence::ruleOf(const onnx::NodeProto &node) {
  Metadata metadata = metadataOf(node);
  auto rule = metadata.find(kRule);
  return rule == metadata.end() ? "" : rule->second;
}

std::vector<std::string> Evidence::foldedFrom(llvm::StringRef initializer) const {
  auto found = folded.find(initializer);
  return found == folded.end() ? std::vector<std::string>() : found->second;
}

llvm::SmallVector<llvm::StringRef> accc::onnx_import::pathOf(const onnx::NodeProto &node) {
  llvm::SmallVector<llvm::StringRef> parts;
  llvm::StringRef(node.name()).split(parts, '/', -1, /*KeepEmpty=*/false);
  if (!parts.empty())
    parts.pop_back();
  return parts;
}

std::string accc::onnx_import::moduleOf(llvm::ArrayRef<llvm::StringRef> path, bool joinsLists) {
  std::string module;
  llvm::StringRef before;
  for (llvm::StringRef part : path) {
    llvm::StringRef added = part;
    bool member = joinsLists && !before.empty() && added.consume_front(before) &&
                  added.starts_with(".") && added.size() > 1;
    if (member)
      module += added.str(); // ".0"
    else
      module += (module.empty() ? "" : ".") + part.str();
    before = part;
  }
  return module;
}

bool accc::onnx_import::isOneModule(llvm::StringRef a, llvm::StringRef b) {
  llvm::SmallVector<llvm::StringRef> as, bs;
  a.split(as, '.');
  b.split(bs, '.');
  auto base = [](llvm::StringRef part) {
    llvm::StringRef stem = part.rtrim("0123456789");
    return stem.size() < part.size() && stem.consume_back("_") ? stem : part;
  };
  return as.size() == bs.size() && llvm::all_of(llvm::zip(as, bs), [&](auto pair) {
           return base(std::get<0>(pair)) == base(std::get<1>(pair));
         });
}

bool accc::onnx_import::writesConstantsAsInitializers(const onnx::ModelProto &model) {
  llvm::StringRef producer(model.producer_name());
  return producer.starts_with("tf2onnx") || producer.starts_with("jax2onnx");
}

bool accc::onnx_import::isOfOptimizer(llvm::StringRef name) {
  if (name.starts_with("ConvBnFusion_") || name.starts_with("ConvMulFusion_") ||
      name.starts_with("ConvAddFusion_"))
    return true;
  return name.consume_front("_v_") && !name.empty() && llvm::all_of(name, llvm::isDigit);
}

bool accc::onnx_import::isNameOfStopGradient(llvm::StringRef name) {
  name = name.substr(name.rfind('/') + 1); // npos + 1 is 0
  if (!name.consume_front("stop_out"))
    return false;
  return name.empty() ||
         (name.consume_front("_") && !name.empty() && llvm::all_of(name, llvm::isDigit));
}

llvm::StringRef accc::onnx_import::ownerOf(llvm::StringRef name) {
  return name.contains('.') ? name.rsplit('.').first : llvm::StringRef();
}

llvm::StringRef accc::onnx_import::leafOf(llvm::StringRef name) {
  return name.contains('.') ? name.rsplit('.').second : name;
}

bool accc::onnx_import::isWithin(llvm::StringRef name, llvm::StringRef module) {
  return module.empty() || (name.consume_front(module) && name.starts_with("."));
}
