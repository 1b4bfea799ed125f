// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/torchscript/Builtins.h"
#include "frontend/common/ImportError.h"
#include "frontend/common/TorchTypes.h"
#include "frontend/torchscript/Arithmetic.h"

#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace accc;
using namespace accc::torchscript;
using frontend::fail;
using llvm::Twine;
using Values = llvm::ArrayRef<IValue>;

namespace {

// ---- tensors, of which only the type is asked ----

RankedTensorType typeOf(const IValue &value) {
  if (!value.tensor())
    fail("expected a tensor, not " + kindOf(value));
  return cast<RankedTensorType>(value.tensor()->type());
}

IValue size(Heap &heap, Values values) {
  RankedTensorType type = typeOf(values[0]);
  if (values.size() == 1)
    return heap.integers(type.getShape());
  int64_t dim = integer(values[1]), rank = type.getRank();
  if (dim < -rank || dim >= rank)
    fail("asks for the size of dimension " + Twine(dim) + " of a tensor of " + Twine(rank));
  return type.getDimSize(static_cast<unsigned>(dim < 0 ? dim + rank : dim));
}

IValue len(Heap &, Values values) {
  RankedTensorType type = typeOf(values[0]);
  if (type.getRank() == 0)
    fail("a tensor without dimensions has no length");
  return type.getDimSize(0);
}

// ---- tensors, of which only the layout is asked ----

const aten::Layout &layoutOf(const IValue &value) {
  typeOf(value);
  const aten::Layout &layout = value.tensor()->layout();
  if (!layout.isKnown())
    fail("asks for strides, but those of what '" + layout.origin() + "' gives are not known");
  return layout;
}

IValue stride(Heap &heap, Values values) {
  llvm::ArrayRef<int64_t> strides = layoutOf(values[0]).strides();
  if (values.size() == 1)
    return heap.integers(strides);
  int64_t dim = integer(values[1]), rank = static_cast<int64_t>(strides.size());
  if (dim < -rank || dim >= rank)
    fail("asks for the stride of dimension " + Twine(dim) + " of a tensor of " + Twine(rank));
  return strides[static_cast<size_t>(dim < 0 ? dim + rank : dim)];
}

IValue isContiguous(Heap &, Values values) {
  return layoutOf(values[0]).isIn(aten::MemoryFormat::Contiguous);
}
IValue storageOffset(Heap &, Values values) { return layoutOf(values[0]).offset(); }

// ---- comparisons ----

IValue equal(Heap &, Values values) {
  if (std::optional<bool> known = isEqual(values[0], values[1]))
    return *known;
  fail("compares lists of tensors");
}
IValue notEqual(Heap &heap, Values values) { return !*equal(heap, values).get<bool>(); }
IValue is(Heap &, Values values) { return isSame(values[0], values[1]); }
IValue isNot(Heap &, Values values) { return !isSame(values[0], values[1]); }

IValue logicalNot(Heap &, Values values) { return !truth(values[0]); }

// ---- numbers ----

IValue toInteger(Heap &, Values values) {
  if (auto *real = values[0].get<double>()) {
    if (!(std::abs(*real) < 0x1p62))
      fail("makes an integer of " + Twine(std::to_string(*real)));
    return static_cast<int64_t>(*real);
  }
  if (auto *boolean = values[0].get<bool>())
    return static_cast<int64_t>(*boolean);
  if (auto *text = values[0].get<std::string>()) {
    int64_t number;
    if (!llvm::StringRef(*text).getAsInteger(10, number))
      return number;
  }
  return integer(values[0]);
}

IValue toReal(Heap &heap, Values values) {
  if (auto *real = values[0].get<double>())
    return *real;
  if (auto *text = values[0].get<std::string>()) { // float("inf")
    double real;
    if (!llvm::StringRef(*text).getAsDouble(real))
      return real;
  }
  return static_cast<double>(*toInteger(heap, values).get<int64_t>());
}

IValue toBoolean(Heap &, Values values) { return truth(values[0]); }

IValue range(Heap &heap, Values values) {
  int64_t begin = values.size() > 1 ? integer(values[0]) : 0;
  int64_t end = integer(values[values.size() > 1 ? 1 : 0]);
  int64_t step = values.size() > 2 ? integer(values[2]) : 1, count = 0;
  if (step == 0)
    fail("a range has steps of 0");
  // In double precision, so that nothing overflows.
  double steps = std::ceil((static_cast<double>(end) - static_cast<double>(begin)) /
                           static_cast<double>(step));
  if (steps > 0x1p20)
    fail("a range has " + Twine(std::to_string(steps)) + " elements");
  count = std::max<int64_t>(static_cast<int64_t>(steps), 0);
  std::vector<IValue> elements;
  for (int64_t i = 0; i < count; ++i)
    elements.push_back(begin + i * step);
  return heap.list(std::move(elements));
}

/// What a loop in a list comprehension counts to, and its indices.
IValue rangeLength(Heap &heap, Values values) {
  return static_cast<int64_t>(range(heap, values).elements()->size());
}
IValue deriveIndex(Heap &, Values values) {
  return *evaluateArithmetic("add",
                             {values[1], *evaluateArithmetic("mul", {values[0], values[2]})});
}

IValue divmod(Heap &heap, Values values) {
  if (!isNumber(values[0]) || !isNumber(values[1]))
    fail("divides " + kindOf(values[0]) + " by " + kindOf(values[1]));
  return heap.tuple(
      {*evaluateArithmetic("floordiv", values), *evaluateArithmetic("remainder", values)});
}

IValue toString(Heap &, Values values) { return toText(values[0]); }

IValue emptyDict(Heap &heap, Values) { return heap.dict(); }

IValue nothing(Heap &, Values) { return IValue(); }
IValue first(Heap &, Values values) { return values[0]; }
IValue layoutPlace(Heap &, Values) { return Place(); }
/// Of a tensor: PyTorch's programs are followed as they run on a CPU.
IValue deviceOf(Heap &, Values) { return Place{"cpu"}; }
/// "cuda:0", or "cuda" and 0; or what a mask selects of a tensor.
IValue device(Heap &heap, Values values) {
  if (values[0].is<aten::Selection>())
    return deviceOf(heap, values);
  auto *name = values[0].get<std::string>();
  if (!name)
    fail("makes a device of " + kindOf(values[0]));
  return Place{values.size() > 1 ? *name + ":" + std::to_string(integer(values[1])) : *name};
}
IValue deviceType(Heap &, Values values) {
  auto *place = values[0].get<Place>();
  if (!place)
    fail("asks for the type of " + kindOf(values[0]) + " as if it were a device");
  return llvm::StringRef(place->device).split(':').first.str();
}
template <bool value> IValue constant(Heap &, Values) { return value; }

const llvm::StringMap<Builtin> &ofTensors() {
  static const llvm::StringMap<Builtin> all = {
      {"size", {size, 1, 2}},
      {"shape", {size, 1, 1}},
      {"len", {len, 1, 1}},
      {"stride", {stride, 1, 2}},
      {"is_contiguous", {isContiguous, 1, 1}},
      {"storage_offset", {storageOffset, 1, 1}},
      {"dim", {[](Heap &, Values v) -> IValue { return typeOf(v[0]).getRank(); }, 1, 1}},
      {"ndimension", {[](Heap &, Values v) -> IValue { return typeOf(v[0]).getRank(); }, 1, 1}},
      {"numel", {[](Heap &, Values v) -> IValue { return typeOf(v[0]).getNumElements(); }, 1, 1}},
      {"dtype",
       {[](Heap &, Values v) -> IValue { return frontend::codeOf(typeOf(v[0]).getElementType()); },
        1, 1}},
      {"is_floating_point",
       {[](Heap &, Values v) -> IValue { return isa<FloatType>(typeOf(v[0]).getElementType()); }, 1,
        1}},
      {"device", {deviceOf, 1, 1}},
      {"layout", {layoutPlace, 1, 1}},
      {"is_complex",
       {[](Heap &, Values v) -> IValue { return frontend::isComplex(typeOf(v[0])); }, 1, 1}},
      {"is_cuda", {constant<false>, 1, 1}},
      {"is_cpu", {constant<true>, 1, 1}},
      {"cpu", {first, 1, 1}},
      {"is_nested", {constant<false>, 1, 1}},
      {"is_sparse", {constant<false>, 1, 1}},
      {"is_quantized", {constant<false>, 1, 1}},
      {"is_mkldnn", {constant<false>, 1, 1}},
      {"is_meta", {constant<false>, 1, 1}},
      {"unchecked_unwrap_optional", {first, 1, 1}},
      {"_unwrap_optional", {first, 1, 1}},
  };
  return all;
}

/// Of any values.
const llvm::StringMap<Builtin> &others() {
  static const llvm::StringMap<Builtin> all = {
      {"__is__", {is, 2, 2}},
      {"__isnot__", {isNot, 2, 2}},
      {"__not__", {logicalNot, 1, 1}},
      {"str", {toString, 1, 1}},
      {"range", {range, 1, 3}},
      {"__range_length", {rangeLength, 3, 3}},
      {"__derive_index", {deriveIndex, 3, 3}},
      {"divmod", {divmod, 2, 2}},
      {"dict", {emptyDict, 0, 0}},
      {"int", {toInteger, 1, 1}},
      {"float", {toReal, 1, 1}},
      {"bool", {toBoolean, 1, 1}},
      {"warn", {nothing, 0, 100}},
      {"print", {nothing, 0, 100}},
      {"Print", {nothing, 0, 100}},
      {"device", {device, 1, 2}},
      {"type", {deviceType, 1, 1}},
      {"wait", {first, 1, 1}},
      {"unchecked_unwrap_optional", {first, 1, 1}},
      {"_unwrap_optional", {first, 1, 1}},
      {"is_autocast_enabled", {constant<false>, 0, 0}},
      {"is_autocast_cpu_enabled", {constant<false>, 0, 0}},
      {"is_scripting", {constant<true>, 0, 0}},
      {"is_tracing", {constant<false>, 0, 0}},
  };
  return all;
}

} // namespace

