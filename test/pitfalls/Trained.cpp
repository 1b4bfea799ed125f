// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Trained.h"

#include "random/Random.h"

#include "debug/Evaluation.h"
#include "driver/Driver.h"
#include "driver/Pipeline.h"
#include "frontend/onnx/Proto.h"
#include "ir/interfaces/ReferenceValues.h"
#include "ir/prim/FunctionContract.h"
#include "reference/interpreter/Interpreter.h"

#include "mlir/IR/Builders.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/xxhash.h"

#include <catch2/catch.hpp>
#include <onnx/defs/parser.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>

using namespace mlir;
using namespace accc;
using namespace accc::test;

namespace {

/// Sets an environment variable while it lives.
class Setting {
public:
  Setting(const char *name, const char *value) : name(name) { ::setenv(name, value, 1); }
  ~Setting() { ::unsetenv(name); }

private:
  const char *name;
};

std::string temporaryFile(StringRef extension) {
  llvm::SmallString<128> path;
  REQUIRE(!llvm::sys::fs::createTemporaryFile("accc-pitfall", extension, path));
  return path.str().str();
}

// ---- the model file ----

std::vector<int64_t> shapeOf(const onnx::ValueInfoProto &value) {
  std::vector<int64_t> shape;
  for (const auto &dimension : value.type().tensor_type().shape().dim())
    shape.push_back(dimension.dim_value());
  return shape;
}

bool isFloat(int elementType) {
  return elementType == onnx::TensorProto::FLOAT || elementType == onnx::TensorProto::DOUBLE;
}

/// Makes graph inputs initializers, which the importer takes for parameters.
void addParameters(onnx::GraphProto &graph, const Values &parameters) {
  auto *inputs = graph.mutable_input();
  for (int i = inputs->size() - 1; i >= 0; --i) {
    auto value = parameters.find(inputs->Get(i).name());
    if (value == parameters.end())
      continue;
    int type = inputs->Get(i).type().tensor_type().elem_type();
    REQUIRE(isFloat(type));
    REQUIRE(shapeOf(inputs->Get(i)) ==
            std::vector<int64_t>(value->second.shape.begin(), value->second.shape.end()));
    onnx::TensorProto &tensor = *graph.add_initializer();
    tensor.set_name(value->first);
    tensor.set_data_type(type);
    for (int64_t extent : value->second.shape)
      tensor.add_dims(extent);
    for (double number : value->second.values)
      if (type == onnx::TensorProto::FLOAT)
        tensor.add_float_data(static_cast<float>(number));
      else
        tensor.add_double_data(number);
    inputs->DeleteSubrange(i, 1);
  }
}

std::string addNode(onnx::GraphProto &graph, const char *op, const std::vector<std::string> &inputs,
                    const std::string &output) {
  onnx::NodeProto &node = *graph.add_node();
  node.set_op_type(op);
  for (const std::string &input : inputs)
    node.add_input(input);
  node.add_output(output);
  return output;
}

void addAttribute(onnx::GraphProto &graph, const char *name, int64_t value) {
  onnx::AttributeProto &attribute = *graph.mutable_node(graph.node_size() - 1)->add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::INT);
  attribute.set_i(value);
}

/// Adds the output `loss`, the sum of all float outputs times inputs `cotangent.<output>`, whose
/// values it adds to `inputs`.
void addLoss(onnx::GraphProto &graph, const Values &cotangents, Values &inputs) {
  std::vector<std::string> sums;
  for (const onnx::ValueInfoProto &output :
       std::vector<onnx::ValueInfoProto>(graph.output().begin(), graph.output().end())) {
    if (!isFloat(output.type().tensor_type().elem_type()))
      continue;
    onnx::ValueInfoProto &cotangent = *graph.add_input();
    cotangent = output;
    cotangent.set_name("cotangent." + output.name());
    auto given = cotangents.find(output.name());
    inputs[cotangent.name()] =
        given == cotangents.end() ? spread(shapeOf(output), -1, 1, llvm::xxh3_64bits(output.name()))
                                  : given->second;
    std::string name = output.name();
    addNode(graph, "Mul", {name, cotangent.name()}, name + ".weighed");
    sums.push_back(addNode(graph, "ReduceSum", {name + ".weighed"}, name + ".sum"));
    addAttribute(graph, "keepdims", 0);
    sums.back() = addNode(graph, "Cast", {sums.back()}, name + ".sum32");
    addAttribute(graph, "to", onnx::TensorProto::FLOAT);
  }
  addNode(graph, "Sum", sums, "loss");
  onnx::ValueInfoProto &loss = *graph.add_output();
  loss.set_name("loss");
  auto &type = *loss.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  type.mutable_shape();
}

