// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What operators of ONNX compute of the elements that a mask selects.
#include "frontend/aten/Selection.h"
#include "frontend/onnx/SelectedNode.h"
#include "frontend/onnx/Tensors.h"
#include "ir/prim/Combine.h"

#include "llvm/ADT/StringSwitch.h"

#include <numeric>

using namespace mlir;
using namespace accc;
using namespace accc::onnx_import;
using aten::Local;
using Result = std::optional<Local>;

// ---- elementwise ----

/// Operators of one tensor that compute each element of the one in its place.
static constexpr StringRef kElementwise =
    " Abs Neg Exp Log Sqrt Reciprocal Sin Cos Tan Asin Acos Atan Sinh Cosh Tanh Asinh Acosh Atanh "
    "Sigmoid Erf Floor Ceil Round Sign Not IsNaN IsInf Relu LeakyRelu Elu Selu Celu "
    "ThresholdedRelu "
    "Softplus Softsign Mish HardSigmoid HardSwish Gelu Swish Shrink Clip Identity Dropout ";

/// The operator of ATen that computes the same of each two elements; empty for others.
static StringRef binaryOp(StringRef op) {
  return llvm::StringSwitch<StringRef>(op)
      .Case("Add", "add.Tensor")
      .Case("Sub", "sub.Tensor")
      .Case("Mul", "mul.Tensor")
      .Case("Div", "div.Tensor")
      .Case("Pow", "pow.Tensor_Tensor")
      .Case("Max", "maximum")
      .Case("Min", "minimum")
      .Case("Equal", "eq.Tensor")
      .Case("Less", "lt.Tensor")
      .Case("LessOrEqual", "le.Tensor")
      .Case("Greater", "gt.Tensor")
      .Case("GreaterOrEqual", "ge.Tensor")
      .Case("And", "logical_and")
      .Case("Or", "logical_or")
      .Case("Xor", "logical_xor")
      .Default("");
}

/// The element type of an input that is a tensor or a selection.
static Type elementTypeOf(const Local &local) {
  if (auto *selection = std::get_if<aten::Selection>(&local))
    return aten::elementTypeOf(*selection);
  auto *tensor = std::get_if<aten::MutableTensor>(&local);
  return tensor ? getElementTypeOrSelf(tensor->type()) : Type();
}

/// Max and Min of any number; others of two, with integers where they compute the same of these.
static Result binary(const SelectedNode &node) {
  StringRef op = node.node.proto().op_type();
  StringRef name = binaryOp(op);
  Local result = node.input(0);
  bool isInteger = !isa_and_nonnull<FloatType>(elementTypeOf(result));
  if (!elementTypeOf(result) || (isInteger && (op == "Div" || op == "Pow")))
    return std::nullopt;
  for (size_t i = 1; i < node.node.inputs(); ++i) {
    if (!elementTypeOf(node.input(i)))
      return std::nullopt;
    result = node.call(name, {{"self", result}, {"other", node.input(i)}});
  }
  return result;
}

/// Of numbers, or of lists of one: how many elements a mask selects and a number are together, and
/// what they leave of a greater number, is how many another mask selects.
static Result sumOrDifference(const SelectedNode &node) {
  SmallVector<Local> operands;
  bool isList = false, isCounted = false;
  for (size_t i = 0; i < node.node.inputs(); ++i) {
    std::optional<aten::SelectedSizes> sizes = node.inputAs<aten::SelectedSizes>(i);
    bool isOne = sizes && sizes->sizes.size() == 1;
    operands.push_back(isOne ? node.call("reshape", {{"self", node.countOf(sizes->mask)},
                                                     {"shape", aten::Integers{1}}})
                             : node.input(i));
    isList |= isOne;
    isCounted |= isOne || node.countedMask(i);
  }
  if (!isCounted || operands.size() != 2)
    return binary(node);
  Local result = node.call(binaryOp(node.node.proto().op_type()),
                           {{"self", operands[0]}, {"other", operands[1]}});
  const auto *number = std::get_if<aten::MutableTensor>(&result);
  Value mask = number ? node.maskOfNumber(*number) : Value();
  return mask ? Result(node.countOf(mask)) : isList ? std::nullopt : Result(result);
}

static Result raised(const SelectedNode &node) {
  Local base = node.input(0), exponent = node.input(1);
  if (!isa_and_nonnull<FloatType>(elementTypeOf(base)))
    return std::nullopt;
  if (node.isKnown(1) && node.node.in(1).size() == 1)
    return node.call("pow.Tensor_Scalar",
                     {{"self", base}, {"exponent", node.node.knownReal(1, "exponent")}});
  return node.call("pow.Tensor_Tensor", {{"self", base}, {"exponent", exponent}});
}

