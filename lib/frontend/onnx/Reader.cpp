// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/Reader.h"
#include "frontend/onnx/Error.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

#include <limits>

using namespace accc::onnx_import;

namespace {
constexpr int kRecursionLimit = 100;
constexpr uint64_t kByteLimit = std::numeric_limits<int32_t>::max();
} // namespace

std::shared_ptr<const onnx::ModelProto> accc::onnx_import::parseModel(llvm::StringRef bytes) {
  if (bytes.size() > kByteLimit)
    fail("the model file is larger than 2 GiB, which protobuf cannot hold; save its weights as "
         "external data");
  if (bytes.starts_with("PK\x03\x04")) // a ZIP file
    fail("not an ONNX model: it looks like an archive of PyTorch's (TorchScript, torch.export, "
         "torch.save); export the module to ONNX with torch.onnx.export");
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  google::protobuf::io::CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(static_cast<int>(kByteLimit));
  coded.SetRecursionLimit(kRecursionLimit);
  auto model = std::make_shared<onnx::ModelProto>();
  if (!model->ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage())
    fail("not an ONNX model: the file is truncated, damaged or of another format");
  return model;
}

std::shared_ptr<const onnx::ModelProto> accc::onnx_import::readModel(llvm::StringRef path) {
  llvm::sys::fs::file_status status;
  if (std::error_code error = llvm::sys::fs::status(path, status))
    fail("cannot read '" + path + "': " + error.message());
  if (status.type() != llvm::sys::fs::file_type::regular_file)
    fail("cannot read '" + path + "': it is not a regular file");
  if (status.getSize() > kByteLimit)
    fail("the model file is larger than 2 GiB, which protobuf cannot hold; save its weights as "
         "external data");
  auto buffer =
      llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer)
    fail("cannot read '" + path + "': " + buffer.getError().message());
  return parseModel((*buffer)->getBuffer());
}
