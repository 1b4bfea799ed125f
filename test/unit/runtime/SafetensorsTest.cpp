// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "accc/safetensors.h"
#include "Support.h"

#include <cstring>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {

std::string withLength(uint64_t length, const std::string &rest) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i)
    bytes[static_cast<size_t>(i)] = static_cast<char>(length >> (8 * i));
  return bytes + rest;
}

/// A file of this header and `dataBytes` bytes of data.
std::string file(const std::string &header, size_t dataBytes) {
  return withLength(header.size(), header + std::string(dataBytes, '\1'));
}

std::string one(const std::string &dtype, const std::string &shape, const std::string &offsets) {
  return R"({"a":{"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets +
         "}}";
}

std::string readError(const std::string &bytes, ErrorKind kind = ErrorKind::data) {
  Folder folder;
  writeFile(folder / "f.safetensors", bytes);
  std::string message = errorOf(kind, [&] { load_safetensors(folder / "f.safetensors"); });
  CHECK_THAT(message, Contains("f.safetensors"));
  return message;
}

TensorMap readBack(const std::string &bytes) {
  Folder folder;
  writeFile(folder / "f", bytes);
  return load_safetensors(folder / "f");
}

} // namespace

TEST_CASE("safetensors: what is written is read") {
  Folder folder;
  NamedTensors tensors = {{"z.weight", Tensor::of<float>({2, 3}, {1, 2, 3, 4, 5, 6})},
                          {"scalar", Tensor::scalar<int64_t>(-7)},
                          {"empty", Tensor(DType::f64, {0, 4})},
                          {"flag", Tensor::of<bool>({3}, {true, false, true})},
                          {"half", Tensor(DType::bf16, {5})},
                          {"odd \"name\" \xc3\xa4\n", Tensor::of<uint8_t>({1}, {9})}};
  save_safetensors(folder / "t.safetensors", tensors, {{"format", "pt"}, {"note", "\"x\""}});

  SafetensorsReader reader(folder / "t.safetensors");
  CHECK(reader.metadata() == Metadata{{"format", "pt"}, {"note", "\"x\""}});
  REQUIRE(reader.entries().size() == tensors.size());
  for (const auto &[name, tensor] : tensors) {
    Tensor read = reader.read(name);
    CHECK(read.dtype() == tensor.dtype());
    CHECK(read.shape() == tensor.shape());
    CHECK(std::memcmp(read.raw(), tensor.raw(), tensor.size_bytes()) == 0);
    CHECK(reinterpret_cast<uintptr_t>(read.raw()) % ACCC_ALIGNMENT == 0);
  }
  CHECK(reader.find("absent") == nullptr);
  CHECK_THAT(errorOf(ErrorKind::data, [&] { reader.read("absent"); }), Contains("absent"));

  SECTION("the same tensors give the same bytes, data aligned") {
    save_safetensors(folder / "u.safetensors", tensors, {{"format", "pt"}, {"note", "\"x\""}});
    std::string bytes = readFile(folder / "t.safetensors");
    CHECK(bytes == readFile(folder / "u.safetensors"));
    CHECK((8 + static_cast<unsigned char>(bytes[0]) + 256 * static_cast<unsigned char>(bytes[1])) %
              ACCC_ALIGNMENT ==
          0);
  }
  SECTION("no tensor at all") {
    save_safetensors(folder / "none", NamedTensors{});
    CHECK(load_safetensors(folder / "none").empty());
  }
}

TEST_CASE("safetensors: unusual files that are right") {
  CHECK(readBack(file("{}", 0)).empty());
  CHECK(readBack(file(one("F32", "[]", "[0,4]") + "   ", 4)).at("a").rank() == 0);
  // An empty tensor shares its offset with the next, in whatever order the header has them.
  CHECK(readBack(file(R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                      R"("a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}})",
                      4))
            .size() == 2);
  CHECK(readBack(
            file(R"({"__metadata__":{},"a":{"data_offsets":[0,1],"shape":[1],"dtype":"U8"}})", 1))
            .size() == 1);
}

TEST_CASE("safetensors: a header longer than the format allows is not read") {
  Folder folder;
  std::string path = folder / "long.safetensors";
  writeFile(path, withLength(100'000'001, "{}"));
  REQUIRE(::truncate(path.c_str(), 100'000'100) == 0); // with a hole: takes no space
  CHECK_THAT(errorOf(ErrorKind::data, [&] { load_safetensors(path); }),
             Contains("more than the 100 MB"));
}

