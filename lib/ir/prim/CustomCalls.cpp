// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/interfaces/ReferenceValues.h"
#include "ir/prim/CustomArguments.h"
#include "ir/prim/ElementTypes.h"
#include "ir/prim/Prim.h"

#include "llvm/Support/MemAlloc.h"

using namespace mlir;
using namespace accc;
using namespace accc::prim;

#define GET_OP_CLASSES
#include "ir/prim/CustomCalls.cpp.inc"

const CustomOperator *prim::findCustomOperator(MLIRContext *context, StringRef name) {
  const CustomOperators &all = context->getLoadedDialect<PrimDialect>()->customOperators;
  auto found = all.find(name);
  return found == all.end() ? nullptr : &found->second;
}

// ---- result types ----

static FailureOr<Type> resultType(Location loc, const CustomOperator &op,
                                  const accc_result_type &type) {
  constexpr int64_t kMostBytes = int64_t(1) << 40;
  Type element = elementTypeOf(loc.getContext(), type.dtype);
  if (!element || type.rank < 0 || type.rank > ACCC_CUSTOM_MAX_RANK)
    return emitError(loc) << "the infer function of " << op.functions->name << " in " << op.library
                          << " gives a result of rank " << type.rank << " and dtype " << type.dtype
                          << ", which is no tensor";
  ArrayRef<int64_t> shape(type.shape, static_cast<size_t>(type.rank));
  int64_t bytes = 8;
  for (int64_t extent : shape)
    if (extent < 0 || llvm::MulOverflow(bytes, extent, bytes) || bytes > kMostBytes)
      return emitError(loc) << "the infer function of " << op.functions->name << " in "
                            << op.library << " gives a result of shape [" << shape
                            << "], which is no tensor";
  return Type(RankedTensorType::get(shape, element));
}

FailureOr<SmallVector<Type>> prim::inferCustomResults(Location loc, const CustomOperator &op,
                                                      TypeRange inputs, DictionaryAttr config) {
  const accc_custom_operator &functions = *op.functions;
  if (inputs.size() != static_cast<size_t>(functions.num_inputs))
    return emitError(loc) << "has " << inputs.size() << " tensors as inputs; " << functions.name
                          << " of " << op.library << " takes " << functions.num_inputs;
  CustomArguments arguments(inputs, {}, config);
  accc_custom_arguments given = arguments.get();
  given.num_outputs = functions.num_outputs;
  given.outputs = nullptr;
  std::vector<accc_result_type> results(static_cast<size_t>(functions.num_outputs));
  if (functions.infer(&given, results.data()) != 0)
    return emitError(loc) << op.library << " refuses it: " << arguments.message();
  SmallVector<Type> types;
  for (const accc_result_type &result : results) {
    FailureOr<Type> type = resultType(loc, op, result);
    if (failed(type))
      return failure();
    types.push_back(*type);
  }
  return types;
}

// ---- evaluation ----

namespace {
/// Tensors as a function sees them.
class AlignedBytes {
public:
  explicit AlignedBytes(size_t size)
      : size(std::max<size_t>(size, 1)),
        first(static_cast<char *>(llvm::allocate_buffer(this->size, ACCC_ALIGNMENT))) {}
  AlignedBytes(const AlignedBytes &) = delete;
  ~AlignedBytes() { llvm::deallocate_buffer(first, size, ACCC_ALIGNMENT); }
  MutableArrayRef<char> bytes() { return {first, size}; }

private:
  size_t size;
  char *first;
};
} // namespace

