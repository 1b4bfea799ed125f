// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver/Outputs.h"

#include "accc/checksum.h"
#include "accc/links.h"
#include "accc/safetensors.h"
#include "accc/weights_file.h"
#include "codegen/Generate.h"
#include "codegen/host/Host.h"
#include "driver/Files.h"
#include "driver/Header.h"
#include "driver/InputHashes.h"
#include "driver/Manifest.h"
#include "driver/Report.h"
#include "ir/prim/ElementTypes.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace accc;

/// What libraries hold themselves where the user says nothing.
static constexpr uint64_t kEmbedLimit = 16 << 20;

static bool embedsWeights(const Compilation &c) {
  if (!c.options.weights.empty())
    return c.options.weights == "embed";
  uint64_t bytes = 0;
  for (const auto &[name, weight] : c.weights)
    bytes += weight.bytes.size();
  return bytes <= kEmbedLimit;
}

/// Beside the file that a link to the library ends in, where a session looks for them.
static std::string weightsBeside(const std::string &library) {
  try {
    return follow_links(library) + ".safetensors";
  } catch (const std::exception &) { // a circle, which is said where the library is written
    return library + ".safetensors";
  }
}

static LogicalResult machineFault(Compilation &c, const std::string &message) {
  c.problems.add({.message = message, .fault = Fault::Machine});
  return failure();
}

/// Says of a file of initial values which compiler wrote it: only such a file is written over.
static constexpr const char *kWrittenBy = "accc.compiled_weights";

/// Whether a file with this name may be written over by initial values: it could be a checkpoint.
static bool mayBeReplaced(const std::string &path) {
  if (!llvm::sys::fs::exists(path))
    return true;
  try {
    return SafetensorsReader(path).metadata().contains(kWrittenBy);
  } catch (const std::exception &) {
    return false;
  }
}

/// The hashes of a model's files in one text, as a runtime makes it of the manifest.
static std::string hashOf(const InputHashes &files) {
  std::string text;
  for (const auto &[name, hash] : files)
    text += (text.empty() ? "" : ",") + hash;
  return text;
}

/// The initial values as safetensors, under the exporter's names.
static LogicalResult writeWeights(Compilation &c, const std::string &path) {
  if (!mayBeReplaced(path)) {
    c.problems.add({.message = path +
                               " is there and was not written by accc compile: the library's "
                               "initial values would go there; move it away, or use "
                               "--weights embed or none",
                    .fault = Fault::Usage});
    return failure();
  }
  NamedTensors tensors;
  for (const auto &[name, weight] : c.weights) {
    auto type = static_cast<DType>(dtypeOf(weight.type.getElementType()));
    Shape shape(weight.type.getShape().begin(), weight.type.getShape().end());
    tensors.emplace_back(name,
                         Tensor::borrow(type, shape, const_cast<char *>(weight.bytes.data())));
  }
  // Not by save_safetensors, which has temporary files of its own, of which nobody would know here.
  const Metadata metadata{{"format", "pt"},
                          {kWrittenBy, kCompilerVersion},
                          {weights_model_key, hashOf(c.inputHashes.get())}};
  auto print = [&](llvm::raw_ostream &os) {
    write_safetensors(path, tensors, metadata, [&](const void *data, size_t bytes) {
      os.write(static_cast<const char *>(data), bytes);
    });
  };
  try {
    if (llvm::Error error = c.outputs.addText(path, print))
      return machineFault(c, llvm::toString(std::move(error)));
  } catch (const std::exception &error) { // Error has its type information in code with RTTI
    return machineFault(c, error.what());
  }
  return success();
}

static LogicalResult writeHeader(Compilation &c) {
  if (c.options.header.empty())
    return success();
  StringRef name = llvm::sys::path::stem(c.options.header);
  std::string text = makeHeader(programsOf(c).front().program, name);
  if (llvm::Error error =
          c.outputs.addText(c.options.header, [&](llvm::raw_ostream &os) { os << text; }))
    return machineFault(c, llvm::toString(std::move(error)));
  return success();
}

