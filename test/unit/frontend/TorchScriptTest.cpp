// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TorchScript modules: names, state, shapes, what is refused and where, and damaged files.
#include "ArchiveEdit.h"
#include "TorchScriptText.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <random>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {

const ImportOptions kWords = typed({{"words", {"int64", {"3", "5"}}}});
const ImportOptions kX = typedX();

} // namespace

TEST_CASE("TorchScript: names and roles are the module's") {
  Imported model = importScripted(scriptedModule("scripted/state/scripted"), kWords);
  REQUIRE(model.problems().empty());
  CHECK_THAT(model.role("words"), Contains("input"));
  CHECK_THAT(model.role("embedding.weight"), Contains("parameter"));
  CHECK(model.argument("embedding.weight", "accc.frozen").empty());
  CHECK_FALSE(model.argument("frozen.weight", "accc.frozen").empty()); // requires_grad is False
  for (const char *buffer :
       {"average", "total", "steps", "norm.running_mean", "norm.num_batches_tracked"})
    CHECK_THAT(model.role(buffer), Contains("buffer"));
  CHECK_THAT(model.role("shifts"), Contains("none")); // integers that nothing writes: a constant
  CHECK(model.result.outputs == std::vector<std::string>{"loss", "logits"});
  REQUIRE(model.result.aliases.size() == 1); // tied
  CHECK(model.result.aliases.at("embedding.weight") == std::vector<std::string>{"head.weight"});
  // Integers among the parameters are no parameters.
  CHECK_THAT(importScripted(scriptedModule("exported/coded/traced")).role("codes"),
             Contains("none"));
}

TEST_CASE("TorchScript: shapes come from the examples of a trace or from the options") {
  std::string traced = scriptedModule("exported/cnn/traced"),
              scripted = scriptedModule("scripted/control/scripted");
  Imported model = importScripted(traced);
  CHECK(model.problems().empty());
  CHECK_THAT(model.text(), Contains("tensor<2x3x15x17xf32>"));
  CHECK_THAT(importScripted(scripted).problems(), Contains("--input x=float32[8,16]"));
  CHECK_THAT(importScripted(scripted, typed({{"x", {"float32", {"batch", "6"}}}})).problems(),
             Contains("fix them with -D batch=N"));
  Imported sized =
      importScripted(scripted, typed({{"x", {"float32", {"batch", "6"}}}}, {{"batch", 5}}));
  CHECK(sized.problems().empty());
  CHECK_THAT(sized.text(), Contains("tensor<5x6xf32>"));
  CHECK_THAT(importScripted(scripted, typed({{"x", {"float33", {"4", "6"}}}})).problems(),
             Contains("'float33' is no element type"));
  CHECK_THAT(importScripted(scripted, typed({{"y", {"float32", {"4", "6"}}}})).problems(),
             Contains("forward has no argument of this name"));
  // An optional argument is given, too.
  Imported biased = importScripted(
      scripted, typed({{"x", {"float32", {"4", "6"}}}, {"bias", {"float32", {"6"}}}}));
  CHECK(biased.problems().empty());
  CHECK_THAT(biased.role("bias"), Contains("input"));
}

TEST_CASE("TorchScript: inputs in lists, tuples and dicts are called as torch.export calls them") {
  Imported traced = importScripted(scriptedModule("scripted/nested/traced"));
  REQUIRE(traced.problems().empty());
  for (const char *input : {"batch_words", "batch_b_1", "levels_0", "levels_1", "pair_0", "pair_1"})
    CHECK_THAT(traced.role(input), Contains("input"));
  CHECK_THAT(
      importScripted(scriptedModule("scripted/nested/traced"), typed({}, {{"levels_2.0", 5}}))
          .problems(),
      Contains("levels_2.0"));

  // A scripted module says how many there are only by --input.
  auto problems = [](const std::map<std::string, InputType> &types) {
    return importScripted(scriptedModule("scripted/nested/scripted"), typed(types)).problems();
  };
  InputType square = {"float32", {"2", "2"}};
  CHECK_THAT(problems({}), Contains("the list 'levels'") &&
                               Contains("--input levels_0=float32[8,16]") &&
                               Contains("the dict 'batch'") && Contains("--input batch_KEY=") &&
                               Contains("the input 'pair_first'"));
  CHECK_THAT(problems({{"levels", square}}), Contains("--input levels: it is no tensor"));
  CHECK_THAT(problems({{"pair", square}, {"pair_first", square}, {"pair_second", square}}),
             Contains("--input pair: it holds several inputs, of which the first is 'pair_first'"));
  CHECK_THAT(problems({{"pair_third", square}}),
             Contains("--input pair_third: forward has no argument of this name"));
  CHECK_THAT(problems({{"levels_0", square}, {"levels_2", square}}),
             Contains("--input levels_2: forward has no argument of this name"));
  CHECK_THAT(problems({{"scale_1", square}}), Contains("the input 'scale_0'"));
  CHECK_THAT(problems({{"states_0_0", square}}), Contains("the input 'states_0_1'"));
}

