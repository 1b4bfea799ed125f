// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/common/CustomCall.h"

using namespace mlir;
using namespace accc;
using namespace accc::frontend;

Entities accc::frontend::customCall(const NodeBuilder &node, const prim::CustomOperator &op,
                                    ArrayRef<Value> inputs, ArrayRef<NamedAttribute> config) {
  NamedAttrList given;
  for (NamedAttribute attribute : config) {
    if (attribute.getName().empty() || given.get(attribute.getName()))
      fail("the attribute '" + attribute.getName().getValue() +
           "' has no name, or stands there twice");
    given.append(attribute);
  }
  DictionaryAttr attributes = given.getDictionary(&node.context());
  FailureOr<SmallVector<Type>> types =
      prim::inferCustomResults(node.loc(), op, ValueRange(inputs).getTypes(), attributes);
  if (failed(types))
    fail("is not valid here"); // the diagnostic says why
  auto call = node.builder().create<prim::CustomCallOp>(node.loc(), *types, op.functions->name,
                                                        op.library, attributes, inputs);
  Entities results;
  for (Value result : call.getOutputs())
    results.push_back(Entity(result));
  return results;
}
