// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TorchScript modules, imported: those of test/training, and others whose code is given as text.
#ifndef ACCC_TEST_UNIT_FRONTEND_TORCHSCRIPTTEXT_H
#define ACCC_TEST_UNIT_FRONTEND_TORCHSCRIPTTEXT_H

#include "ModelText.h"

namespace accc::test {

/// The bytes of test/training/FILE.pt.
std::string scriptedModule(const std::string &file);

Imported importScripted(const std::string &bytes, const ImportOptions &options = {});

ImportOptions typed(std::map<std::string, InputType> types,
                    std::map<std::string, int64_t> dimensions = {});

/// An input x of four rows of six.
ImportOptions typedX();

/// What a module gives whose forward is `body`, in the place of that of
/// test/training/scripted/refused/loop.
std::string withBody(const std::string &body);

/// The problems of a forward of x (`typedX`), whose code is `body`.
std::string problemsOf(const std::string &body);

} // namespace accc::test

#endif