TEST_CASE("safetensors: every malformed file is one clear error") {
  auto [header, data, expected] = GENERATE(table<std::string, size_t, std::string>({
      {"", 0, "does not start with '{'"},
      {" {}", 0, "does not start with '{'"},
      {"[]", 0, "does not start with '{'"},
      {"{", 0, "no JSON"},
      {"{}{}", 0, "no JSON"},
      {std::string("{}\0", 3), 0, "no JSON"},
      {"{\"a\xff\":{}}", 0, "no JSON"},
      {R"({"a":1})", 0, "tensor \"a\" holds a number"},
      {R"({"a":null})", 0, "null"},
      {R"({"a":{}})", 0, "lacks \"dtype\""},
      {R"({"a":{"dtype":"F32","shape":[1]}})", 4, "lacks \"data_offsets\""},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4],"x":1}})", 4, "unknown key \"x\""},
      {R"({"a":{"dtype":"F32","dtype":"U8","shape":[1],"data_offsets":[0,4]}})", 4,
       "the key \"dtype\" twice"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
       R"("a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
       4, "the key \"a\" appears twice"},
      {R"({"__metadata__":{"a":1}})", 0, "__metadata__ holds a number"},
      {R"({"__metadata__":{"a":"1","a":"2"}})", 0, "twice"},
      {R"({"__metadata__":[]})", 0, "an array"},
      {one("F33", "[1]", "[0,4]"), 4, "type \"F33\""},
      {one("F8_E4M3", "[4]", "[0,4]"), 4, "which accc does not know"},
      {one("F32", "[-1]", "[0,4]"), 4, "negative number -1"},
      {one("F32", "[1.0]", "[0,4]"), 4, "number 1.0"},
      {one("F32", "[true]", "[0,4]"), 4, "a boolean"},
      {one("F32", "[[1]]", "[0,4]"), 4, "an array"},
      {one("F32", "[1]", "[0,18446744073709551616]"), 4, "below 2^64"},
      {one("F32", "[9223372036854775808]", "[0,4]"), 4, "overflows"},
      {one("F32", "[4611686018427387905]", "[0,4]"), 4, "overflows"},
      {one("F32", "[4294967296,4294967296]", "[0,0]"), 0, "overflows"},
      {one("U8", "[0,9223372036854775808]", "[0,0]"), 0, "overflows"},
      {one("F32", "[1]", "[0,8]"), 8, "takes 4 bytes"},
      {one("F32", "[1]", "[4]"), 4, "data_offsets has 1 numbers"},
      {one("F32", "[1]", "[0,4,8]"), 4, "data_offsets has 3 numbers"},
      {one("F32", "[1]", "[4,0]"), 4, "after its end"},
      {one("F32", "[1]", "[0,8]"), 4, "ends at byte 8"},
      {one("F32", "[2]", "[0,4]"), 4, "takes 8 bytes"},
      {one("F32", "[1]", "[4,8]"), 8, "after a hole"},
      {one("F32", "[1]", "[0,4]"), 8, "4 bytes at the end belong to no tensor"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
       R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
       8, "inside another tensor"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
       R"("b":{"dtype":"F32","shape":[0],"data_offsets":[4,4]}})",
       8, "inside another tensor"},
  }));
  INFO(header);
  CHECK_THAT(readError(file(header, data)), Contains(expected));
}

TEST_CASE("safetensors: impossible lengths of the header") {
  CHECK_THAT(readError(""), Contains("0 bytes"));
  CHECK_THAT(readError("1234567"), Contains("7 bytes"));
  CHECK_THAT(readError(withLength(3, "{}")), Contains("more than the file has"));
  CHECK_THAT(readError(withLength(100'000'001, "{}")), Contains("100 MB"));
  CHECK_THAT(readError(withLength(UINT64_MAX, "{}")), Contains("100 MB"));
}

TEST_CASE("safetensors: files of other formats are called by their names") {
  std::string rest(100, '\xff');
  CHECK_THAT(readError("PK\x03\x04" + rest), Contains("but a zip archive, as torch.save") &&
                                                 Contains("save_file of safetensors.torch"));
  CHECK_THAT(readError("\x93NUMPY" + rest), Contains("a file of numpy.save"));
  CHECK_THAT(readError("\x80\x02\x8a\x0al\xfc" + rest), Contains("a pickle, as torch.save"));
  // A header of 640 bytes, of which one is there.
  CHECK_THAT(readError(withLength(640, "{")), Contains("is it truncated?"));
}