TEST_CASE("TorchScript: arguments that are no tensors") {
  auto problems = [](const std::string &type, std::map<std::string, InputType> types = {}) {
    std::string changedType =
        changed(scriptedModule("scripted/refused/loop"), "code/__torch__/modules.py",
                [&](std::string &text) {
                  text = "class Loop(Module):\n  __parameters__ = []\n  __buffers__ = []\n"
                         "  training : bool\n"
                         "  def forward(self: __torch__.modules.Loop,\n      x: " +
                         type + ") -> Tensor:\n    return torch.zeros([2])\n";
                });
    return importScripted(changedType, typed(std::move(types))).problems();
  };
  InputType row = {"float32", {"2"}};
  for (const char *type : {"int", "List[int]", "Dict[str, float]", "Dict[Tensor, Tensor]",
                           "Optional[List[int]]", "Tuple[Tensor, int]", "Future[Tensor]"}) {
    INFO(type);
    CHECK_THAT(problems(type, {{"x_0", row}, {"x", row}}), Contains("only tensors, and lists"));
  }
  CHECK(problems("Optional[Tensor]").empty()); // None
  CHECK(problems("Dict[int, Tensor]", {{"x_3", row}}).empty());
  CHECK_THAT(problems("Dict[int, Tensor]", {{"x_a", row}}), Contains("the dict 'x'"));
  CHECK(problems("Dict[str, List[Tensor]]", {{"x_a_b_0", row}, {"x_a_b_1", row}}).empty());
}

TEST_CASE("TorchScript: packed sequences have lengths that are known and fit") {
  auto problems = [](const std::string &lengths) {
    return problemsOf("    lengths = " + lengths +
                      "\n    packed, sizes = torch._pack_padded_sequence(torch.zeros([4, 2, 3]), "
                      "lengths, False)\n    return torch.sum(packed)\n");
  };
  CHECK(problems("torch.tensor([4, 1])").empty());
  CHECK_THAT(problems("torch.to(torch.flatten(x), 4)"),
             Contains("make the lengths a constant or a buffer that nothing writes"));
  CHECK_THAT(problems("torch.tensor([1, 4])"), Contains("enforce_sorted=False"));
  CHECK_THAT(problems("torch.tensor([5, 4])"), Contains("are not in a tensor of 4 times"));
  CHECK_THAT(problems("torch.tensor([4, 0])"), Contains("are not in a tensor of 4 times"));
  CHECK_THAT(problems("torch.tensor([4, 2, 1])"), Contains("3 lengths for 2 sequences"));
  CHECK_THAT(problemsOf("    padded, lengths = torch._pad_packed_sequence(torch.zeros([5, 3]), "
                        "torch.tensor([2, 2]), True, 0., 0)\n    return torch.sum(padded)\n"),
             Contains("packed sequences of 4 elements are a tensor of shape [5, 3]"));
}

TEST_CASE("TorchScript: the device of a tensor is a CPU") {
  CHECK(problemsOf("    _0 = ops.prim.device(x)\n    if torch.eq(ops.prim.type(_0), \"cpu\"):\n"
                   "      y = torch.cpu(torch.mul(x, 2))\n    else:\n      y = torch.nonzero(x)\n"
                   "    return y\n")
            .empty());
}