static Result where(const SelectedNode &node) {
  return node.call(
      "where.self",
      {{"condition", node.input(0)}, {"self", node.input(1)}, {"other", node.input(2)}});
}

static Result converted(const SelectedNode &node, Type type) {
  return node.call("to.dtype", {{"self", node.input(0)}, {"dtype", type}});
}
static Result cast(const SelectedNode &node) {
  Type type =
      elementType(*node.node.builder().getContext(), static_cast<int32_t>(node.node.integer("to")));
  bool isCount = node.countedMask(0) || node.inputAs<aten::SelectedSizes>(0);
  if (isCount && type.isInteger(64))
    return node.input(0);
  return node.selection(0) ? converted(node, type) : std::nullopt;
}
static Result castLike(const SelectedNode &node) {
  Type type = elementTypeOf(node.input(1));
  return type && elementTypeOf(node.input(0)) ? converted(node, type) : std::nullopt;
}

// ---- products and normalization ----

static Result matMul(const SelectedNode &node) {
  return node.call("matmul", {{"self", node.input(0)}, {"other", node.input(1)}});
}

static Result gemm(const SelectedNode &node) {
  bool isPlain = node.node.integer("transA", 0) == 0 && node.node.real("alpha", 1) == 1 &&
                 node.node.real("beta", 1) == 1;
  if (!isPlain)
    return std::nullopt;
  Local right = node.input(1);
  if (node.node.integer("transB", 0) != 0)
    right = node.call("t", {{"self", right}});
  Local product = node.call("mm", {{"self", node.input(0)}, {"mat2", right}});
  return node.node.has(2) ? node.call("add.Tensor", {{"self", product}, {"other", node.input(2)}})
                          : product;
}

static Result sumOfProducts(const SelectedNode &node) {
  SmallVector<Local> inputs;
  for (size_t i = 0; i < node.node.inputs(); ++i)
    inputs.push_back(node.input(i));
  return node.call("einsum", {{"equation", node.node.string("equation", "")},
                              {"tensors", aten::listOfTensors(inputs)}});
}

/// What treats the samples, along the first dimension, alike.
static Result ofSamples(const SelectedNode &node) {
  std::optional<aten::Selection> x = node.selection(0);
  return x && x->dim == 0 && x->rank() > 2 ? node.ofElements() : std::nullopt;
}

static Result layerNorm(const SelectedNode &node) {
  std::optional<int64_t> rank = node.rank(0);
  int64_t axis = node.node.integer("axis", -1);
  if (!node.selection(0) || node.node.wants(1) || node.node.wants(2))
    return std::nullopt;
  axis += axis < 0 ? *rank : 0;
  ArrayRef<int64_t> shape = node.selection(0)->elements.shape();
  if (axis < 0 || axis >= *rank || node.selection(0)->dim >= axis)
    return std::nullopt;
  ArrayRef<int64_t> normalized = shape.drop_front(static_cast<size_t>(axis));
  return node.call("layer_norm",
                   {{"input", node.input(0)},
                    {"normalized_shape", aten::Integers(normalized.begin(), normalized.end())},
                    {"weight", node.input(1)},
                    {"bias", node.input(2)},
                    {"eps", node.node.real("epsilon", 1e-5)}});
}

// ---- along axes ----

template <bool isLog> static Result softmax(const SelectedNode &node) {
  if (node.node.opset() < 13)
    return std::nullopt;
  return node.call(isLog ? "log_softmax.int" : "softmax.int",
                   {{"self", node.input(0)}, {"dim", node.node.integer("axis", -1)}});
}

/// The result in the element type of the input, which ATen widens for sums of integers.
static Local asInput(const SelectedNode &node, const Local &result) {
  return node.call("to.dtype", {{"self", result}, {"dtype", elementTypeOf(node.input(0))}});
}

static Result cumulativeSum(const SelectedNode &node) {
  if (node.node.integer("exclusive", 0) != 0 || node.node.integer("reverse", 0) != 0)
    return std::nullopt;
  return asInput(node, node.call("cumsum", {{"self", node.input(0)},
                                            {"dim", node.node.knownInteger(1, "axis")}}));
}

