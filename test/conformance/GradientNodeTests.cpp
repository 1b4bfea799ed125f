// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gradient_node_tests FOLDER EXPECTATIONS GRADIENT_EXPECTATIONS [PREFIX]: differentiates each node
// test's model that is imported rightly, and holds the gradient of a weighted sum of its float
// outputs by its float inputs against central differences, in double precision.
#include "Expectations.h"
#include "NodeTestCase.h"

#include "ir/prim/Tensor.h"
#include "reference/interpreter/Interpreter.h"
#include "training/autodiff/Differentiate.h"

#include "mlir/IR/Diagnostics.h"

#include <cmath>
#include <iostream>
#include <map>
#include <random>

using namespace accc;
namespace fs = std::filesystem;

namespace {

/// Elements of an input that are moved.
constexpr int64_t kMoved = 8;
constexpr double kStep = 1e-5;

bool isFloat(mlir::Type type) {
  return llvm::isa<mlir::FloatType>(llvm::cast<mlir::RankedTensorType>(type).getElementType());
}

/// What became of a test, for the counts at the end.
enum class Outcome { Checked, Zero, NoFloats, Known, Narrow, Kinks, Failed };
constexpr const char *kOutcomes[] = {
    "agree with differences",
    "are zero, as the differences are",
    "have no float input or no float output",
    "have float inputs that must be known at compile time alone",
    "compute in 16-bit floats, which have no useful differences",
    "have no elements, or only kinks, steps or infinities where they are asked",
    "fail"};

/// A function and its gradient by its float arguments.
class Differentiated {
public:
  /// `failure` says what went wrong.
  Differentiated(mlir::ModuleOp module, std::string &failure)
      : forward(module.lookupSymbol<mlir::func::FuncOp>("forward")) {
    for (unsigned i = 0; i < forward.getNumArguments(); ++i)
      if (isFloat(forward.getArgumentTypes()[i]))
        wanted.push_back(i);
    outputs = llvm::count_if(forward.getResultTypes(), isFloat);
    if (wanted.empty() || outputs == 0)
      return;
    addLoss();
    gradient = forward.clone();
    gradient.setName("gradient");
    module.push_back(gradient);
    mlir::Operation *end = gradient.front().getTerminator();
    mlir::OpBuilder builder(end);
    llvm::SmallVector<mlir::Value> arguments;
    for (unsigned i : wanted)
      arguments.push_back(gradient.getArgument(i));
    mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
      failure += diagnostic.str();
      return mlir::success();
    });
    auto gradients = differentiate(end->getOperand(0), arguments, builder);
    if (failed(gradients))
      return;
    llvm::SmallVector<mlir::Value> results;
    for (mlir::Value each : *gradients) {
      has.push_back(bool(each));
      if (each)
        results.push_back(each);
    }
    end->setOperands(results);
    setResults(gradient);
  }

  mlir::func::FuncOp forward, gradient;
  llvm::SmallVector<unsigned> wanted;
  llvm::SmallVector<bool> has; // false: no gradient flows
  int64_t outputs = 0;

private:
  /// Makes @forward return a weighted sum of its float results, in double precision.
  void addLoss() {
    mlir::Operation *end = forward.front().getTerminator();
    mlir::OpBuilder builder(end);
    std::mt19937 random(7);
    std::uniform_real_distribution<double> uniform(0.5, 1.5);
    mlir::Value loss;
    for (mlir::Value result : llvm::to_vector(end->getOperands())) {
      if (!isFloat(result.getType()))
        continue;
      prim::Tensor value =
          prim::Tensor(builder, forward.getLoc(), result).convert(builder.getF64Type());
      llvm::SmallVector<double> weights(value.size());
      for (double &weight : weights)
        weight = uniform(random);
      mlir::Value constant = builder.create<prim::ConstantOp>(
          forward.getLoc(), value.type(),
          mlir::DenseElementsAttr::get(value.type(), llvm::ArrayRef(weights)));
      prim::Tensor sum = prim::sumAll(value * value.wrap(constant));
      loss = loss ? sum + sum.wrap(loss) : sum;
    }
    end->setOperands(loss);
    setResults(forward);
  }

  static void setResults(mlir::func::FuncOp function) {
    mlir::Operation *end = function.front().getTerminator();
    function.setType(mlir::FunctionType::get(function.getContext(), function.getArgumentTypes(),
                                             end->getOperandTypes()));
    function.setAllResultAttrs(
        llvm::ArrayRef<mlir::DictionaryAttr>(llvm::SmallVector<mlir::DictionaryAttr>(
            end->getNumOperands(), mlir::DictionaryAttr::get(function.getContext()))));
  }
};

/// The gradient of one argument against differences of the loss.
class Comparison {
public:
  Comparison(mlir::func::FuncOp loss, llvm::SmallVector<ReferenceArray> &arguments)
      : loss(loss), arguments(arguments), base(lossNow()) {}