TEST_CASE("TorchScript: attributes of modules that are no tensors") {
  auto problems = [](const std::string &body) {
    return importScripted(
               changed(scriptedModule("scripted/refused/loop"), "code/__torch__/modules.py",
                       [&](std::string &text) {
                         text = "class Loop(Module):\n  __parameters__ = []\n"
                                "  __buffers__ = []\n  training : bool\n  kept : List[Tensor]\n"
                                "  def forward(self: __torch__.modules.Loop,\n"
                                "      x: Tensor) -> Tensor:\n" +
                                body;
                       }),
               kX)
        .problems();
  };
  // Set before anything reads it: the next step does not see it either.
  CHECK(problems("    self.kept = [x]\n    _0 = torch.append(self.kept, x)\n"
                 "    return self.kept[0]\n")
            .empty());
  CHECK(problems("    self.kept = x\n    return self.kept\n").empty());
  CHECK_THAT(problems("    if self.training:\n      pass\n    else:\n      pass\n"
                      "    self.training = torch.__not__(self.training)\n    return x\n"),
             Contains("changes the attribute 'training'"));
}

TEST_CASE("TorchScript: other sizes than a trace's by position") {
  std::string traced = scriptedModule("exported/language/traced");
  ImportOptions other;
  other.dimensions = {{"words.0", 5}};
  Imported model = importScripted(traced, other);
  CHECK(bool(model.result.module));
  other.dimensions = {{"word.0", 5}};
  CHECK_THAT(importScripted(traced, other).problems(), Contains("did you mean 'words.0'"));
}

TEST_CASE("TorchScript: what depends on data is refused at its line") {
  auto problems = [](const std::string &name, const ImportOptions &options = kX) {
    return importScripted(scriptedModule("scripted/refused/" + name), options).problems();
  };
  CHECK_THAT(problems("data"), Contains("modules.py, line 150") &&
                                   Contains("known at compile time") &&
                                   Contains("computes it from the input 'x'"));
  CHECK_THAT(problems("loop"),
             Contains("modules.py, line 157") && Contains("known at compile time"));
  // With the values of the file they would be known.
  CHECK_THAT(problems("chosen"), Contains("computes it from the parameter 'weight'"));
  CHECK_THAT(problems("bounded"), Contains("computes it from the buffer 'bound'"));
  CHECK_THAT(problems("raises"), Contains("modules.py, line 1") &&
                                     Contains("raises an exception: seven rows are expected"));
  CHECK_THAT(problems("counts"),
             Contains("modules.py, line 1") && Contains("changes the attribute 'calls'"));
  CHECK_THAT(problems("appends"),
             Contains("containers.py, line ") && Contains("changes a list that is an attribute"));
  CHECK_THAT(problems("unknown"), // both operators
             Contains("(torch.linalg_eigvalsh)") && Contains("(torch.special_bessel_j0)"));
}

TEST_CASE("TorchScript: what depends on strides that are not known is refused") {
  const std::string unknown = "    y = torch.einsum(\"ij,kj->ik\", [x, x])\n";
  CHECK_THAT(problemsOf(unknown + "    return torch.as_strided(y, [2, 2], [1, 1])\n"),
             Contains("those of what 'einsum' gives are not known"));
  CHECK_THAT(problemsOf(unknown + "    z = torch.mul(torch.t(y), 2)\n"
                                  "    w = torch.mul_(torch.reshape(z, [-1]), 2)\n"
                                  "    return z\n"),
             Contains("reads 'z' after a write into 'w'") && Contains("those of what 'einsum'"));
  CHECK_THAT(problemsOf(unknown + "    if torch.eq(torch.stride(y, 0), 4):\n      pass\n"
                                  "    return y\n"),
             Contains("asks for strides, but those of what 'einsum' gives are not known"));
  // A view whatever they are, and a copy with strides of its own.
  CHECK(problemsOf(unknown + "    z = torch.mul_(torch.reshape(y, [4, 1, 2, 2]), 2)\n"
                             "    w = torch.clone(torch.t(y), memory_format=0)\n"
                             "    w0 = torch.mul_(torch.reshape(w, [-1]), 2)\n"
                             "    return torch.add(y, torch.as_strided(w, [4], [4]))\n")
            .empty());
}

