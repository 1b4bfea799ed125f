// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Header.h"

#include "accc/tensor.h"
#include "driver/Driver.h"
#include "ir/exec/Exec.h"
#include "ir/prim/ElementTypes.h"
#include "ir/prim/FunctionContract.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace accc;

namespace {
/// One input or output of an entry point.
struct Field {
  std::string name;       // the exporter's
  std::string identifier; // C++'s
  RankedTensorType type;
};

/// Text with {N} marks is clearer than a stream of pieces, but braces are C++'s: so pieces it is.
class Writer {
public:
  explicit Writer(std::string &text) : stream(text) {}
  template <typename... Parts> void line(const Parts &...parts) {
    ((stream << parts), ...);
    stream << "\n";
  }

private:
  llvm::raw_string_ostream stream;
};
} // namespace

/// A C++ identifier for a name: other characters become underscores.
static std::string identifierFor(StringRef name) {
  // C++'s own words, then what the header and the namespaces that it uses are called.
  static const llvm::StringSet<> reserved = {
      "alignas",     "alignof",      "and",           "and_eq",
      "asm",         "auto",         "bitand",        "bitor",
      "bool",        "break",        "case",          "catch",
      "char",        "char16_t",     "char32_t",      "char8_t",
      "class",       "co_await",     "co_return",     "co_yield",
      "compl",       "concept",      "const",         "const_cast",
      "consteval",   "constexpr",    "constinit",     "continue",
      "decltype",    "default",      "delete",        "do",
      "double",      "dynamic_cast", "else",          "enum",
      "explicit",    "export",       "extern",        "false",
      "float",       "for",          "friend",        "goto",
      "if",          "inline",       "int",           "long",
      "mutable",     "namespace",    "new",           "noexcept",
      "not",         "not_eq",       "nullptr",       "operator",
      "or",          "or_eq",        "private",       "protected",
      "public",      "register",     "requires",      "return",
      "short",       "signed",       "sizeof",        "static",
      "static_cast", "struct",       "switch",        "template",
      "this",        "thread_local", "throw",         "true",
      "try",         "typedef",      "typeid",        "typename",
      "union",       "unsigned",     "using",         "virtual",
      "void",        "volatile",     "wchar_t",       "while",
      "xor",         "xor_eq",       "static_assert", "reinterpret_cast",
      "tensors",     "result",       "sizes",         "Sizes",
      "Inputs",      "Outputs",      "Evaluated",     "accc",
      "std"};
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) ? c : '_';
  if (text.empty() || llvm::isDigit(text[0]) || reserved.contains(text))
    text += "_";
  if (llvm::isDigit(text[0]))
    text.insert(0, "_");
  return text;
}

/// A literal of C++: what is no plain character is written as an octal number, which ends after
/// three digits, whatever follows.
static std::string quoted(StringRef text) {
  std::string result = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (llvm::isPrint(c) && c != '"' && c != '\\')
      result += c;
    else
      result +=
          {'\\', char('0' + (byte >> 6)), char('0' + (byte >> 3 & 7)), char('0' + (byte & 7))};
  }
  return result + "\"";
}

static std::vector<Field> fieldsOf(ArrayAttr values, ArrayRef<Role> roles) {
  std::vector<Field> fields;
  llvm::StringSet<> taken;
  for (Attribute value : values) {
    auto dictionary = cast<DictionaryAttr>(value);
    if (!llvm::is_contained(roles, dictionary.getAs<prim::RoleAttr>("role").getValue()))
      continue;
    StringRef name = dictionary.getAs<StringAttr>("name").getValue();
    std::string identifier = identifierFor(name);
    while (!taken.insert(identifier).second)
      identifier += "_";
    fields.push_back({name.str(), identifier,
                      cast<RankedTensorType>(dictionary.getAs<TypeAttr>("type").getValue())});
  }
  return fields;
}

static std::string typeName(RankedTensorType type) {
  return std::string(to_string(static_cast<DType>(dtypeOf(type.getElementType()))));
}

static std::string dtypeText(RankedTensorType type) {
  std::string name = typeName(type);
  return "accc::DType::" + (name == "bool" ? "boolean" : name);
}

