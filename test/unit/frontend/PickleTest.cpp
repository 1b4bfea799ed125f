// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pickles: what PyTorch writes is read, everything else is refused.
#include "frontend/pickle/Pickle.h"
#include "frontend/common/ImportError.h"

#include <catch2/catch.hpp>

#include <random>

using namespace accc;
using namespace std::string_literals;
using Catch::Matchers::Contains;
using Kind = pickle::Value::Kind;

namespace {

/// A pickle of these instructions.
std::string program(const std::string &instructions) { return "\x80\x02"s + instructions + "."; }

/// What is wrong with a pickle; empty: nothing.
std::string problem(const std::string &bytes) {
  try {
    pickle::Document document({bytes.data(), bytes.size()}, "data.pkl");
    return "";
  } catch (const frontend::ImportError &error) {
    return error.message;
  }
}

std::string text(const std::string &content) {
  return "X"s + static_cast<char>(content.size()) + "\0\0\0"s + content;
}

constexpr const char kClass[] = "c__torch__.m\nNet\n";

} // namespace

TEST_CASE("pickle: values") {
  std::string bytes = program("}(" + text("a") + "K\x05" + text("b") + "M\x01\x02" + text("c") +
                              "J\xff\xff\xff\xff" + text("d") + "\x8a\x02\x00\x80"s + text("e") +
                              "G\x3f\xf8\x00\x00\x00\x00\x00\x00"s + text("f") + "\x88" +
                              text("g") + "\x89" + text("h") + "N" + text("i") + "](K\x01K\x02" +
                              "e" + text("j") + "K\x01K\x02\x86" + "u");
  pickle::Document document({bytes.data(), bytes.size()}, "data.pkl");
  const pickle::Value &dict = document.root();
  REQUIRE(dict.is(Kind::Dict));
  REQUIRE(dict.elements.size() == 20);
  auto at = [&](size_t i) -> const pickle::Value & { return *dict.elements[2 * i + 1]; };
  CHECK(dict.elements[0]->text == "a");
  CHECK(at(0).asInteger("a") == 5);
  CHECK(at(1).asInteger("b") == 513);
  CHECK(at(2).asInteger("c") == -1);
  CHECK(at(3).asInteger("d") == -32768);
  CHECK(at(4).real == 1.5);
  CHECK(at(5).asBoolean("f"));
  CHECK_FALSE(at(6).asBoolean("g"));
  CHECK(at(7).is(Kind::None));
  CHECK(at(8).asSequence("i").size() == 2);
  CHECK(at(9).is(Kind::Tuple));
  CHECK(at(9).asSequence("j")[1]->integer == 2);
}

TEST_CASE("pickle: objects, calls and what lies beside") {
  std::string bytes =
      program("("s + kClass + ")\x81}" + text("x") + "K\x01sbq\x03h\x03" +
              "ctorch._utils\n_rebuild_tensor_v2\n(K\x07QtRccollections\n" + "OrderedDict\n)R}bt");
  pickle::Document document({bytes.data(), bytes.size()}, "data.pkl");
  auto values = document.root().asSequence("all");
  REQUIRE(values.size() == 4);
  CHECK(values[0] == values[1]);
  CHECK(values[0]->type->name() == "__torch__.m.Net");
  CHECK(values[0]->elements[0]->elements[1]->integer == 1);
  CHECK(values[2]->is(Kind::Call));
  CHECK(values[2]->elements[0]->is(Kind::Persistent));
  CHECK(values[3]->is(Kind::Dict));
}