/// What is selected, and behind it one more along the mask that no other is less extreme than: ONNX
/// says what the extreme of nothing is, which PyTorch refuses.
static Local withNeutral(const SelectedNode &node, const aten::Selection &x,
                         prim::ReduceKind kind) {
  Type type = aten::elementTypeOf(x);
  SmallVector<int64_t> shape(x.elements.shape());
  shape[x.dim] = 1;
  Attribute neutral =
      type.isInteger(1) ? Attribute(BoolAttr::get(type.getContext(), kind == prim::ReduceKind::min))
                        : prim::neutralElement(kind, type, type.isUnsignedInteger());
  prim::Tensor one = node.node.constant(DenseElementsAttr::get(tensorType(shape, type), neutral));
  return node.call("cat",
                   {{"tensors", aten::listOfTensors({x, node.tensor(one.get())})}, {"dim", x.dim}});
}

/// Reduces along the axes, all where none are given.
static Result reduce(const SelectedNode &node) {
  std::optional<aten::Selection> x = node.selection(0);
  if (!x)
    return std::nullopt;
  std::optional<aten::Integers> given = node.axes("axes", 1, x->rank());
  bool keeps = node.node.integer("keepdims", 1) != 0;
  if ((!given || given->empty()) && node.node.integer("noop_with_empty_axes", 0) != 0)
    return std::nullopt;
  aten::Integers axes(static_cast<size_t>(x->rank()));
  std::iota(axes.begin(), axes.end(), 0);
  if (given && !given->empty())
    axes = *given;
  StringRef op = node.node.proto().op_type();
  Local self = *x;
  if (op == "ReduceSumSquare")
    self = node.call("square", {{"self", self}});
  if (op == "ReduceL1")
    self = node.call("abs", {{"self", self}});
  if (llvm::is_contained(axes, x->dim) && (op == "ReduceMax" || op == "ReduceMin"))
    self = withNeutral(node, *x, op == "ReduceMax" ? prim::ReduceKind::max : prim::ReduceKind::min);
  StringRef name = llvm::StringSwitch<StringRef>(op)
                       .Cases("ReduceSum", "ReduceSumSquare", "ReduceL1", "sum.dim_IntList")
                       .Case("ReduceMean", "mean.dim")
                       .Case("ReduceMax", "amax")
                       .Case("ReduceMin", "amin")
                       .Case("ReduceLogSumExp", "logsumexp")
                       .Case("ReduceL2", "linalg_vector_norm")
                       .Default("");
  return asInput(node, node.call(name, {{"self", self}, {"dim", axes}, {"keepdim", keeps}}));
}

// ---- losses ----

/// Of scores [n, classes] and classes [n].
static Result classLoss(const SelectedNode &node) {
  std::string reduction = node.node.string("reduction", "mean");
  if (node.node.wants(1) || reduction == "none")
    return std::nullopt;
  bool takesLogits = node.node.proto().op_type() == "SoftmaxCrossEntropyLoss";
  std::vector<aten::NamedLocal> arguments{{"self", node.input(0)},
                                          {"target", node.input(1)},
                                          {"reduction", int64_t(reduction == "sum" ? 2 : 1)}};
  if (node.node.has(2))
    arguments.push_back({"weight", node.input(2)});
  if (node.node.hasAttribute("ignore_index"))
    arguments.push_back({"ignore_index", node.node.integer("ignore_index")});
  return node.call(takesLogits ? "cross_entropy_loss" : "nll_loss_nd", arguments);
}

SelectedRule accc::onnx_import::selectedRule(StringRef op) {
  if (SelectedRule rule = selectedShapeRule(op))
    return rule;
  if (kElementwise.contains((" " + op + " ").str()))
    return [](const SelectedNode &node) { return node.ofElements(); };
  if (!llvm::is_contained({"Pow", "Add", "Sub"}, op) && !binaryOp(op).empty())
    return binary;
  if (op.starts_with("Reduce") && op != "ReduceProd" && op != "ReduceLogSum")
    return reduce;
  return llvm::StringSwitch<SelectedRule>(op)
      .Cases("Add", "Sub", sumOrDifference)
      .Case("Pow", raised)
      .Case("Where", where)
      .Case("Cast", cast)
      .Case("CastLike", castLike)
      .Case("MatMul", matMul)
      .Case("Gemm", gemm)
      .Case("Einsum", sumOfProducts)
      .Cases("Conv", "ConvTranspose", "AveragePool", "MaxPool", "GlobalAveragePool", ofSamples)
      .Cases("InstanceNormalization", "GroupNormalization", ofSamples)
      .Case("LayerNormalization", layerNorm)
      .Case("Softmax", softmax<false>)
      .Case("LogSoftmax", softmax<true>)
      .Case("CumSum", cumulativeSum)
      .Cases("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss", classLoss)
      .Default(nullptr);
}