TEST_CASE("safetensors: deep nesting does not exhaust the stack") {
  std::string deep = "{\"a\":" + std::string(1'000'000, '[');
  CHECK_THAT(readError(file(deep, 0)), Contains("an array"));
}

TEST_CASE("safetensors: a file cut anywhere is refused") {
  Folder folder;
  save_safetensors(folder / "whole",
                   {{"a", Tensor::of<float>({2}, {1, 2})}, {"b", Tensor::of<int64_t>({1}, {3})}});
  std::string bytes = readFile(folder / "whole");
  for (size_t length = 0; length < bytes.size(); ++length) {
    INFO(length);
    readError(bytes.substr(0, length));
  }
}

TEST_CASE("safetensors: booleans are 0 or 1") {
  CHECK_THAT(readError(file(one("BOOL", "[2]", "[0,2]"), 0) + "\x01\x02"),
             Contains("element 1 is no boolean but 2"));
}

TEST_CASE("safetensors: what could not be read is not written") {
  Folder folder;
  unsigned char mask[] = {0, 255};
  for (auto &[tensor, why] : std::vector<std::pair<Tensor, const char *>>{
           {Tensor::borrow(DType::boolean, {2}, mask), "element 1 is no boolean but 255"},
           {Tensor::borrow(DType::f32, {2}, nullptr), "it has no elements in memory"}})
    CHECK_THAT(errorOf(ErrorKind::usage, [&] { save_safetensors(folder / "f", {{"a", tensor}}); }),
               Contains("tensor \"a\": ") && Contains(why));
  CHECK(folder.size() == 0);
}

TEST_CASE("safetensors: what is not a file") {
  Folder folder;
  CHECK_THAT(errorOf(ErrorKind::usage, [&] { load_safetensors(folder / "absent"); }),
             Contains("absent") && Contains("No such file"));
  CHECK_THAT(errorOf(ErrorKind::usage, [&] { load_safetensors(folder.path.string()); }),
             Contains("not a regular file"));
  std::string pipe = folder / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  CHECK_THAT(errorOf(ErrorKind::usage, [&] { load_safetensors(pipe); }),
             Contains("not a regular file"));
}

TEST_CASE("safetensors: names that a file cannot hold") {
  Folder folder;
  Tensor t = Tensor::scalar(1.0f);
  for (const NamedTensors &tensors :
       {NamedTensors{{"a", t}, {"a", t}}, NamedTensors{{"__metadata__", t}},
        NamedTensors{{"\xff", t}}}) {
    errorOf(ErrorKind::usage, [&] { save_safetensors(folder / "x", tensors); });
    CHECK(folder.size() == 0);
  }
}

TEST_CASE("safetensors: writing keeps permissions and follows links") {
  Folder folder;
  writeFile(folder / "real", "old");
  REQUIRE(::chmod((folder / "real").c_str(), 0640) == 0);
  std::filesystem::create_symlink(folder / "real", folder / "link");
  save_safetensors(folder / "link", {{"a", Tensor::scalar(2.0f)}});
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(load_safetensors(folder / "real").at("a").item<float>() == 2.0f);
  struct stat status = {};
  REQUIRE(::stat((folder / "real").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
  CHECK(folder.size() == 2); // no temporary file stays
}

TEST_CASE("safetensors: a write that fails loses nothing") {
  Folder folder;
  std::string path = folder / "w";
  save_safetensors(path, {{"a", Tensor::scalar(1.0f)}});
  std::string before = readFile(path);

  // A limit on the size of files stands in for a full disk: the write stops half way.
  struct rlimit saved = {};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &saved) == 0);
  struct rlimit small = {4096, saved.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
  std::string message = errorOf(
      ErrorKind::machine, [&] { save_safetensors(path, {{"a", Tensor(DType::f32, {100'000})}}); });
  ::setrlimit(RLIMIT_FSIZE, &saved);

  CHECK_THAT(message, Contains(path) && Contains("make room") && Contains("unchanged"));
  CHECK(readFile(path) == before);
  CHECK(folder.size() == 1);

  CHECK_THAT(errorOf(ErrorKind::machine,
                     [&] { save_safetensors(folder / "no/such/folder", TensorMap{}); }),
             Contains("No such file"));
  CHECK_THAT(
      errorOf(ErrorKind::usage, [&] { save_safetensors(folder.path.string(), TensorMap{}); }),
      Contains("is not a file"));
}
