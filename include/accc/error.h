// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one exception type of the runtime. Its message is a complete sentence for
// the person at the keyboard: the file or tensor at fault, what was expected,
// what to do about it.
#ifndef ACCC_ERROR_H
#define ACCC_ERROR_H

#include <stdexcept>
#include <string>

namespace accc {

/// Who has to act. The values are the exit codes of the command line.
enum class ErrorKind : int {
  data = 1,    ///< the model or the data is at fault
  usage = 2,   ///< the call is wrong: names, shapes, options
  machine = 3, ///< the machine is at fault: no space, missing library, missing instructions
  bug = 4      ///< accc itself is at fault
};

class Error : public std::runtime_error {
public:
  Error(ErrorKind kind, const std::string &message);
  Error(const Error &) noexcept;
  Error &operator=(const Error &) noexcept;
  ~Error() override;

  ErrorKind kind() const noexcept { return kind_; }
  /// What a program that stops because of this error returns from main.
  int exit_code() const noexcept { return static_cast<int>(kind_); }

private:
  ErrorKind kind_;
};

} // namespace accc

#endif // ACCC_ERROR_H