/// A model in a file, the options to compile it, and its inputs; the file is removed with it.
struct ModelFile {
  explicit ModelFile(const TrainedModel &model);
  ~ModelFile() { llvm::sys::fs::remove(options.model); }

  CompileOptions options;
  Values inputs;
};

ModelFile::ModelFile(const TrainedModel &model) : options(model.options), inputs(model.inputs) {
  onnx::ModelProto proto;
  std::string text =
      "<ir_version: 8, opset_import: [\"\" : " + std::to_string(model.opset) + "]>\n";
  auto status = onnx::OnnxParser::Parse(proto, (text + model.graph).c_str());
  INFO(status.ErrorMessage());
  REQUIRE(status.IsOK());
  addParameters(*proto.mutable_graph(), model.parameters);
  if (options.losses.empty()) {
    addLoss(*proto.mutable_graph(), model.cotangents, inputs);
    options.losses = {"output:loss"};
  }
  if (options.optimizers.empty())
    options.optimizers = {"sgd"};
  options.targets = {testsCuda() ? "cuda" : "cpu"};
  options.archs = {testsCuda() ? "compute_80" : "x86-64-v3"};
  options.model = temporaryFile("onnx");
  std::ofstream(options.model, std::ios::binary) << proto.SerializeAsString();
}

std::string joined(const std::vector<Problem> &problems) {
  std::string text;
  for (const Problem &problem : problems)
    if (problem.severity == Problem::Severity::Error)
      text += describe(problem) + "\n";
  return text;
}

/// Where there is one, the module of entry points, before anything is done to it.
OwningOpRef<ModuleOp> entryPoints(const CompileOptions &options, MLIRContext &context,
                                  Values &variables, std::string &error) {
  registerDialects(context);
  Compilation compilation(context, options);
  ExitCode code = runPipeline(compilation, "trainable", {});
  if (code != ExitCode::Done) {
    error = joined(compilation.problems.take());
    REQUIRE(code != ExitCode::Bug);
    return {};
  }
  for (auto &[name, weight] : compilation.weights)
    variables[name] = fromBytes(weight.type, weight.bytes);
  return compilation.module->clone();
}

TensorMap tensorsOf(ModuleOp trainable, const Values &values) {
  TensorMap tensors;
  for (auto function : trainable.getOps<func::FuncOp>())
    for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i) {
      std::string name = argumentText(function, i, kNameAttr).str();
      if (values.count(name))
        tensors.insert_or_assign(
            name,
            toTensor(values.at(name), cast<RankedTensorType>(function.getArgumentTypes()[i])));
    }
  return tensors;
}

/// Compiles to a file of that name; why it could not.
std::string compileTo(const std::string &library, CompileOptions options) {
  options.output = library;
  Outcome outcome = compileModel(options);
  std::string error = joined(outcome.problems);
  INFO(error);
  CHECK(outcome.code != ExitCode::Bug);
  return outcome.code == ExitCode::Done ? "" : error;
}

/// The values that calls begin with (Trace.h).
Values startOf(ModuleOp trainable, Values variables, const Values &inputs) {
  CaseOptions options;
  options.learningRate = 1;
  Values start = firstValues(trainable, std::move(variables), options);
  for (const auto &[name, value] : inputs)
    start[name] = value;
  return start;
}

} // namespace

bool accc::test::testsCuda() {
  const char *target = std::getenv("ACCC_TEST_TARGET");
  return target && StringRef(target) == "cuda";
}

// ---- Training ----

static const ReferenceArray &valueOf(const Training &training, const std::string &key) {
  INFO(training.error);
  INFO(key);
  REQUIRE(training.library.count(key));
  return training.library.at(key);
}

const ReferenceArray &Training::output(const std::string &name) const {
  return valueOf(*this, "grad_step " + name);
}
const ReferenceArray &Training::gradient(const std::string &parameter) const {
  return valueOf(*this, "grad_step grad." + parameter);
}
const ReferenceArray &Training::updated(const std::string &variable) const {
  return valueOf(*this, "train_step 1 new " + variable);
}

Training accc::test::train(const TrainedModel &model) {
  Training training;
  ModelFile file(model);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  Values variables;
  OwningOpRef<ModuleOp> trainable = entryPoints(file.options, context, variables, training.error);
  if (!trainable)
    return training;
  Values start = startOf(*trainable, std::move(variables), file.inputs);
  FailureOr<Trace> reference = traceModule(*trainable, start, model.steps, interpret);
  if (succeeded(reference))
    training.reference = std::move(*reference);
  std::string library = temporaryFile("so");
  training.error = compileTo(library, file.options);
  if (training.error.empty()) {
    // The stand-in for a GPU tells of every read of memory that nobody has written.
    Setting poison("ACCC_POISON", testsCuda() ? "0" : "1");
    training.library = traceLibrary(library, *trainable, start, model.steps, 1, 1, training.error);
  }
  llvm::sys::fs::remove(library);
  return training;
}

