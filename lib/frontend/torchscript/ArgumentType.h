// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an argument of forward holds, as its annotation says: a tensor, or lists, tuples, dicts and
// NamedTuples of tensors, each of which is an input of its own.
#ifndef ACCC_FRONTEND_TORCHSCRIPT_ARGUMENTTYPE_H
#define ACCC_FRONTEND_TORCHSCRIPT_ARGUMENTTYPE_H

#include "frontend/torchscript/Code.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace accc::torchscript {

struct ArgumentType {
  enum class Kind { Tensor, Optional, Tuple, List, Dict, Other };
  Kind kind = Kind::Other;
  /// The elements of a tuple by their positions, those of a NamedTuple by their names; the one type
  /// of the elements of a list, of the values of a dict, and of an optional value.
  std::vector<std::pair<std::string, ArgumentType>> parts = {};
  /// Of a NamedTuple.
  const Class *type = nullptr;
  /// The keys of a dict are integers instead of strings.
  bool hasIntegerKeys = false;

  const ArgumentType &part() const { return parts.front().second; }
};

/// The type that an annotation names; without one a tensor. Throws ImportError where NamedTuples
/// hold each other without end.
ArgumentType argumentType(Code &code, const Expression *annotation);

/// Whether all that the argument holds in the end are tensors.
bool holdsTensors(const ArgumentType &type);

/// What an element is called in the name of an input: its key in lower case, with underscores for
/// what is neither letter nor digit, as torch.export writes it.
std::string keyInName(llvm::StringRef key);

/// The names that were given with --input, in their order.
using GivenNames = llvm::ArrayRef<std::string>;

/// Whether one of the tensors of an argument called `name` is among those given.
bool isGiven(const ArgumentType &type, const std::string &name, GivenNames given);
/// The keys of the dict `name` whose values are given, in the order of the names: of several that
/// one name could mean ("d_a_0" of a dict of lists), the shortest.
std::vector<std::string> givenKeys(const ArgumentType &type, const std::string &name,
                                   GivenNames given);
/// How many elements of the list `name` are given, from the first on.
size_t givenLength(const ArgumentType &type, const std::string &name, GivenNames given);

} // namespace accc::torchscript

#endif
