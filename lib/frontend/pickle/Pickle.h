// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pickles, the part of them that PyTorch's archives use. Nothing of a file is ever run.
#ifndef ACCC_FRONTEND_PICKLE_PICKLE_H
#define ACCC_FRONTEND_PICKLE_PICKLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace accc::pickle {

/// A value of a pickle. What it refers to belongs to the document; several values may refer to one.
struct Value {
  enum class Kind {
    None,
    Boolean,
    Integer,
    Real,
    String,
    List,
    Tuple,
    /// `elements` are keys and values in turn. Keys are numbers or strings.
    Dict,
    /// A class or a function, `module` and `text`.
    Global,
    /// An object of the class `type`; its state is `elements[0]`, if it has one.
    Object,
    /// What the function `type` makes of the arguments `elements`; a member of the enumeration
    /// `type`, by its value.
    Call,
    /// What the archive keeps beside the pickle, under the name of `elements[0]`.
    Persistent,
  };

  Kind kind = Kind::None;
  bool boolean = false;
  int64_t integer = 0;
  double real = 0;
  std::string text, module;
  const Value *type = nullptr;
  std::vector<const Value *> elements;

  bool is(Kind other) const { return kind == other; }
  /// Whether it is the class or function "torch._utils._rebuild_tensor_v2".
  bool isGlobal(llvm::StringRef name) const;
  /// The full name of a class or function.
  std::string name() const { return module + "." + text; }

  // Each throws ImportError where the value is of another kind; `what` names it.
  int64_t asInteger(const char *what) const;
  bool asBoolean(const char *what) const;
  const std::string &asString(const char *what) const;
  /// Of a tuple or list.
  llvm::ArrayRef<const Value *> asSequence(const char *what) const;
};

/// A pickle that was read. Values do not refer to themselves and nest in bounds, but one may be
/// reached in very many ways: whoever walks a document keeps what it made of a value.
class Document {
public:
  /// Reads protocol 2, with the instructions that libtorch reads and writes and no others. Classes
  /// and functions are those that PyTorch writes for tensors and containers, and those of
  /// TorchScript modules. Throws ImportError, which names `record`, for anything else.
  Document(llvm::ArrayRef<char> bytes, llvm::StringRef record);
  Document(const Document &) = delete;
  Document &operator=(const Document &) = delete;

  const Value &root() const { return *top; }

private:
  friend class Reader;
  std::deque<Value> values;
  const Value *top = nullptr;
};

} // namespace accc::pickle

#endif
