// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/onnx/Reader.h"
#include "frontend/common/ImportError.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>

#include <limits>

using namespace accc::onnx_import;
using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedInputStream;

namespace {
constexpr int kRecursionLimit = 100;
constexpr uint64_t kByteLimit = std::numeric_limits<int32_t>::max();
/// The messages that a leaf of a graph may add to those that the graphs nest in.
constexpr size_t kLeafDepth = 4;

/// The messages through which graphs nest.
enum class Nesting { None, Model, Function, Graph, Node, Attribute };

Nesting nestingOf(Nesting outer, int field) {
  switch (outer) {
  case Nesting::Model:
    return field == onnx::ModelProto::kGraphFieldNumber       ? Nesting::Graph
           : field == onnx::ModelProto::kFunctionsFieldNumber ? Nesting::Function
                                                              : Nesting::None;
  case Nesting::Function:
    return field == onnx::FunctionProto::kNodeFieldNumber ? Nesting::Node : Nesting::None;
  case Nesting::Graph:
    return field == onnx::GraphProto::kNodeFieldNumber ? Nesting::Node : Nesting::None;
  case Nesting::Node:
    return field == onnx::NodeProto::kAttributeFieldNumber ? Nesting::Attribute : Nesting::None;
  case Nesting::Attribute:
    return field == onnx::AttributeProto::kGFieldNumber ||
                   field == onnx::AttributeProto::kGraphsFieldNumber
               ? Nesting::Graph
               : Nesting::None;
  case Nesting::None:
    break;
  }
  return Nesting::None;
}

/// Whether that is why protobuf refuses the bytes, which it does not tell. Reads what comes before
/// the first graph that lies too deep, without recursion.
bool nestsTooDeeply(llvm::StringRef bytes) {
  CodedInputStream coded(reinterpret_cast<const uint8_t *>(bytes.data()),
                         static_cast<int>(bytes.size()));
  llvm::SmallVector<std::pair<Nesting, CodedInputStream::Limit>> open = {{Nesting::Model, 0}};
  while (open.size() + kLeafDepth <= kRecursionLimit) {
    uint32_t tag = coded.ReadTag();
    if (!tag) { // the end of a message, or no tag at all
      if (!coded.ConsumedEntireMessage() || open.size() == 1)
        return false;
      coded.PopLimit(open.pop_back_val().second);
      continue;
    }
    Nesting inner = nestingOf(open.back().first, WireFormatLite::GetTagFieldNumber(tag));
    uint32_t size = 0;
    if (inner == Nesting::None ||
        WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(&coded, tag))
        return false;
    } else if (!coded.ReadVarint32(&size) || size > kByteLimit) {
      return false;
    } else {
      open.push_back({inner, coded.PushLimit(static_cast<int>(size))});
    }
  }
  return true;
}

/// What a file is that is no ONNX model, by its first bytes.
std::string formatOf(llvm::StringRef bytes) {
  if (bytes.starts_with("\x7f"
                        "ELF"))
    return "it is a shared library; one that accc has compiled is run and shown by `accc run`, "
           "`accc bench` and `accc inspect`";
  if (bytes.starts_with("\x80")) // a pickle
    return "it looks like what torch.save wrote before PyTorch 1.6, which is weights; export the "
           "module itself";
  // The length of the header, and the header.
  if (bytes.size() > 8 && bytes[8] == '{' &&
      llvm::support::endian::read64le(bytes.data()) < bytes.size())
    return "it is a safetensors file, which holds tensors and no graph";
  return "the file is truncated, damaged or of another format";
}
} // namespace

std::shared_ptr<onnx::ModelProto> accc::onnx_import::parseModel(llvm::StringRef bytes) {
  if (bytes.size() > kByteLimit)
    fail("the model file is larger than 2 GiB, which protobuf cannot hold; save its weights as "
         "external data");
  if (bytes.starts_with("PK\x03\x04")) // a ZIP file
    fail("not an ONNX model: it looks like an archive of PyTorch's (TorchScript, torch.export, "
         "torch.save); export the module to ONNX with torch.onnx.export");
  google::protobuf::io::ArrayInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
  CodedInputStream coded(&stream);
  coded.SetTotalBytesLimit(static_cast<int>(kByteLimit));
  coded.SetRecursionLimit(kRecursionLimit);
  auto model = std::make_shared<onnx::ModelProto>();
  if (!model->ParseFromCodedStream(&coded) || !coded.ConsumedEntireMessage()) {
    if (nestsTooDeeply(bytes))
      fail("the model's subgraphs nest too deeply: an ONNX file holds about 30 levels of If, Loop "
           "and Scan");
    fail("not an ONNX model: " + formatOf(bytes));
  }
  return model;
}

std::shared_ptr<onnx::ModelProto> accc::onnx_import::readModel(llvm::StringRef path) {
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