std::optional<IValue> accc::torchscript::evaluateBuiltin(Heap &heap, llvm::StringRef name,
                                                         Values values) {
  auto lookUp = [&](const llvm::StringMap<Builtin> &table) -> const Builtin * {
    auto found = table.find(name);
    bool fits = found != table.end() && values.size() >= found->second.least &&
                values.size() <= found->second.most;
    return fits ? &found->second : nullptr;
  };
  bool hasTensor = llvm::any_of(
      values, [](const IValue &value) { return value.tensor() || value.is<aten::Selection>(); });
  const Builtin *builtin = nullptr;
  if (!values.empty() && values[0].tensor())
    builtin = lookUp(ofTensors());
  if (!values.empty() && (values[0].elements() || values[0].dict()))
    builtin = lookUp(ofContainers());
  if (!values.empty() && values[0].is<std::string>())
    builtin = lookUp(ofTexts());
  if (!builtin)
    builtin = lookUp(others());
  if (builtin)
    return builtin->function(heap, values);
  if (hasTensor || values.empty())
    return std::nullopt;
  if (values.size() == 2 && (name == "eq" || name == "ne"))
    return name == "eq" ? equal(heap, values) : notEqual(heap, values);
  if (name == "mul" && values.size() == 2 && values[1].list()) // n * list
    return evaluateBuiltin(heap, name, {values[1], values[0]});
  if (llvm::all_of(values, isNumber))
    return evaluateArithmetic(name, values);
  if (std::optional<IValue> result = evaluateReduction(name, values))
    return result;
  return std::nullopt;
}
