// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX's protobuf messages. Only the files of this folder include it.
#ifndef ACCC_FRONTEND_ONNX_PROTO_H
#define ACCC_FRONTEND_ONNX_PROTO_H

#ifndef ONNX_NAMESPACE
#define ONNX_NAMESPACE onnx
#endif
#ifndef ONNX_ML
#define ONNX_ML 1
#endif
#include <onnx/onnx_pb.h>

namespace accc::frontend {}
namespace accc::onnx_import {
using namespace frontend; // what every importer builds with
}

#endif