Training accc::test::trainAsInterpreted(const TrainedModel &model, double tolerance) {
  Training training = train(model);
  INFO(model.graph);
  INFO(training.error);
  CHECK(training.error.empty());
  CHECK(!training.reference.empty());
  for (const auto &[key, expected] : training.reference) {
    INFO(key);
    if (model.options.losses.empty() && StringRef(key).ends_with(" loss"))
      continue; // a sum of terms that cancel
    auto found = training.library.find(key);
    REQUIRE(found != training.library.end());
    CAPTURE(found->second.values, expected.values);
    CHECK(distance(found->second, expected) <= tolerance);
  }
  return training;
}

// ---- CompiledModel ----

void accc::test::trainWithin(TrainedModel model, int64_t budget, int64_t step,
                             llvm::function_ref<void(const Training &)> check) {
  int tried = 0;
  for (;; budget -= step, ++tried) {
    INFO("budget " << budget);
    model.options.memoryBudget = budget;
    Training training = train(model);
    if (!training.error.empty()) {
      CHECK(training.error.find("--memory-budget") != std::string::npos);
      break;
    }
    check(training);
  }
  CHECK(tried > 3);
}

CompiledModel::CompiledModel(const TrainedModel &model) {
  ModelFile file(model);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  Values variables;
  OwningOpRef<ModuleOp> trainable = entryPoints(file.options, context, variables, error);
  INFO(error);
  REQUIRE(trainable);
  inputs = tensorsOf(*trainable, file.inputs);
  path = temporaryFile("so");
  error = compileTo(path, file.options);
}

CompiledModel::~CompiledModel() { llvm::sys::fs::remove(path); }

Session CompiledModel::session(SessionOptions options) const {
  INFO(error);
  REQUIRE(error.empty());
  return Session(Model::load(path), options);
}

std::string CompiledModel::failureOf(const std::string &entry, const std::string &variable) const {
  Setting poison("ACCC_POISON",
                 "1"); // later kernels read what those that are refused leave unwritten
  Session session = this->session();
  Tensor before = session.variable(variable).clone();
  std::string message;
  try {
    session.run(entry, inputs).wait();
  } catch (const std::exception &caught) {
    message = caught.what();
  }
  CHECK(sameBits(session.variable(variable), before));
  return message;
}

// ---- numbers ----

std::vector<double> accc::test::numbersOf(const Tensor &tensor) {
  std::vector<double> numbers;
  auto add = [&](auto elements) { numbers.assign(elements.begin(), elements.end()); };
  switch (tensor.dtype()) {
  case DType::f32:
    add(tensor.data<float>());
    break;
  case DType::f64:
    add(tensor.data<double>());
    break;
  case DType::i64:
    add(tensor.data<int64_t>());
    break;
  case DType::boolean:
    add(tensor.data<bool>());
    break;
  default:
    FAIL("numbersOf does not know the type " << to_string(tensor.dtype()));
  }
  return numbers;
}

bool accc::test::sameBits(const Tensor &a, const Tensor &b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         (a.size_bytes() == 0 || std::memcmp(a.raw(), b.raw(), a.size_bytes()) == 0);
}

ReferenceArray accc::test::array(std::vector<int64_t> shape, std::vector<double> values) {
  ReferenceArray result(shape);
  REQUIRE(result.values.size() == values.size());
  result.values = std::move(values);
  return result;
}

ReferenceArray accc::test::filled(std::vector<int64_t> shape, double value) {
  return ReferenceArray(shape, value);
}

ReferenceArray accc::test::spread(std::vector<int64_t> shape, double low, double high,
                                  uint64_t seed) {
  ReferenceArray result(shape);
  Random random(seed);
  for (double &value : result.values)
    value = static_cast<double>(static_cast<float>(random.real(low, high)));
  return result;
}

static bool same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

void accc::test::checkEqual(const ReferenceArray &found, const std::vector<double> &expected) {
  CAPTURE(found.values, expected);
  CHECK(
      std::equal(found.values.begin(), found.values.end(), expected.begin(), expected.end(), same));
}

void accc::test::checkNear(const ReferenceArray &found, const std::vector<double> &expected,
                           double tolerance) {
  CAPTURE(found.values, expected);
  REQUIRE(found.values.size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i)
    if (!same(found.values[i], expected[i]) && !(std::abs(found.values[i] - expected[i]) <=
                                                 tolerance * std::max(1.0, std::abs(expected[i]))))
      FAIL_CHECK("element " << i << " is " << found.values[i] << ", expected " << expected[i]);
}

void accc::test::checkFinite(const ReferenceArray &found) {
  CAPTURE(found.values);
  CHECK(isFinite(found));
}