/// Rounds the operands to their types and calls the function for the CPU.
static LogicalResult evaluateCall(CustomCallLike call, ArrayRef<ReferenceArray> operands,
                                  SmallVectorImpl<ReferenceArray> &results) {
  const CustomOperator *op = findCustomOperator(call.getContext(), call.getCallee());
  if (!op)
    return call->emitOpError("calls ")
           << call.getCallee() << ", which no library of --custom-ops gives; it is in "
           << call.getLibrary();
  accc_custom_function function =
      call.isBackward() ? op->functions->backward_cpu : op->functions->forward_cpu;
  if (!function)
    return call->emitOpError("calls ")
           << call.getCallee() << ", for which " << op->library << " has no function for the CPU";
  CustomArguments arguments(call.getOperatorInputs(), call.getOperatorOutputs(), call.getConfig());
  if (call.isBackward())
    arguments.addGradients();
  std::deque<AlignedBytes> tensors;
  for (auto [operand, value] : llvm::zip_equal(operands, call->getOperands())) {
    std::vector<char> bytes = toBytes(operand, cast<RankedTensorType>(value.getType()));
    llvm::copy(bytes, tensors.emplace_back(bytes.size()).bytes().begin());
  }
  for (Type type : call->getResultTypes())
    tensors.emplace_back(toBytes(ReferenceArray(cast<RankedTensorType>(type).getShape()),
                                 cast<RankedTensorType>(type))
                             .size());
  for (auto [operand, place] : llvm::zip_equal(arguments.operands(), call.getPlaces()))
    operand.data = place < 0 ? nullptr : tensors[static_cast<size_t>(place)].bytes().data();
  AlignedBytes workspace(
      op->functions->workspace ? op->functions->workspace(&arguments.get(), call.isBackward()) : 0);
  arguments.setWorkspace(workspace.bytes());
  if (function(&arguments.get()) != 0)
    return call->emitOpError("calls ") << call.getCallee() << " of " << op->library
                                       << ", which failed: " << arguments.message();
  for (auto [i, type] : llvm::enumerate(call->getResultTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    ArrayRef<char> bytes = tensors[operands.size() + i].bytes();
    size_t width = (tensor.getElementTypeBitWidth() + 7) / 8;
    results.push_back(
        fromBytes(tensor, bytes.take_front(width * static_cast<size_t>(tensor.getNumElements()))));
  }
  return success();
}

// ---- custom_call ----

bool CustomCallOp::isBackward() { return false; }
SmallVector<Type> CustomCallOp::getOperatorInputs() {
  return llvm::to_vector(getInputs().getTypes());
}
SmallVector<Type> CustomCallOp::getOperatorOutputs() {
  return llvm::to_vector(getOutputs().getTypes());
}

SmallVector<int32_t> CustomCallOp::getPlaces() {
  unsigned tensors = getNumOperands() + getNumResults();
  SmallVector<int32_t> places(2 * tensors, -1);
  for (unsigned i = 0; i < tensors; ++i)
    places[i] = static_cast<int32_t>(i);
  return places;
}

/// The numbers of the bits that are set, below `count`.
static SmallVector<int64_t> numbersOf(uint32_t bits, unsigned count) {
  SmallVector<int64_t> numbers;
  for (unsigned i = 0; i < count; ++i)
    if (bits >> i & 1)
      numbers.push_back(i);
  return numbers;
}

static bool isFloat(Type type) {
  return isa<FloatType>(cast<RankedTensorType>(type).getElementType());
}

// The operator's backward function.
LogicalResult CustomCallOp::differentiate(Gradients &gradients) {
  const CustomOperator *op = findCustomOperator(getContext(), getCallee());
  if (!op)
    return emitError() << "the derivative of " << getCallee() << " needs " << getLibrary()
                       << ", which gives the operator: name it with --custom-ops";
  const accc_custom_operator &functions = *op->functions;
  if (functions.gradient == ACCC_GRADIENT_ZERO)
    return success();
  if (functions.gradient != ACCC_GRADIENT_BACKWARD)
    return emitError() << "'" << getCallee() << "' has no derivative (gradient is "
                       << "ACCC_GRADIENT_UNKNOWN in " << op->library
                       << "), and lies between a trained parameter and the loss";
  SmallVector<int64_t> wants;
  for (int64_t i : numbersOf(functions.differentiable_inputs, getInputs().size()))
    if (Value input = getInputs()[i]; isFloat(input.getType()) && gradients.wants(input))
      wants.push_back(i);
  if (wants.empty())
    return success();
  SmallVector<int64_t> readsInputs = numbersOf(functions.backward_inputs, getInputs().size()),
                       readsOutputs = numbersOf(functions.backward_outputs, getOutputs().size());
  auto pick = [](ValueRange values, ArrayRef<int64_t> numbers) {
    return llvm::map_to_vector(numbers, [&](int64_t i) { return values[i]; });
  };
  SmallVector<Value> cotangents;
  for (Value output : getOutputs())
    if (isFloat(output.getType()))
      cotangents.push_back(gradients.of(output));
  OpBuilder &b = gradients.builder();
  auto backward = b.create<CustomCallBackwardOp>(
      getLoc(), TypeRange(pick(getInputs(), wants)), getCallee(), getLibrary(), getConfig(),
      b.getTypeArrayAttr(getOperatorInputs()), b.getTypeArrayAttr(getOperatorOutputs()),
      readsInputs, readsOutputs, wants, pick(getInputs(), readsInputs),
      pick(getOutputs(), readsOutputs), cotangents);
  for (auto [i, gradient] : llvm::zip_equal(wants, backward.getInputGradients()))
    gradients.add(getInputs()[i], gradient);
  return success();
}

LogicalResult CustomCallOp::evaluate(ArrayRef<ReferenceArray> operands,
                                     SmallVectorImpl<ReferenceArray> &results) {
  return evaluateCall(*this, operands, results);
}

// ---- custom_call_backward ----

static SmallVector<Type> typesOf(ArrayAttr types) {
  return llvm::to_vector(types.getAsValueRange<TypeAttr>());
}

/// Increasing numbers from 0 to below `count`, one for each of the values.
static bool isNumbering(ArrayRef<int64_t> numbers, size_t values, size_t count) {
  bool increases =
      std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) == numbers.end();
  return numbers.size() == values && increases &&
         (numbers.empty() ||
          (numbers.front() >= 0 && numbers.back() < static_cast<int64_t>(count)));
}