  /// Gives what differs; `gradient` is null where none flows.
  std::string compare(unsigned argument, const ReferenceArray *gradient) {
    int64_t size = arguments[argument].size();
    for (int64_t n = 0; n < std::min(size, kMoved); ++n) {
      int64_t i = size <= kMoved ? n : n * (size - 1) / (kMoved - 1);
      double found = gradient ? gradient->values[i] : 0;
      auto [expected, isSmooth] = derivative(arguments[argument].values[i]);
      if (!isSmooth)
        continue;
      double noise = 1e-13 * std::abs(base) / kStep;
      if (!(std::abs(found - expected) <= 1e-4 * std::abs(expected) + 1e-6 + noise))
        return "element " + std::to_string(i) + " of the gradient by input " +
               std::to_string(argument) + " is " + std::to_string(found) +
               " where differences are " + std::to_string(expected);
      isCompared = true;
      isZero &= expected == 0;
    }
    return "";
  }

  bool isCompared = false, isZero = true;

private:
  /// The derivative by an element, and whether differences near it agree: not at a kink or a step,
  /// or where the loss is not finite.
  std::pair<double, bool> derivative(double &element) {
    double before = element, step = kStep * std::clamp(std::abs(before), 1.0, 10.0);
    auto difference = [&](double from, double to) {
      element = before + from;
      double low = lossNow();
      element = before + to;
      double high = lossNow();
      element = before;
      return (high - low) / (to - from);
    };
    double up = difference(0, step), down = difference(-step, 0);
    double wide = (up + down) / 2, narrow = difference(-step / 2, step / 2);
    double tolerance = 1e-2 * std::max(std::abs(up), std::abs(down)) + 1e-3;
    bool isSmooth = std::abs(up - down) <= tolerance && std::abs(wide - narrow) <= tolerance / 10;
    return {(4 * narrow - wide) / 3, isSmooth};
  }

  double lossNow() {
    llvm::SmallVector<ReferenceArray> results;
    return succeeded(interpret(loss, arguments, results)) ? results[0].values[0] : std::nan("");
  }

  mlir::func::FuncOp loss;
  llvm::SmallVector<ReferenceArray> &arguments;
  double base;
};

bool isNarrow(mlir::func::FuncOp function) {
  auto narrow = [](mlir::Type type) {
    auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type);
    return tensor && llvm::isa<mlir::FloatType>(tensor.getElementType()) &&
           tensor.getElementTypeBitWidth() < 32;
  };
  bool found = llvm::any_of(function.getArgumentTypes(), narrow);
  function.walk([&](mlir::Operation *op) { found |= llvm::any_of(op->getResultTypes(), narrow); });
  return found;
}

Outcome run(const fs::path &folder, std::string &failure) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string model = (folder / "model.onnx").string();
  NodeTestCase test;
  failure = readNodeTest(model, dataSetsOf(folder).front(), context, test);
  if (!failure.empty())
    return Outcome::Failed;
  ImportResult imported = importNodeTest(model, test, context);
  if (!imported.module) {
    failure = joined(imported.problems);
    return Outcome::Failed;
  }
  auto forward = imported.module->lookupSymbol<mlir::func::FuncOp>("forward");
  auto isFloatData = [](mlir::DenseElementsAttr each) { return isFloat(each.getType()); };
  if (isNarrow(forward))
    return Outcome::Narrow;
  Differentiated whole(*imported.module, failure);
  if (!failure.empty())
    return Outcome::Failed;
  if (whole.wanted.empty() && whole.outputs != 0 && llvm::any_of(test.inputs, isFloatData))
    return Outcome::Known;
  if (whole.wanted.empty() || whole.outputs == 0)
    return Outcome::NoFloats;

  llvm::SmallVector<ReferenceArray> arguments = argumentsOf(imported, test), gradients;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &) { return mlir::success(); });
  if (failed(interpret(whole.gradient, arguments, gradients))) {
    failure = "interpreting the gradient fails";
    return Outcome::Failed;
  }
  Comparison comparison(whole.forward, arguments);
  const ReferenceArray *next = gradients.begin();
  for (auto [argument, has] : llvm::zip(whole.wanted, whole.has)) {
    failure = comparison.compare(argument, has ? next : nullptr);
    if (!failure.empty())
      return Outcome::Failed;
    next += has;
  }
  return !comparison.isCompared ? Outcome::Kinks
         : comparison.isZero    ? Outcome::Zero
                                : Outcome::Checked;
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 4) {
    std::cerr << "usage: gradient_node_tests FOLDER EXPECTATIONS GRADIENT_EXPECTATIONS [PREFIX]\n";
    return 2;
  }
  if (!fs::exists(argv[1])) {
    std::cout << "skipped: no folder " << argv[1] << "\n";
    return 77;
  }
  std::string prefix = argc > 4 ? argv[4] : "";
  Expectations interpreted(argv[2], ""), expectations(argv[3], "gradient_node_tests");
  std::map<Outcome, int> counts;
  int tests = 0;
  for (const fs::path &folder : findNodeTests(argv[1], prefix)) {
    std::string test = folder.filename().string(), failure;
    if (interpreted.isListed(test))
      continue;
    ++tests;
    ++counts[run(folder, failure)];
    expectations.note(test, failure);
  }
  bool good = !prefix.empty() || expectations.finish();
  std::cout << "of " << tests << " tests\n";
  for (auto [outcome, count] : counts)
    std::cout << "  " << count << " " << kOutcomes[static_cast<int>(outcome)] << "\n";
  return good ? 0 : 1;
}
