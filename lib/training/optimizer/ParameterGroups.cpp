// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "training/optimizer/ParameterGroups.h"

#include "llvm/ADT/StringExtras.h"

using namespace accc;
using llvm::StringRef;

static llvm::Error usageError(const std::string &message) {
  return llvm::createStringError(std::errc::invalid_argument, message.c_str());
}

/// The spec `base` with the options of `changes` in place of its own, and without those that only
/// all parameters together have.
static std::string change(StringRef base, StringRef changes) {
  llvm::SmallVector<StringRef> parts, news;
  base.split(parts, ',');
  changes.split(news, ',');
  auto key = [](StringRef part) { return part.split('=').first; };
  llvm::erase_if(parts, [&](StringRef part) {
    return key(part) == kClipGradNorm || key(part) == kClipGradValue ||
           llvm::any_of(news, [&](StringRef other) { return key(other) == key(part); });
  });
  llvm::append_range(parts, news);
  return llvm::join(parts, ",");
}

static llvm::Expected<ParameterGroups::Group>
parseGroup(StringRef optimizer, const Optimizer &common, const GroupOption &option) {
  const auto &[names, options] = option;
  llvm::Expected<NamePattern> parameters = NamePattern::parse("--param-group", names);
  if (!parameters)
    return parameters.takeError();
  const std::string &what = parameters->getText();
  if (options.empty())
    return usageError(what + ": it needs options, as in weight_decay=0, or an optimizer");
  bool isWhole = isOptimizer(StringRef(options).split(',').first);
  llvm::Expected<std::unique_ptr<Optimizer>> own =
      parseOptimizer(isWhole ? options : change(optimizer, options), what);
  if (!own)
    return own.takeError();
  if ((*own)->clipGradNorm)
    return usageError(what + " " + options + ": " + kClipGradNorm.str() +
                      " scales all gradients together; give it to --optimizer");
  if ((*own)->clipGradValue)
    return usageError(what + " " + options + ": " + kClipGradValue.str() +
                      " clips the gradients of all; give it to --optimizer");
  if ((*own)->learningRate != common.learningRate && common.learningRate == 0.0)
    return usageError(
        what + " " + options +
        ": its learning rate is kept in proportion to that of --optimizer, which is 0");
  if (common.learningRate != 0.0)
    (*own)->rateScale = (*own)->learningRate / common.learningRate;
  return ParameterGroups::Group{std::move(*parameters), std::move(*own)};
}

llvm::Expected<ParameterGroups> ParameterGroups::parse(StringRef optimizer,
                                                       llvm::ArrayRef<GroupOption> groups) {
  ParameterGroups result;
  llvm::Expected<std::unique_ptr<Optimizer>> common = parseOptimizer(optimizer);
  if (!common)
    return common.takeError();
  result.common = std::move(*common);
  llvm::Error errors = llvm::Error::success();
  for (const GroupOption &option : groups) {
    llvm::Expected<Group> group = parseGroup(optimizer, *result.common, option);
    if (group)
      result.groups.push_back(std::move(*group));
    else
      errors = llvm::joinErrors(std::move(errors), group.takeError());
  }
  if (errors)
    return std::move(errors);
  return result;
}

const Optimizer &ParameterGroups::choose(StringRef parameter, const OtherNames &otherNames) const {
  for (const Group &group : groups)
    if (group.parameters.matches(parameter, otherNames))
      return *group.optimizer;
  return *common;
}

void ParameterGroups::scaleRates(double factor) {
  common->rateScale *= factor;
  for (Group &group : groups)
    group.optimizer->rateScale *= factor;
}

llvm::SmallVector<const Optimizer *> ParameterGroups::all() const {
  llvm::SmallVector<const Optimizer *> found = {common.get()};
  for (const Group &group : groups)
    found.push_back(group.optimizer.get());
  return found;
}
