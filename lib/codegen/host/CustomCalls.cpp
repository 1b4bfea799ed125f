// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Calls of the user's functions as the runtime sees them.
#include "accc/custom_op.h"
#include "codegen/host/Host.h"

using namespace mlir;
using namespace accc;
using namespace accc::codegen;

static llvm::Constant *describeTensors(ArrayAttr types, ConstantWriter &w) {
  SmallVector<llvm::Constant *> tensors;
  for (Type type : types.getAsValueRange<TypeAttr>())
    tensors.push_back(w.tensor("", cast<RankedTensorType>(type)));
  return w.array(tensors, "operands");
}

/// An accc_attribute.
static llvm::Constant *describeAttribute(NamedAttribute attribute, ConstantWriter &w) {
  llvm::Constant *integers = w.null(), *reals = w.null(), *strings = w.null();
  int32_t kind = 0;
  size_t count = 0;
  auto setIntegers = [&](ArrayRef<int64_t> values) {
    kind = ACCC_INTEGERS;
    count = values.size();
    integers = values.empty() ? w.null() : w.structs(values, "integers");
  };
  auto setReals = [&](ArrayRef<double> values) {
    kind = ACCC_REALS;
    count = values.size();
    reals = values.empty() ? w.null() : w.structs(values, "reals");
  };
  auto setStrings = [&](ArrayRef<Attribute> values) {
    SmallVector<llvm::Constant *> texts;
    for (Attribute each : values)
      texts.push_back(w.string(cast<StringAttr>(each).getValue()));
    kind = ACCC_STRINGS;
    count = values.size();
    strings = w.array(texts, "strings");
  };
  Attribute value = attribute.getValue();
  if (auto integer = dyn_cast<IntegerAttr>(value))
    setIntegers(integer.getInt());
  else if (auto real = dyn_cast<FloatAttr>(value))
    setReals(real.getValueAsDouble());
  else if (auto list = dyn_cast<DenseI64ArrayAttr>(value))
    setIntegers(list.asArrayRef());
  else if (auto list = dyn_cast<DenseF64ArrayAttr>(value))
    setReals(list.asArrayRef());
  else if (auto list = dyn_cast<ArrayAttr>(value))
    setStrings(list.getValue());
  else
    setStrings(value);
  return w.structure({w.string(attribute.getName()), w.i32(kind),
                      w.i32(static_cast<int64_t>(count)), integers, reals, strings});
}

llvm::Constant *codegen::describeCustomCall(exec::CustomCallOp call, ConstantWriter &w) {
  SmallVector<llvm::Constant *> attributes, buffers;
  for (NamedAttribute attribute : call.getConfig())
    attributes.push_back(describeAttribute(attribute, w));
  for (int32_t place : call.getPlaces())
    buffers.push_back(w.i32(place));
  auto count = [&](const auto &list) { return w.i32(static_cast<int64_t>(list.size())); };
  return w.structure(
      {w.string(call.getCallee()), w.string(call.getLibrary()), w.i32(call.getBackward()),
       count(call.getInputTypes()), count(call.getOutputTypes()), count(attributes),
       describeTensors(call.getInputTypes(), w), describeTensors(call.getOutputTypes(), w),
       w.array(attributes, "attributes"), w.array(buffers, "numbers")});
}