static std::string shapeText(RankedTensorType type) {
  std::string text = "{";
  for (auto [i, extent] : llvm::enumerate(type.getShape()))
    text += (i ? ", " : "") + std::to_string(extent);
  return text + "}";
}

namespace {
/// What one entry point takes and gives, at one of the sizes.
struct EntrySignature {
  std::string sizes; // empty where there is but one
  std::vector<Field> inputs, outputs;
  bool hasLoss;
};
} // namespace

/// The training steps of a program by their names; an empty one where the only step has none.
static std::vector<std::string> stepsOf(ModuleOp program) {
  std::vector<std::string> steps;
  for (auto entry : program.getOps<exec::EntryOp>())
    if (std::string step = stepName(entry.getEntryName()).str(); !llvm::is_contained(steps, step))
      steps.push_back(step);
  return steps;
}

/// Those of the first of these entry points that the step has, one for each size.
static std::vector<EntrySignature> signaturesOf(ModuleOp program, StringRef step,
                                                ArrayRef<StringRef> kinds) {
  std::vector<EntrySignature> signatures;
  for (StringRef kind : kinds) {
    for (auto entry : program.getOps<exec::EntryOp>()) {
      if (entry.getEntryName() != entryName(kind, step))
        continue;
      EntrySignature &signature = signatures.emplace_back(EntrySignature{
          entry.getSizesText().str(), fieldsOf(entry.getInputs(), {Role::Input, Role::Target}),
          fieldsOf(entry.getOutputs(), {Role::Output}),
          !fieldsOf(entry.getOutputs(), {Role::Loss}).empty()});
      llvm::erase_if(signature.outputs,
                     [](const Field &field) { return field.identifier == "loss"; });
    }
    if (!signatures.empty())
      break;
  }
  return signatures;
}

/// Those of the entry point that trains, or of evaluation, which takes no other inputs, where none
/// does.
static std::vector<EntrySignature> trainingSignatures(ModuleOp program, StringRef step) {
  return signaturesOf(program, step, {kTrainStep, kGradStep, kEvalStep});
}

/// Those of evaluation where its outputs are not those of training, as with --loss-only, under
/// which training has none; else nothing.
static std::vector<EntrySignature> evaluationSignatures(ModuleOp program, StringRef step) {
  std::vector<EntrySignature> signatures = signaturesOf(program, step, {kEvalStep});
  auto identifiers = [](ArrayRef<EntrySignature> some) {
    return llvm::map_to_vector(some.front().outputs,
                               [](const Field &field) { return field.identifier; });
  };
  if (!signatures.empty() &&
      identifiers(signatures) == identifiers(trainingSignatures(program, step)))
    signatures.clear();
  return signatures;
}

static void writeSizes(Writer &w, ArrayRef<EntrySignature> signatures) {
  w.line("/// The sizes that the library holds; they share its parameters.");
  w.line("enum class Sizes {");
  for (const EntrySignature &signature : signatures)
    w.line("  ", identifierFor(signature.sizes), ",");
  w.line("};");
  w.line();
}

static void writeInputs(Writer &w, ArrayRef<EntrySignature> signatures) {
  w.line("/// A batch: one tensor for each input, allocated and filled with zeros.");
  w.line("struct Inputs {");
  if (signatures.size() > 1) {
    w.line("  explicit Inputs(Sizes sizes) {");
    w.line("    switch (sizes) {");
    for (const EntrySignature &signature : signatures) {
      w.line("    case Sizes::", identifierFor(signature.sizes), ":");
      for (const Field &field : signature.inputs)
        w.line("      ", field.identifier, " = accc::Tensor(", dtypeText(field.type),
               ", accc::Shape", shapeText(field.type), ");");
      w.line("      break;");
    }
    w.line("    }");
    w.line("  }");
  }
  for (const Field &field : signatures.front().inputs)
    if (signatures.size() > 1)
      w.line("  accc::Tensor ", field.identifier, ";");
    else
      w.line("  accc::Tensor ", field.identifier, "{", dtypeText(field.type), ", accc::Shape",
             shapeText(field.type), "};");
  w.line("  accc::TensorMap tensors() const {");
  w.line("    return {");
  for (const Field &field : signatures.front().inputs)
    w.line("        {", quoted(field.name), ", ", field.identifier, "},");
  w.line("    };");
  w.line("  }");
  w.line("};");
  w.line();
}