TEST_CASE("TorchScript: writes into memory by strides are defined") {
  CHECK_THAT(problemsOf("    y = torch.mul(x, 2)\n"
                        "    z = torch.add_(torch.as_strided(y, [3, 3], [1, 1]), 1)\n"
                        "    return y\n"),
             Contains("elements of which share their memory"));
  CHECK(problemsOf("    y = torch.mul(x, 2)\n"
                   "    z = torch.add_(torch.as_strided(y, [2, 3], [3, 2]), 1)\n"
                   "    return y\n")
            .empty()); // 0, 2, 4 and 3, 5, 7
  CHECK_THAT(problemsOf("    return torch.as_strided(torch.t(x), [4, 6], [6, 1], 1)\n"),
             Contains("leaves the argument's elements"));
}

TEST_CASE("TorchScript: functions of Python") {
  auto holds = [](const std::string &condition) {
    INFO(condition);
    CHECK(problemsOf("    if " + condition +
                     ":\n      pass\n    else:\n      ops.prim.RaiseException(\"no\")\n"
                     "    return x\n")
              .empty());
  };
  for (const char *condition : {"torch.eq(torch.floordiv(-7, 2), -4)",
                                "torch.eq(torch.remainder(-7, 2), 1)",
                                "torch.eq(torch.div(7, 2), 3.5)",
                                "torch.eq(torch.pow(2, 10), 1024)",
                                "torch.eq(torch.len([1, 2]), 2)",
                                "torch.eq(torch.add([1], [2]), [1, 2])",
                                "torch.eq(torch.slice([1, 2, 3], 1, 3), [2, 3])",
                                "torch.eq(torch.slice([1, 2, 3], None, None, -1), [3, 2, 1])",
                                "torch.eq(torch.slice([1, 2, 3, 4], -2, None, -2), [3, 1])",
                                "torch.eq(torch.slice([1, 2], 5, -9, -1), [2, 1])",
                                "torch.eq(torch.slice(\"abc\", None, 2), \"ab\")",
                                "torch.eq(torch.__getitem__(\"abc\", -1), \"c\")",
                                "torch.eq(torch.sorted([\"b\", \"a\"]), [\"a\", \"b\"])",
                                "torch.eq(torch.index([4, 5], 5), 1)",
                                "torch.eq(torch.count([4, 5, 4], 4), 2)",
                                "torch.eq(torch.mul(2, [0]), [0, 0])",
                                "torch.eq(torch._infer_size([4, 1, 3], [2, 1]), [4, 2, 3])",
                                "torch.eq(torch.__range_length(2, 9, 3), 3)",
                                "torch.eq(torch.__derive_index(2, 2, 3), 8)",
                                "torch.eq(torch.divmod(-7, 2), (-4, 1))",
                                "torch.eq(torch.get({\"a\": 1}, \"b\", 2), 2)",
                                "torch.eq(torch.pop({\"a\": 1}, \"b\", 2), 2)",
                                "torch.eq(torch.setdefault({\"a\": 1}, \"a\", 2), 1)",
                                "torch.eq(torch.join(\", \", [\"a\", \"b\"]), \"a, b\")",
                                "torch.eq(torch.split(\"a,b\", \",\"), [\"a\", \"b\"])",
                                "torch.eq(torch.split(\" a  b \"), [\"a\", \"b\"])",
                                "torch.eq(torch.strip(\" a \"), \"a\")",
                                "torch.eq(torch.replace(\"abab\", \"b\", \"c\"), \"acac\")",
                                "torch.eq(torch.find(\"abc\", \"c\"), 2)",
                                "torch.startswith(\"abc\", \"ab\")",
                                "torch.endswith(\"abc\", \"bc\")",
                                "torch.lt(\"abc\", \"abd\")",
                                "torch.eq(torch.upper(\"aB\"), \"AB\")",
                                "torch.eq(torch.percentFormat(\"%s:%d %.2f%%\", \"a\", 3, 0.5), "
                                "\"a:3 0.50%\")",
                                "torch.eq(torch.atan2(0.0, 1.0), 0.0)",
                                "torch.eq(torch.gcd(12, 18), 6)",
                                "torch.isinf(inf)",
                                "torch.eq(torch.mul([0], 3), [0, 0, 0])",
                                "torch.__contains__({\"a\": 1}, \"a\")",
                                "torch.__not__(torch.__is__(x, None))",
                                "torch.eq(torch.format(\"{}-{}\", 1, \"b\"), \"1-b\")",
                                "torch.eq(torch.size(x), [4, 6])",
                                "torch.eq(torch.size(x, -1), 6)",
                                "torch.eq(ops.prim.dtype(x), 6)",
                                "torch.eq(int(ops.prim.NumToTensor(3)), 3)",
                                "torch.lt(annotate(float, 1.5), inf)",
                                "torch.eq(torch.sum([1, 2, 3]), 6)",
                                "torch.eq(ops.prim.max(2, 3), 3)",
                                "isinstance(x, Tensor)",
                                "torch.all([True, True])",
                                "torch.eq((1, \"a\"), (1, \"a\"))",
                                "torch.eq(torch.values({\"a\": 1, \"b\": 2}), [1, 2])",
                                "torch.is_floating_point(x)"})
    holds(condition);
  CHECK_THAT(problemsOf("    return torch.add(x, [1][2])\n"), Contains("the index 2 is outside"));
  CHECK_THAT(problemsOf("    return torch.view(x, torch._infer_size([2], [3]))\n"),
             Contains("the shapes [2] and [3] do not broadcast"));
  CHECK_THAT(problemsOf("    return y\n"), Contains("uses 'y', which nothing defines"));
  CHECK_THAT(problemsOf("    return torch.relu(x, x)\n"), Contains("takes (a tensor, a tensor)"));
  CHECK_THAT(problemsOf("    return (self).fly(x, )\n"), Contains("has no method 'fly'"));
  CHECK_THAT(problemsOf("    return ops.mine.relu(x)\n"), Contains("--custom-ops"));
}

