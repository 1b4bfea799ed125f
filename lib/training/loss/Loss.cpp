// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/loss/Loss.h"

#include "support/Suggest.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace accc;

static llvm::Error usageError(const std::string &message) {
  return llvm::createStringError(std::errc::invalid_argument, message.c_str());
}

std::vector<std::string> accc::lossNames() {
  return {
#define ACCC_LOSS(name, Name) #name,
#include "training/loss/Losses.def"
  };
}

bool accc::isLoss(llvm::StringRef name) { return llvm::is_contained(lossNames(), name); }

llvm::Expected<LossChoice> accc::parseLoss(llvm::StringRef text) {
  LossChoice choice;
  if (llvm::StringRef name = text; name.consume_front("output:")) {
    if (name.empty())
      return usageError("--loss output: needs the name of an output, as in output:loss");
    choice.output = name.str();
    return choice;
  }

  Spec spec("--loss", text);
#define ACCC_LOSS(name, Name)                                                                      \
  if (spec.getName() == #name)                                                                     \
    choice.loss = create##Name##Loss(spec);
#include "training/loss/Losses.def"
  if (!choice.loss)
    return usageError("--loss " + text.str() + ": there is no loss '" + spec.getName().str() +
                      "'; there are " + llvm::join(lossNames(), ", ") +
                      ", and output:NAME for a loss that the model computes" +
                      didYouMean(spec.getName(), lossNames()));
  if (std::string error = spec.error(); !error.empty())
    return usageError(error);
  choice.output = spec.getValue().value_or("");
  if (spec.getValue() && choice.output.empty())
    return usageError("--loss " + text.str() + ": needs the name of an output after '=', as in " +
                      spec.getName().str() + "=logits");
  choice.settings = spec.getSettings();
  choice.files = spec.getFiles();
  return choice;
}

std::string accc::unknownOutput(llvm::StringRef name, const std::vector<std::string> &known) {
  return "--loss names the output '" + name.str() + "', and the model has '" +
         llvm::join(known, "', '") + "'" + didYouMean(name, known);
}

Value accc::constantOf(prim::Tensor output, ArrayRef<double> numbers) {
  if (numbers.empty())
    return {};
  auto type = RankedTensorType::get({static_cast<int64_t>(numbers.size())}, output.elementType());
  SmallVector<Attribute> values;
  for (double number : numbers)
    values.push_back(FloatAttr::get(output.elementType(), number));
  return output.getBuilder().create<prim::ConstantOp>(output.getLoc(),
                                                      DenseElementsAttr::get(type, values));
}
