// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernels/Harness.h"

#include "accc/accc.h"
#include "codegen/Generate.h"
#include "fusion/Passes.h"
#include "fusion/fuse/Fuse.h"
#include "ir/exec/Exec.h"
#include "ir/nn/Nn.h"
#include "reference/interpreter/GradientCheck.h"
#include "reference/interpreter/Interpreter.h"
#include "schedule/Schedule.h"
#include "support/Attributes.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"

#include <cmath>
#include <random>

using namespace mlir;

namespace accc::test {
namespace {

const llvm::fltSemantics &halfSemantics(DType type) {
  return type == DType::f16 ? llvm::APFloat::IEEEhalf() : llvm::APFloat::BFloat();
}

void setByType(Tensor &tensor, int64_t i, double value) {
  switch (tensor.dtype()) {
  case DType::f32:
    tensor.data<float>()[i] = static_cast<float>(value);
    break;
  case DType::f64:
    tensor.data<double>()[i] = value;
    break;
  case DType::f16:
  case DType::bf16: {
    llvm::APFloat rounded(value);
    bool losesInfo;
    rounded.convert(halfSemantics(tensor.dtype()), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    static_cast<uint16_t *>(tensor.raw())[i] =
        static_cast<uint16_t>(rounded.bitcastToAPInt().getZExtValue());
    break;
  }
  case DType::boolean:
    tensor.data<bool>()[i] = value != 0;
    break;
  case DType::i32:
    tensor.data<int32_t>()[i] = static_cast<int32_t>(value);
    break;
  case DType::u32:
    tensor.data<uint32_t>()[i] = static_cast<uint32_t>(value);
    break;
  default:
    tensor.data<int64_t>()[i] = static_cast<int64_t>(value);
  }
}

double getByType(const Tensor &tensor, int64_t i) {
  switch (tensor.dtype()) {
  case DType::f32:
    return tensor.data<float>()[i];
  case DType::f64:
    return tensor.data<double>()[i];
  case DType::f16:
  case DType::bf16:
    return llvm::APFloat(halfSemantics(tensor.dtype()),
                         llvm::APInt(16, static_cast<const uint16_t *>(tensor.raw())[i]))
        .convertToDouble();
  case DType::boolean:
    return tensor.data<bool>()[i];
  case DType::i32:
    return tensor.data<int32_t>()[i];
  case DType::u32:
    return tensor.data<uint32_t>()[i];
  default:
    return static_cast<double>(tensor.data<int64_t>()[i]);
  }
}

DType dtypeFor(Type type) {
  if (type.isF32())
    return DType::f32;
  if (type.isF64())
    return DType::f64;
  if (type.isF16() || type.isBF16())
    return type.isF16() ? DType::f16 : DType::bf16;
  if (type.isInteger(1))
    return DType::boolean;
  if (type.isUnsignedInteger(32))
    return DType::u32;
  return type.isInteger(32) ? DType::i32 : DType::i64;
}

std::string compare(const Tensor &got, const ReferenceArray &want, double tolerance) {
  double difference = 0, norm = 0;
  for (int64_t i = 0; i < got.size(); ++i) {
    double a = getByType(got, i), b = want.values[i];
    if (std::isnan(a) && std::isnan(b))
      continue;
    if (a == b)
      continue;
    difference += (a - b) * (a - b);
    if (!(difference < 1e300))
      return "element " + std::to_string(i) + " is " + std::to_string(a) + ", not " +
             std::to_string(b);
  }
  for (double b : want.values)
    if (std::isfinite(b))
      norm += b * b;
  double relative = std::sqrt(difference) / std::max(std::sqrt(norm), 1e-30);
  if (relative <= tolerance)
    return "";
  std::string text = "relative difference " + std::to_string(relative) + ":";
  for (int64_t i = 0; i < std::min<int64_t>(got.size(), 12); ++i)
    text += " " + std::to_string(getByType(got, i)) + "|" + std::to_string(want.values[i]);
  return text;
}
} // namespace

namespace {
/// Puts the vector-Jacobian product of the module's function in its place.
LogicalResult replaceByGradient(ModuleOp module) {
  auto function = *module.getOps<func::FuncOp>().begin();
  OwningOpRef<func::FuncOp> vjp = buildVjp(function);
  if (!vjp)
    return failure();
  vjp->setName(function.getName());
  function.erase();
  module.push_back(vjp.release());
  return success();
}

LogicalResult runPasses(ModuleOp module) {
  PassManager passes(module.getContext());
  passes.addNestedPass<func::FuncOp>(createDecomposePass());
  passes.addNestedPass<func::FuncOp>(createSimplifyPass());
  passes.addNestedPass<func::FuncOp>(createLayOutContractionsPass());
  passes.addNestedPass<func::FuncOp>(createPackOperandsPass());
  return passes.run(module);
}
} // namespace

KernelOutcome runKernelCase(const KernelCase &test, const std::string &arch, bool interpreted) {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, prim::PrimDialect, nn::NnDialect, exec::ExecDialect>();
  std::string diagnostics;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) { diagnostics += d.str() + "\n"; });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(test.text, &context);
  if (!module)
    return {"cannot be parsed: " + diagnostics};
  if (test.gradient && failed(replaceByGradient(*module)))
    return {"has no gradient: " + diagnostics};
  auto function = *module->getOps<func::FuncOp>().begin();
  OpBuilder b(&context);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    function.setArgAttr(i, kNameAttr, b.getStringAttr("in" + std::to_string(i)));
    function.setArgAttr(i, kRoleAttr, b.getStringAttr(role::kInput));
  }
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    function.setResultAttr(i, kNameAttr, b.getStringAttr("out" + std::to_string(i)));
    function.setResultAttr(i, kRoleAttr, b.getStringAttr(role::kOutput));
  }

  std::mt19937 random(7);
  std::uniform_real_distribution<float> real(-2, 2);
  TensorMap inputs;
  SmallVector<ReferenceArray> arguments, expected;
  for (BlockArgument argument : function.getArguments()) {
    auto type = cast<RankedTensorType>(argument.getType());
    Tensor tensor(dtypeFor(type.getElementType()),
                  Shape(type.getShape().begin(), type.getShape().end()));
    ReferenceArray array(type.getShape());
    for (int64_t i = 0; i < tensor.size(); ++i) {
      double value = isa<FloatType>(type.getElementType())
                         ? static_cast<double>(real(random))
                         : static_cast<double>(random() % static_cast<uint64_t>(test.integerBound));
      setByType(tensor, i, value);
      array.values[i] = getByType(tensor, i);
    }
    inputs.emplace("in" + std::to_string(argument.getArgNumber()), tensor);
    arguments.push_back(array);
  }
  if (interpreted && failed(interpret(function, arguments, expected)))
    return {"cannot be interpreted: " + diagnostics};

  if (test.passes && failed(runPasses(*module)))
    return {"the passes fail: " + diagnostics};
  if (failed(formFusions(*module)))
    return {"fusion failed: " + diagnostics};
  auto program = schedule(*module);
  if (failed(program))
    return {"schedule failed: " + diagnostics};
  SmallString<128> folder, path;
  if (llvm::sys::fs::createUniqueDirectory("accc-kernel", folder))
    return {"no temporary folder"};
  path = folder;
  path += "/model.so";
  GenerateOptions options;
  options.modelName = test.name;
  options.archs = {arch};
  if (const char *dump = getenv("ACCC_TEST_DUMP"))
    options.dumpDir = dump;
  KernelOutcome outcome;
  if (failed(generateLibrary(**program, {}, options, path))) {
    outcome.error = "code generation failed: " + diagnostics;
  } else {
    try {
      Session session(Model::load(path.str().str()));
      outcome.launches = session.model().entry("f").num_launches;
      Result result = session.run("f", inputs);
      for (auto [i, want] : llvm::enumerate(expected)) {
        std::string wrong = compare(result["out" + std::to_string(i)], want, test.tolerance);
        if (!wrong.empty())
          outcome.error += "result " + std::to_string(i) + ": " + wrong + "\n";
      }
    } catch (const std::exception &error) { // as code without RTTI must
      outcome.error = error.what();
    }
  }
  llvm::sys::fs::remove_directories(folder);
  return outcome;
}

} // namespace accc::test
