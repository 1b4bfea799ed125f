// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A shared library of custom operators (custom_op.h), loaded and checked.
#ifndef ACCC_CUSTOM_LIBRARY_H
#define ACCC_CUSTOM_LIBRARY_H

#include "accc/custom_op.h"
#include "accc/error.h"

#include <span>
#include <string>
#include <string_view>

namespace accc {

/// Cheap to copy. A library stays loaded until the process ends, since what it has set up (threads,
/// a GPU's code) need not survive its unloading.
class CustomLibrary {
public:
  /// Loads the library at `path`, or, where that is a bare file name, the one that the loader finds
  /// (RPATH, LD_LIBRARY_PATH, ldconfig, or loaded already). Throws Error: usage where there is no
  /// such file; data where it cannot be loaded, exports no operators, was built for another version
  /// of custom_op.h, or describes an operator wrongly.
  static CustomLibrary load(const std::string &path);

  /// As it was given to load().
  const std::string &path() const { return path_; }
  std::span<const accc_custom_operator> operators() const { return operators_; }
  /// nullptr if there is none of that name.
  const accc_custom_operator *find(std::string_view name) const;

private:
  std::string path_;
  std::span<const accc_custom_operator> operators_;
};

} // namespace accc

#endif // ACCC_CUSTOM_LIBRARY_H