TEST_CASE("pickle: hostile programs are refused", "[hostile]") {
  auto refused = [](const std::string &instructions, const std::string &why) {
    INFO(instructions);
    CHECK_THAT(problem(program(instructions)), Contains("data.pkl") && Contains(why));
  };
  // Functions that would run something.
  refused("cos\nsystem\n" + text("id") + "\x85R", "os.system");
  refused("c__builtin__\neval\n)R", "__builtin__.eval");
  refused("ctorch\nload\n)R", "torch.load");
  refused("ctorch._utils\n_rebuild_tensor_v2\nN\x81", "something else than its class");
  refused("K\x01)R", "no function");
  // Instructions that PyTorch does not write.
  for (const char *code : {"0", "2", "I1\n", "i", "o", "P1\n", "\x8b", "\x8c", "\x93", "\x95"})
    refused(code, "is none that PyTorch writes");
  // A stack that is too short, on either side of a mark.
  for (const char *code : {"s", "K\x01s", "K\x01K\x02s", "u", "a", "e", "R", "b", "\x81", "\x86",
                           "t", "d", "q\x01", "K\x01(\x85", "K\x01(q\x01"})
    CHECK_FALSE(problem(program(code)).empty());
  // Kinds that do not fit.
  refused("N(K\x01K\x02u", "no dict");
  refused("]K\x01K\x02s", "no dict");
  refused("}(K\x01u", "no value");
  refused("(K\x01"
          "d",
          "no value");
  refused("}]K\x01s", "no number and no text");
  refused("}K\x01"
          "a",
          "no list");
  refused("NNb", "no new object");
  refused(std::string(kClass) + ")\x81}b}b", "no new object");
  // Gaps of the memo, sizes that are not there, integers and texts that are none.
  refused("h\x05", "the memo has no value 5");
  refused("j\xff\xff\xff\xff", "the memo has no value");
  refused("X\xff\xff\xff\x7f"
          "abc",
          "in the middle");
  refused("X\x01\0\0\0\xff"s, "UTF-8");
  refused("\x8a\x09\1\1\1\1\1\1\1\1\1"s, "64 bits");
  refused("ctorch", "in the middle of a name");
  // More or less than one value.
  refused("K\x01K\x02", "more than one value");
  refused("(K\x01", "more than one value");
  refused("", "no value to work on");
  CHECK_THAT(problem(program("N") + "N"), Contains("more than one value"));
  CHECK_THAT(problem(""), Contains("in the middle"));
  CHECK_THAT(problem("\x80\x04N."), Contains("protocol 2"));
  CHECK_THAT(problem("\x80\x02N"), Contains("in the middle"));
}

TEST_CASE("pickle: values do not contain themselves and nest in bounds", "[hostile]") {
  CHECK_THAT(problem(program("]q\0h\0a"s)), Contains("contains itself"));
  CHECK_THAT(problem(program("}q\0"s + text("a") + "](h\0es"s)), Contains("contains itself"));
  CHECK(problem(program("K\x01" + std::string(400, '\x85'))).empty());
  CHECK_THAT(problem(program("K\x01" + std::string(600, '\x85'))), Contains("deep"));
  CHECK_THAT(problem(program("K\x01" + std::string(1000000, '\x85'))), Contains("deep"));
  // Deep by way of the memo.
  std::string chain = "K\x01\x85q\0"s;
  for (int i = 0; i < 600; ++i)
    chain += "h\0\x85q\0"s;
  CHECK_THAT(problem(program("(" + chain + "t")), Contains("deep"));
  // Many ways to one value take no time: two to the power of 400.
  std::string wide = "K\x01q\0"s;
  for (int i = 0; i < 400; ++i)
    wide += "h\0h\0\x86q\0"s;
  CHECK(problem(program("(" + wide + "t")).empty());
}

TEST_CASE("pickle: random bytes are read or refused", "[hostile]") {
  std::mt19937 random(7);
  const std::string alphabet = "])}(ltd\x85\x86\x87"
                               "aesuqrhjN\x88\x89JKM\x8aGXc\x81"
                               "bRQ.\0\1\2\n"s;
  for (int round = 0; round < 20000; ++round) {
    std::string instructions;
    for (size_t i = 0, length = random() % 40; i < length; ++i)
      instructions += alphabet[random() % alphabet.size()];
    problem(program(instructions));
  }
}
