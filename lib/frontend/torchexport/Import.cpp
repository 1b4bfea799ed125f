// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "frontend/torchexport/Import.h"

#include "frontend/common/ImportArchive.h"
#include "frontend/common/ImportAttempts.h"
#include "frontend/torchexport/Program.h"

using namespace mlir;
using namespace accc;
using namespace accc::torchexport;

// What is read of the format; its major number is that of a break.
static constexpr int64_t kOldestSchema = 5, kNewestSchema = 8;
static constexpr uint64_t kLargestProgram = uint64_t(1) << 30;
/// Of archives before PyTorch 2.8, which have no folder of models.
static constexpr const char kOldRecord[] = "serialized_exported_program.json";

/// The name of the one program of an archive: models/NAME.json.
static std::string programName(const Archive &archive) {
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
  if (major < kOldestSchema || major > kNewestSchema)
    fail("the program has version " + Twine(major) + " of the format, of which " +
         Twine(kOldestSchema) + " to " + Twine(kNewestSchema) +
         " are supported (PyTorch 2.4 to 2.15): export it with another version of PyTorch");
}

static std::unique_ptr<Weights> weightsOf(const Archive &archive, const std::string &model,
                                          MLIRContext &context) {
  if (archive.has(kOldRecord))
    return weightsInPickles(context, archive, "serialized_state_dict.pt",
                            "serialized_constants.pt");
  std::string pickled = "data/weights/" + model + ".pt"; // of 2.8
  if (archive.has(pickled))
    return weightsInPickles(context, archive, pickled, "data/constants/" + model + ".pt");
  return weightsInRecords(context, archive, model);
}

static ImportResult importProgram(const Archive &archive, const ImportOptions &options,
                                  MLIRContext &context) {
  bool isOld = archive.has(kOldRecord);
  std::string model = isOld ? "" : programName(archive);
  std::string record = isOld ? kOldRecord : "models/" + model + ".json";
  nlohmann::json document = Json::parse(archive.text(record, kLargestProgram), record);
  Json program(document, record);
  checkVersion(program);
  std::unique_ptr<Weights> weights = weightsOf(archive, model, context);
  return importUntilWritesAreKnown([&](const std::set<std::string> &written) -> ImportAttempt {
    ProgramImporter importer(program, *weights, written, options, context);
    ImportResult result = importer.run();
    return {std::move(result), importer.falselyKnown()};
  });
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