static void writeOutputs(Writer &w, ArrayRef<EntrySignature> signatures, StringRef name) {
  w.line("/// What a call gave: valid until the next call of the same entry point",
         signatures.size() > 1 ? " at the same sizes." : ".");
  w.line("struct ", name, " {");
  w.line("  accc::Result result;");
  if (signatures.front().hasLoss)
    w.line("  double loss() const { return result.loss(); }");
  for (auto [i, field] : llvm::enumerate(signatures.front().outputs)) {
    std::vector<std::string> shapes;
    for (const EntrySignature &signature : signatures)
      if (std::string shape = shapeText(signature.outputs[i].type);
          !llvm::is_contained(shapes, shape))
        shapes.push_back(shape);
    w.line("  /// ", typeName(field.type), " ", llvm::join(shapes, " or "));
    w.line("  const accc::Tensor &", field.identifier, "() const { return result[",
           quoted(field.name), "]; }");
  }
  w.line("};");
  w.line();
}

/// "d::" for the step d: the types of several steps are apart.
static std::string scopeOf(const std::string &step) {
  return step.empty() ? "" : identifierFor(step) + "::";
}

static constexpr StringRef kOutputs = "Outputs", kEvaluated = "Evaluated";

static void writeSignatures(Writer &w, const std::string &step, ArrayRef<EntrySignature> signatures,
                            ArrayRef<EntrySignature> evaluated) {
  if (!step.empty()) {
    w.line("// ---- the training step ", step, " ----");
    w.line("namespace ", identifierFor(step), " {");
    w.line();
  }
  if (signatures.size() > 1)
    writeSizes(w, signatures);
  writeInputs(w, signatures);
  writeOutputs(w, signatures, kOutputs);
  if (!evaluated.empty())
    writeOutputs(w, evaluated, kEvaluated);
  if (!step.empty()) {
    w.line("} // namespace ", identifierFor(step));
    w.line();
  }
}

std::string accc::makeHeader(ModuleOp program, StringRef name) {
  llvm::StringSet<> entries;
  for (auto entry : program.getOps<exec::EntryOp>())
    entries.insert(entry.getEntryName());
  const std::vector<std::string> steps = stepsOf(program);

  std::string space = identifierFor(name);
  std::string guard = "ACCC_MODEL_HEADER_" + StringRef(space).upper();
  std::string text;
  Writer w(text);
  w.line("// Written by ", kCompilerVersion, ": the typed API of the model ", name, ".");
  w.line("#ifndef ", guard);
  w.line("#define ", guard);
  w.line();
  w.line("#include \"accc/accc.h\"");
  w.line();
  w.line("#include <string>");
  w.line();
  w.line("namespace ", space, " {");
  w.line();
  for (const std::string &step : steps)
    writeSignatures(w, step, trainingSignatures(program, step),
                    evaluationSignatures(program, step));
  w.line("/// See accc::Trainer, which get() gives.");
  w.line("class Trainer {");
  w.line("public:");
  w.line(
      "  explicit Trainer(const std::string &library, const accc::TrainerOptions &options = {})");
  w.line("      : trainer(accc::Model::load(library), options) {}");
  w.line();
  for (const std::string &step : steps) {
    StringRef evaluated = evaluationSignatures(program, step).empty() ? kOutputs : kEvaluated;
    for (auto [kind, method] :
         {std::pair(kTrainStep, "step"), std::pair(kGradStep, "grad_step"),
          std::pair(kAccumulateStep, "accumulate_step"), std::pair(kEvalStep, "eval"),
          std::pair(kAverageEvalStep, "average_eval")})
      if (entries.contains(entryName(kind, step)))
        w.line("  ", scopeOf(step), StringRef(method).ends_with("eval") ? evaluated : kOutputs, " ",
               method, "(const ", scopeOf(step), "Inputs &batch) { return {trainer.", method, "(",
               step.empty() ? "" : quoted(step) + ", ", "batch.tensors())}; }");
  }
  w.line();
  w.line("  accc::Trainer &get() { return trainer; }");
  w.line();
  w.line("private:");
  w.line("  accc::Trainer trainer;");
  w.line("};");
  w.line();
  w.line("} // namespace ", space);
  w.line();
  w.line("#endif");
  return text;
}
