// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file of initial values that `accc compile` writes beside a library, LIB.so.safetensors.
#ifndef ACCC_WEIGHTS_FILE_H
#define ACCC_WEIGHTS_FILE_H

namespace accc {

/// The key in its metadata of the hashes of the model's files that the values are from: those of
/// the library's manifest ("model_xxh128"), in the order of the files' names, with commas between
/// them. A library takes no values of another model. A file of somebody else's has no such key.
inline constexpr const char *weights_model_key = "accc.model_xxh128";

} // namespace accc

#endif // ACCC_WEIGHTS_FILE_H
