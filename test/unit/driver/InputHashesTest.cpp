// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The hashes that the manifest names a model's files by.
#include "driver/InputHashes.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace accc;

TEST_CASE(
    "input hashes: xxh128sum's, of the model and of its external data by their relative names") {
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("accc-hashes-" + std::to_string(getpid()));
  std::filesystem::create_directories(folder / "data");
  std::ofstream(folder / "model.onnx") << "abc";
  std::ofstream(folder / "data" / "weights.bin") << std::string(1 << 20, 'x');
  std::ofstream(folder / "data" / "empty.bin");
  std::string data = folder.string() + "/data/";

  // As printed by xxh128sum of xxHash 0.8.1.
  InputHashes expected{{"model.onnx", "06b05ab6733a618578af5f94892f3950"},
                       {"data/weights.bin", "5b5eaa274f30aaa311ea1c8ad3937333"},
                       {"data/empty.bin", "99aa06d3014798d86001c324468d497f"},
                       {"data/gone.bin", ""}};
  CHECK(hashInputs((folder / "model.onnx").string(),
                   {data + "weights.bin", data + "empty.bin", data + "gone.bin"})
            .get() == expected);

  // A model in the current folder: the importer looks for its data in ".".
  std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder);
  InputHashes here =
      hashInputs("model.onnx", {"./data/weights.bin", "./data/empty.bin", "./data/gone.bin"}).get();
  std::filesystem::current_path(before);
  CHECK(here == expected);
  std::filesystem::remove_all(folder);
}
