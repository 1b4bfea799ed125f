// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// External data: what is read, and every way out of the model's folder that is closed.
#include "ModelText.h"

#include "frontend/onnx/Proto.h"
#include <catch2/catch.hpp>

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

/// A folder that goes away, with model/weights.bin (12 bytes: 1, 2, 3) and secret.bin beside
/// model/.
struct Folder {
  fs::path root;

  Folder() {
    char name[] = "/tmp/accc-external-XXXXXX";
    root = mkdtemp(name);
    fs::create_directories(root / "model" / "sub");
    float values[] = {1, 2, 3};
    for (const char *file : {"model/weights.bin", "model/sub/weights.bin", "secret.bin"})
      std::ofstream(root / file).write(reinterpret_cast<const char *>(values), sizeof(values));
  }
  ~Folder() { fs::remove_all(root); }

  Imported import(std::initializer_list<std::pair<const char *, std::string>> entries) const {
    onnx::ModelProto model;
    REQUIRE(model.ParseFromString(
        modelBytes("g (float[3] x) => (float[3] y) <float[3] w = {0,0,0}> { y = Mul(x, w) }")));
    onnx::TensorProto *tensor = model.mutable_graph()->mutable_initializer(0);
    tensor->clear_float_data();
    tensor->clear_raw_data();
    tensor->set_data_location(onnx::TensorProto::EXTERNAL);
    for (const auto &[key, value] : entries) {
      auto *entry = tensor->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    }
    return importBytes(model.SerializeAsString(), {}, (root / "model").string());
  }
  std::string problems(const std::string &location) const {
    return import({{"location", location}}).problems();
  }
};

} // namespace

TEST_CASE("external data is mapped") {
  Folder folder;
  for (const char *location : {"weights.bin", "./weights.bin", "sub/weights.bin"}) {
    auto model = folder.import({{"location", location}});
    INFO(model.problems());
    REQUIRE(model.result.module);
    const Weight &weight = model.result.weights.find("w")->second;
    CHECK(reinterpret_cast<const float *>(weight.bytes.data())[2] == 3.0f);
  }
}

TEST_CASE("locations that lead out of the folder", "[hostile]") {
  Folder folder;
  CHECK_THAT(folder.problems("../secret.bin"), Contains("'..'"));
  CHECK_THAT(folder.problems("sub/../../secret.bin"), Contains("'..'"));
  CHECK_THAT(folder.problems((folder.root / "secret.bin").string()), Contains("must be relative"));
  CHECK_THAT(folder.problems(""), Contains("without a location"));
  CHECK_THAT(folder.problems(std::string("weights.bin\0x", 13)), Contains("zero byte"));
  fs::create_symlink(folder.root / "secret.bin", folder.root / "model" / "link.bin");
  CHECK_THAT(folder.problems("link.bin"), Contains("symbolic links"));
  fs::create_directory_symlink(folder.root, folder.root / "model" / "up");
  CHECK_THAT(folder.problems("up/secret.bin"), Contains("symbolic links"));
  fs::create_hard_link(folder.root / "secret.bin", folder.root / "model" / "hard.bin");
  CHECK_THAT(folder.problems("hard.bin"), Contains("more than one hard link"));
}

TEST_CASE("files that are none, and sizes that do not fit", "[hostile]") {
  Folder folder;
  CHECK_THAT(folder.problems("absent.bin"), Contains("No such file"));
  CHECK_THAT(folder.problems("sub"), Contains("not a regular file"));
  REQUIRE(mkfifo((folder.root / "model" / "pipe").c_str(), 0600) == 0);
  CHECK_THAT(folder.problems("pipe"), Contains("not a regular file"));
  auto with = [&](const char *key, const char *value) {
    return folder.import({{"location", "weights.bin"}, {key, value}}).problems();
  };
  CHECK_THAT(with("offset", "4"), Contains("ends before the tensor does"));
  CHECK_THAT(with("offset", "18446744073709551612"), Contains("ends before the tensor does"));
  CHECK_THAT(with("offset", "-1"), Contains("not a number"));
  CHECK_THAT(with("length", "4"), Contains("4 bytes where its type needs 12"));
  CHECK_THAT(with("length", "18446744073709551615"), Contains("where its type needs 12"));
}