TEST_CASE("TorchScript: functions inside of functions see the names around them") {
  CHECK(problemsOf(
            "    y = torch.neg(x)\n    def __forked_function():\n      return torch.add(y, x)\n"
            "    z = fork(__forked_function)\n    return torch.wait(z)\n")
            .empty());
  CHECK_THAT(problemsOf("    def __forked_function():\n      return torch.add(y, x)\n"
                        "    z = fork(__forked_function)\n    return x\n"),
             Contains("uses 'y', which nothing defines"));
  CHECK_THAT(problemsOf("    def f():\n      return fork(f)\n    return fork(f)\n"),
             Contains("levels deep"));
}

TEST_CASE("TorchScript: what PyTorch does beside the program's operators") {
  std::string autocast = "class autocast:\n  _enabled : bool\n"
                         "  def __enter__(self: __torch__.modules.autocast) -> int:\n"
                         "    return 0\n"
                         "  def __exit__(self: __torch__.modules.autocast, a: Any, b: Any,\n"
                         "    c: Any) -> NoneType:\n    return None\n"
                         "  def __init__(self: __torch__.modules.autocast,\n"
                         "    enabled: bool=True) -> NoneType:\n"
                         "    self._enabled = enabled\n    return None\n";
  auto inside = [&](const std::string &enabled) {
    std::string products =
        "    _0 = __torch__.modules.autocast.__new__(__torch__.modules.autocast)\n"
        "    _1 = (_0).__init__(" +
        enabled +
        ", )\n    with _0:\n      y = torch.matmul(x, torch.t(x))\n"
        "    return torch.matmul(y, x)\n";
    return importScripted(withBody(products + autocast), typedX());
  };
  Imported off = inside("False");
  REQUIRE(off.problems().empty());
  std::string text = off.text(); // what is computed in f32 whatever --precision says, and the other
  CHECK(llvm::StringRef(text).count("full_precision") == 1);
  CHECK(llvm::StringRef(text).count("prim.dot_general") == 1);
  CHECK_THAT(inside("True").problems(), Contains("autocast is not supported inside a model"));
  CHECK(problemsOf("    return torch.to_dense(x)\n").empty()); // which it is
  CHECK_THAT(problemsOf("    return torch.to_mkldnn(x)\n"),
             Contains("torch.jit.optimize_for_inference"));
  CHECK(problemsOf("    _0 = ops.profiler._record_function_enter_new(\"a\", None)\n"
                   "    return x\n")
            .empty());
}

