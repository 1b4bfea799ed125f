// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "accc/checksum.h"

#include "Support.h"

#include "accc/model.h"

#include <algorithm>
#include <string_view>

using namespace accc;
using namespace accc::test;

static uint64_t hash(std::string_view text) {
  Xxh64 hash;
  hash.add(text.data(), text.size());
  return hash.get();
}

// The values of the reference implementation (xxhsum -H1).
TEST_CASE("xxh64 is the published hash") {
  CHECK(hash("") == 0xef46db3751d8e999);
  CHECK(hash("a") == 0xd24ec4f1a98c6e5b);
  CHECK(hash("abc") == 0x44bc2cf5ad770999);
  CHECK(hash("xxhash") == 0x32dd38952c4bc720);
  CHECK(hash("Nobody inspects the spammish repetition") == 0xfbcea83c8a378bf1);
}

TEST_CASE("the pieces in which bytes come do not matter") {
  std::string text;
  for (int i = 0; i < 1000; ++i)
    text += static_cast<char>(i * 7 + i / 13);
  for (size_t piece : {32, 64, 480, 992}) {
    Xxh64 pieces;
    for (size_t at = 0; at < text.size(); at += piece)
      pieces.add(text.data() + at, std::min(piece, text.size() - at));
    CHECK(pieces.get() == hash(text));
  }
}

// Of what is damaged nothing is mapped: a changed byte could be one of the code that says what is
// in the library.
TEST_CASE("a damaged library is an error") {
  Folder folder;
  std::string path = folder / "model.so", whole = readFile(std::string(FAKE_MODELS) + "/good.so");
  writeFile(path, whole);
  check_checksum(path); // without one it is as long as its header says
  append_checksum(path);
  check_checksum(path);
  Model::describe(path);
  whole = readFile(path);
  auto message = [&](const std::string &bytes) {
    writeFile(path, bytes);
    std::string text = errorOf(ErrorKind::data, [&] { Model::describe(path); });
    CHECK(text.find("model.so is damaged: ") != std::string::npos);
    CHECK(text.find("; compile it again") != std::string::npos);
    return text;
  };
  for (size_t at = 4; at + 24 < whole.size(); at += whole.size() / 61) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 16);
    CHECK(message(bytes).find("checksum") != std::string::npos);
  }
  for (size_t length : {size_t(16), size_t(100), whole.size() / 2, whole.size() - 100})
    CHECK(message(whole.substr(0, length)).find("it ends ") != std::string::npos);
  std::string longer = whole;
  longer.insert(whole.size() - 24, "more");
  CHECK(message(longer).find(" bytes, not ") != std::string::npos);
}
