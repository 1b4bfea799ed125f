// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/torchexport/Import.h"

#include "frontend/common/ImportArchive.h"
#include "frontend/torchexport/Program.h"

using namespace mlir;
using namespace accc;
using namespace accc::torchexport;

// What a version of the format is read as: its major number is that of a break.
static constexpr int64_t kSchema = 8;
static constexpr uint64_t kLargestProgram = uint64_t(1) << 30;

/// The name of the one program of an archive: models/NAME.json.
static std::string programName(const Archive &archive) {
  if (archive.has("serialized_exported_program.json"))
    fail("the file was saved by an older PyTorch, whose archives are not supported: save the "
         "program again with a newer one");
  std::string name;
  for (llvm::StringRef record : archive.names()) {
    if (!record.consume_front("models/") || !record.consume_back(".json"))
      continue;
    if (!name.empty())
      fail("the archive holds several programs, '" + name + "' and '" + record +
           "'; save each to a file of its own");
    name = record.str();
  }
  if (name.empty())
    fail("the file holds no exported program (models/*.json): is it a file of "
         "torch.export.save? One of torch.save holds weights and no program");
  return name;
}

static void checkVersion(const Json &program) {
  int64_t major = program.at("schema_version").at("major").integer();
  if (major != kSchema)
    fail("the program has version " + Twine(major) + " of the format, of which " + Twine(kSchema) +
         " is supported: export it with another version of PyTorch");
}

static ImportResult importProgram(const Archive &archive, const ImportOptions &options,
                                  MLIRContext &context) {
  std::string model = programName(archive), record = "models/" + model + ".json";
  nlohmann::json document = Json::parse(archive.text(record, kLargestProgram), record);
  Json program(document, record);
  checkVersion(program);
  return ProgramImporter(archive, model, program, options, context).run();
}

ImportResult accc::importTorchExport(llvm::StringRef path, const ImportOptions &options,
                                     MLIRContext &context) {
  return frontend::importArchive(
      path, [&](const Archive &archive) { return importProgram(archive, options, context); });
}

ImportResult accc::importTorchExportBytes(llvm::StringRef bytes, const ImportOptions &options,
                                          MLIRContext &context) {
  return frontend::importArchiveBytes(
      bytes, [&](const Archive &archive) { return importProgram(archive, options, context); });
}