TEST_CASE("TorchScript: zeros of derivatives in forward mode") {
  std::string zeros =
      "    _0 = torch._new_zeros_with_same_feature_meta(x, torch.slice(x, 0, 0, 3), "
      "self_num_batch_dims=";
  Imported batched = importScripted(withBody(zeros + "1)\n    return _0\n"), typedX());
  REQUIRE(batched.problems().empty());
  CHECK_THAT(batched.text(), Contains("return %0 : tensor<4x3x6xf32>"));
  CHECK_THAT(problemsOf(zeros + "3)\n    return _0\n"), Contains("self has no 3 dimensions"));
}

TEST_CASE("TorchScript: what forward does by self.training, evaluation does as well") {
  auto warned = [](const std::string &body, bool isTrained = true) {
    ImportOptions options = kX;
    options.training = isTrained;
    return importScripted(withBody("    a = self.training\n" + body), options).warnings();
  };
  const std::string branch =
      "    if b:\n      y = torch.neg(x)\n    else:\n      y = x\n    return y\n";
  CHECK_THAT(warned("    b = torch.__not__(a)\n" + branch),
             Contains("does by self.training") && Contains("line 9"));
  CHECK(warned("    b = torch.gt(torch.dim(x), 1)\n" + branch).empty());
  CHECK(warned("    return torch.dropout(x, 0.5, a)\n").empty());
  CHECK(warned("    b = a\n" + branch, false).empty()); // of a model that is not trained
}

TEST_CASE("TorchScript: code that is none", "[hostile]") {
  auto refused = [](const std::string &body, const char *why) {
    INFO(body);
    CHECK_THAT(problemsOf(body), Contains(why));
  };
  refused("    return x @ x\n", "line 7");
  refused("    return (x\n", "a bracket is not closed");
  refused("    return x)\n", "closes that was not opened");
  refused("    return \"x\n", "a string does not end");
  refused("    if x:\n      y\n     z\n", "no block");
  refused("    return 99999999999999999999\n", "64 bits");
  refused("    x = " + std::string(100000, '(') + "\n", "nested too deeply");
  refused("    x = " + std::string(100000, '-') + "\n", "nested too deeply");
  std::string dots = "    x = x";
  for (int i = 0; i < 1000; ++i)
    dots += ".a";
  refused(dots + "\n", "nested too deeply");
  std::string blocks;
  for (size_t depth = 0; depth < 300; ++depth)
    blocks += std::string(4 + depth, ' ') + "if True:\n";
  refused(blocks + std::string(304, ' ') + "pass\n", "nested too deeply");
}

TEST_CASE("TorchScript: programs that do not end or grow without bound", "[hostile]") {
  CHECK_THAT(problemsOf("    while True:\n      pass\n    return x\n"), Contains("statements"));
  CHECK_THAT(problemsOf("    return (self).forward(x, )\n"), Contains("levels deep"));
  CHECK_THAT(problemsOf("    y = [1]\n    while True:\n      y = torch.add(y, y)\n    return x\n"),
             Contains("elements"));
  CHECK_THAT(
      problemsOf("    y = \"a\"\n    while True:\n      y = torch.add(y, y)\n    return x\n"),
      Contains("characters"));
  CHECK_THAT(problemsOf("    for i in range(9223372036854775807):\n      pass\n    return x\n"),
             Contains("elements"));
  CHECK_THAT(problemsOf("    y = [1]\n    z = torch.append(y, y)\n    return y\n"),
             Contains("too many values"));
  CHECK_THAT(problemsOf("    y = [1]\n    z = torch.append(y, y)\n"
                        "    w = torch.format(\"{}\", y)\n    if torch.eq(y, [1, y]):\n"
                        "      pass\n    return x\n"),
             Contains("too many elements"));
}