LogicalResult accc::publishOutputs(Compilation &c) {
  if (llvm::Error error = c.outputs.publish())
    return machineFault(c, llvm::toString(std::move(error)));
  return success();
}

/// The files that a compilation with these options may write, as the options name them.
static std::vector<std::pair<std::string, std::string>> outputsOf(const CompileOptions &options) {
  std::vector<std::pair<std::string, std::string>> outputs;
  for (auto [option, path] :
       {std::pair("-o", &options.output), std::pair("--header", &options.header),
        std::pair("--report", &options.report)})
    if (!path->empty())
      outputs.emplace_back(option, *path);
  if (!options.output.empty() && options.weights != "embed" && options.weights != "none")
    outputs.emplace_back("the weights of -o", weightsBeside(options.output));
  return outputs;
}

/// Whether two names are those of one file, also of one that is not there yet.
static bool isSameFile(const std::string &a, const std::string &b) {
  bool same = false;
  if (!llvm::sys::fs::equivalent(a, b, same))
    return same;
  auto place = [](const std::string &name) {
    std::string path = name;
    try {
      path = follow_links(name);
    } catch (const std::exception &) { // a circle, which is said where it is written
    }
    llvm::SmallString<128> folder(llvm::sys::path::parent_path(path)), real;
    if (llvm::sys::fs::real_path(folder.empty() ? "." : folder.str(), real))
      real = folder;
    llvm::sys::path::append(real, llvm::sys::path::filename(path));
    return real;
  };
  return place(a) == place(b);
}

std::vector<std::string> accc::findOverwritten(const CompileOptions &options,
                                               ArrayRef<std::string> inputs) {
  std::vector<std::string> problems;
  std::vector<std::pair<std::string, std::string>> outputs = outputsOf(options);
  for (auto [i, output] : llvm::enumerate(outputs)) {
    for (const std::string &input : inputs)
      if (isSameFile(output.second, input))
        problems.push_back(output.first + " " + output.second + ": would write over " + input +
                           ", which is read");
    for (const auto &[option, path] : ArrayRef(outputs).take_front(i))
      if (isSameFile(output.second, path))
        problems.push_back(output.first + " " + output.second + ": is also where " + option +
                           " is written");
  }
  return problems;
}

LogicalResult accc::writeReport(Compilation &c) {
  if (c.options.report.empty())
    return success();
  std::string manifest = makeManifest(c.options, c.inputHashes.get(), c.exported);
  auto print = [&](llvm::raw_ostream &os) {
    printReport(os, programsOf(c), manifest, c.fusionDecisions, c.log);
  };
  if (llvm::Error error = c.outputs.addText(c.options.report, print))
    return machineFault(c, llvm::toString(std::move(error)));
  return success();
}

LogicalResult accc::writeLibrary(Compilation &c) {
  const std::string &output = c.options.output;
  GenerateOptions options;
  options.modelName = llvm::sys::path::stem(c.options.model).str();
  options.compilerVersion = kCompilerVersion;
  options.manifest = makeManifest(c.options, c.inputHashes.get(), c.exported);
  options.tf32 = c.options.precision == "tf32";
  options.dumpDir = c.options.dumpDir;
  options.embedWeights = embedsWeights(c);
  if (!options.embedWeights && c.options.weights != "none") {
    if (!c.weights.empty()) // else a program gives the values, as with none
      options.weightsFile = llvm::sys::path::filename(weightsBeside(output)).str();
    if (failed(writeWeights(c, weightsBeside(output))))
      return failure();
  }

  if (failed(writeHeader(c)))
    return failure();
  bool written = false;
  auto write = [&](StringRef temporary) {
    if (failed(generateLibrary(programsOf(c), c.weights, options, temporary)))
      return false;
    try {
      append_checksum(temporary.str());
      return true;
    } catch (const std::exception &error) {
      (void)machineFault(c, error.what());
      return false;
    }
  };
  if (llvm::Error error = c.outputs.add(output, write, written))
    return machineFault(c, llvm::toString(std::move(error)));
  return success(written);
}
