// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of a TorchScript module: the part of Python that PyTorch writes into its archives.
#ifndef ACCC_FRONTEND_TORCHSCRIPT_AST_H
#define ACCC_FRONTEND_TORCHSCRIPT_AST_H

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace accc::torchscript {

struct Expression {
  enum class Kind {
    Name, ///< `text`
    Integer,
    Real,
    Complex, ///< real + imaginary i
    String,
    Boolean, ///< `integer` is 0 or 1
    None,
    Attribute, ///< operands[0].text
    Call,      ///< operands[0](operands[1..]), the last keywords.size() of them by these names
    Subscript, ///< operands[0][operands[1..]]
    List,
    Tuple,
    Dict, ///< keys and values in turn
    Negation,
  };
  Kind kind;
  /// Where it begins in its file, in bytes.
  size_t position = 0;
  std::string text = {};
  int64_t integer = 0;
  double real = 0, imaginary = 0;
  std::vector<Expression> operands = {};
  std::vector<std::string> keywords = {};
};

struct Function;

struct Statement {
  enum class Kind {
    Assign, ///< targets = value
    Evaluate,
    Return,
    Pass,
    If,     ///< value, body, otherwise
    While,  ///< value, body
    For,    ///< targets[0] in value, body
    With,   ///< value as targets[0] (if there is one), body
    Define, ///< function
  };
  Kind kind;
  size_t position = 0;
  /// Names, attributes, or tuples of names.
  std::vector<Expression> targets = {};
  std::optional<Expression> value = std::nullopt;
  std::vector<Statement> body = {}, otherwise = {};
  /// Inside of another, whose names it sees.
  std::shared_ptr<const Function> function = nullptr;
};
using Block = std::vector<Statement>;

struct Parameter {
  std::string name;
  std::optional<Expression> type, otherwise;
};

struct File;

struct Function {
  std::string name;
  size_t position = 0;
  std::vector<Parameter> parameters;
  Block body;
  const File *file = nullptr;
};

struct Class {
  std::string name, base;
  /// The names of parameters and buffers that the class lists.
  std::vector<std::string> parameters, buffers;
  /// In the order of the code, each with its type.
  std::vector<Parameter> attributes;
  /// Attributes that are the same for all objects.
  std::map<std::string, Expression> constants;
  std::map<std::string, Function> methods;
  const File *file = nullptr;
};

/// One file of code.
struct File {
  std::string path, text;
  std::map<std::string, Class> classes;
  std::map<std::string, Function> functions;
};

/// Throws ImportError, which names the line, for what is not the Python that PyTorch writes.
std::unique_ptr<const File> parseFile(const std::string &path, std::string text);

} // namespace accc::torchscript

#endif