TEST_CASE("TorchScript: conjugates and negatives are others than the numbers in their memory") {
  auto valuesOf = [](const std::string &bytes, const char *name) {
    Imported model = importScripted(bytes);
    REQUIRE(model.problems().empty());
    const Weight &weight = model.result.weights.find(name)->second;
    std::vector<float> values(weight.bytes.size() / sizeof(float));
    std::memcpy(values.data(), weight.bytes.data(), weight.bytes.size());
    return values;
  };
  using namespace std::string_literals;
  const std::string negative = "X\3\0\0\0neg\x88"s, conjugate = "X\4\0\0\0conj\x88"s;
  auto tagged = [](const std::string &bits) {
    return "ctorch.jit._pickle\nrestore_type_tag\n(}(" + bits + "uX\x0f\0\0\0Dict[str, bool]tR"s;
  };

  std::string real = scriptedModule("exported/cnn/traced");
  auto signs = [&](const std::string &bits) { // of features.0.weight, the first of the pickle
    return replaced(real, "/data.pkl", "q\r)Rt", "q\r)R" + bits + "t");
  };
  std::vector<float> plain = valuesOf(real, "features.0.weight");
  for (const std::string &bits : {"}(" + negative + "u", tagged(negative)}) {
    std::vector<float> found = valuesOf(signs(bits), "features.0.weight");
    REQUIRE(found.size() == plain.size());
    for (size_t i = 0; i < found.size(); ++i)
      CHECK(found[i] == -plain[i]);
  }
  CHECK(valuesOf(signs(tagged(conjugate)), "features.0.weight") == plain);

  std::string complex = scriptedModule("exported/spectra/traced");
  auto turned = [&](const std::string &bits) { // of operator.low
    return replaced(complex, "/data.pkl", "K$K\tK\x03K\x01t\x88h\x08)Rt",
                    "K$K\tK\x03K\x01t\x88h\x08)R" + tagged(bits) + "t");
  };
  std::vector<float> pairs = valuesOf(complex, "operator.low");
  auto holds = [&](const std::string &bits, float re, float im) {
    std::vector<float> found = valuesOf(turned(bits), "operator.low");
    REQUIRE(found.size() == pairs.size());
    for (size_t i = 0; i < found.size(); ++i)
      CHECK(found[i] == (i % 2 ? im : re) * pairs[i]);
  };
  holds(conjugate, 1, -1);
  holds(negative, -1, -1);
  holds(conjugate + negative, -1, 1);
  CHECK(valuesOf(turned(conjugate), "operator.high") == valuesOf(complex, "operator.high"));
}

TEST_CASE("TorchScript: tensors stay inside their storage", "[hostile]") {
  std::string bytes = scriptedModule("exported/cnn/traced");
  auto problems = [&](const std::string &from, const std::string &to) {
    return importScripted(replaced(bytes, "/data.pkl", from, to)).problems();
  };
  using namespace std::string_literals;
  // Of features.0.weight, (8, 3, 3, 3): its number of elements, its offset, and its shape.
  CHECK_THAT(problems("K\xd8t", "K\xd9t"), Contains("should have 217 elements"));
  CHECK_THAT(problems("K\x00(K\x08K\x03"s, "K\x01(K\x08K\x03"s), Contains("outside its storage"));
  CHECK_THAT(problems("(K\x08K\x03"s, "(K\x09K\x03"s), Contains("outside its storage"));
  CHECK_THAT(problems("FloatStorage", "ThingStorage"), Contains("ThingStorage"));
  CHECK_THAT(problems("FloatStorage", "os\nsystem"), Contains("data.pkl"));
}

TEST_CASE("TorchScript: truncated and damaged files", "[hostile]") {
  std::string bytes = scriptedModule("scripted/state/scripted");
  REQUIRE(importScripted(bytes, kWords).result.module);
  std::mt19937 random(1);
  auto survives = [](const std::string &damaged) {
    Imported model = importScripted(damaged, kWords);
    CHECK((model.result.module || !model.result.problems.empty()));
  };
  for (size_t length = 0; length < bytes.size(); length += 97)
    survives(bytes.substr(0, length));
  for (int i = 0; i < 100; ++i) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
    survives(damaged);
  }
  // Below the checksums.
  for (int i = 0; i < 300; ++i)
    survives(
        changed(bytes, i % 2 ? "code/__torch__/modules.py" : "/data.pkl", [&](std::string &text) {
          size_t at = random() % text.size();
          if (i % 4 < 2)
            text[at] = static_cast<char>(random() % 256);
          else if (size_t digit = text.find_first_of("0123456789", at); digit != std::string::npos)
            text[digit] = static_cast<char>('0' + random() % 10);
        }));
}