LogicalResult CustomCallBackwardOp::verify() {
  SmallVector<Type> inputs = getOperatorInputs(), outputs = getOperatorOutputs(), gradients;
  for (Type type : llvm::concat<Type>(inputs, outputs))
    if (auto tensor = dyn_cast<RankedTensorType>(type); !tensor || !tensor.hasStaticShape())
      return emitOpError("has inputs or outputs that are no tensors");
  llvm::copy_if(outputs, std::back_inserter(gradients), isFloat);
  // custom_call_backward_c1
  if (!isNumbering(getReadsInputs(), getInputs().size(), inputs.size()) ||
      !isNumbering(getReadsOutputs(), getOutputs().size(), outputs.size()) ||
      !isNumbering(getWants(), getInputGradients().size(), inputs.size()))
    return emitOpError("has lists that do not number its operands and results");
  // custom_call_backward_c2
  auto pick = [](ArrayRef<Type> types, ArrayRef<int64_t> numbers) {
    return llvm::map_to_vector(numbers, [&](int64_t i) { return types[i]; });
  };
  if (getInputs().getTypes() != TypeRange(pick(inputs, getReadsInputs())) ||
      getOutputs().getTypes() != TypeRange(pick(outputs, getReadsOutputs())) ||
      getGradients().getTypes() != TypeRange(gradients) ||
      getInputGradients().getTypes() != TypeRange(pick(inputs, getWants())))
    return emitOpError("has operands or results of other types than the operator's tensors");
  return success();
}

bool CustomCallBackwardOp::isBackward() { return true; }
SmallVector<Type> CustomCallBackwardOp::getOperatorInputs() { return typesOf(getInputTypes()); }
SmallVector<Type> CustomCallBackwardOp::getOperatorOutputs() { return typesOf(getOutputTypes()); }

SmallVector<int32_t> CustomCallBackwardOp::getPlaces() {
  SmallVector<Type> inputs = getOperatorInputs(), outputs = getOperatorOutputs();
  SmallVector<int32_t> places(2 * (inputs.size() + outputs.size()), -1);
  int32_t next = 0; // operand or result
  for (int64_t i : getReadsInputs())
    places[i] = next++;
  for (int64_t i : getReadsOutputs())
    places[inputs.size() + i] = next++;
  for (auto [i, type] : llvm::enumerate(outputs))
    if (isFloat(type))
      places[inputs.size() + outputs.size() + i] = next++;
  for (int64_t i : getWants())
    places[inputs.size() + 2 * outputs.size() + i] = next++;
  return places;
}

LogicalResult CustomCallBackwardOp::differentiate(Gradients &gradients) {
  return emitError() << "the backward function of '" << getCallee() << "' has no derivative";
}

LogicalResult CustomCallBackwardOp::evaluate(ArrayRef<ReferenceArray> operands,
                                             SmallVectorImpl<ReferenceArray> &results) {
  return evaluateCall(*this, operands, results);
}
