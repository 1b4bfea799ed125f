// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of torch.export: names, state, open dimensions, writes, and damaged files.
#include "ArchiveEdit.h"
#include "ModelText.h"

#include "frontend/torchexport/Import.h"

#include "llvm/Support/MemoryBuffer.h"
#include <catch2/catch.hpp>

#include <random>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

namespace {

/// The bytes of test/training/exported/CASE/FILE.pt2.
std::string program(const std::string &name, const std::string &file = "export") {
  auto buffer = llvm::MemoryBuffer::getFile(ACCC_EXPORTED "/" + name + "/" + file + ".pt2");
  REQUIRE(buffer);
  return (*buffer)->getBuffer().str();
}

Imported import(const std::string &bytes, const ImportOptions &options = {}) {
  Imported imported;
  imported.context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  imported.result = importTorchExportBytes(bytes, options, *imported.context);
  return imported;
}

ImportOptions sized(std::map<std::string, int64_t> dimensions) {
  ImportOptions options;
  options.dimensions = std::move(dimensions);
  return options;
}

constexpr const char kModel[] = "models/model.json";
constexpr const char kConfig[] = "model_weights_config.json";

} // namespace

TEST_CASE("torch.export: names and roles are the module's") {
  Imported model = import(program("written"), sized({{"image.0", 3}}));
  REQUIRE(model.problems().empty());
  CHECK_THAT(model.role("image"), Contains("input"));
  CHECK_THAT(model.role("conv.weight"), Contains("parameter"));
  CHECK(model.argument("conv.weight", "accc.frozen").empty());
  CHECK_FALSE(model.argument("scale", "accc.frozen").empty()); // requires_grad=False
  for (const char *buffer : {"average", "norm.running_mean", "norm.num_batches_tracked"})
    CHECK_THAT(model.role(buffer), Contains("buffer"));
  CHECK_THAT(model.role("grid"), Contains("none")); // not persistent: a constant
  CHECK(model.result.outputs == std::vector<std::string>{"loss", "outputs_0", "outputs_1"});
  CHECK(import(program("indexed"), sized({{"values.0", 3}})).result.outputs.size() == 6);
  // Integers among the parameters are no parameters.
  for (const char *name : {"codes", "kept"})
    CHECK_THAT(import(program("coded")).role(name), Contains("none"));
}

TEST_CASE("torch.export: outputs that would have the name of another") {
  // {"loss": ..., "outputs": (..., ...)}
  std::string bytes = replaced(program("written"), kModel, R"([\\\"loss\\\", \\\"outputs\\\"])",
                               R"([\\\"outputs_0\\\", \\\"outputs\\\"])");
  Imported model = import(bytes, sized({{"image.0", 3}}));
  CHECK(model.problems().empty());
  CHECK(model.result.outputs == std::vector<std::string>{"outputs_0", "outputs_0_", "outputs_1"});
}

TEST_CASE("torch.export: inputs are named as forward names its arguments") {
  // PyTorch writes their names in lower case, with numbers where they are equal then.
  std::string bytes =
      replaced(program("written"), kModel, R"([\\\"image\\\"])", R"([\\\"Image\\\"])");
  Imported model = import(bytes, sized({{"Image.0", 3}}));
  CHECK(model.problems().empty());
  CHECK_THAT(model.role("Image"), Contains("input"));
  CHECK_THAT(import(bytes).problems(), Contains("-D Image.0=N"));

  auto namedAs = [](const std::string &first, const std::string &second) {
    return changed(program("measured"), kModel, [&](std::string &text) {
      auto replace = [&](const std::string &from, const std::string &to) {
        for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at))
          text.replace(at, from.size(), to), at += to.size();
      };
      replace(R"("rows")", R"("x_1")");
      replace(R"([\\\"x\\\", \\\"rows\\\")", first + ", " + second);
    });
  };
  auto keys = [](const char *name) { return R"(\\\")" + std::string(name) + R"(\\\")"; };
  auto sizes = [](const std::string &a, const std::string &b) {
    return sized({{a + ".0", 3}, {a + ".1", 4}, {b + ".0", 7}});
  };
  std::string list = "[";
  CHECK(import(namedAs(list + keys("X"), keys("x")), sizes("X", "x")).problems().empty());
  CHECK(import(namedAs(list + keys("x"), keys("X")), sizes("x", "X")).problems().empty());
  // What is another name, or that of two, stays as it is in the graph.
  CHECK(import(namedAs(list + keys("y"), keys("X")), sizes("x", "X")).problems().empty());
  CHECK(import(namedAs(list + keys("x"), keys("x")), sizes("x", "x_1")).problems().empty());
}

TEST_CASE("torch.export: tied parameters are one, and their other names are kept") {
  Imported model = import(program("language"), sized({{"words.0", 3}}));
  REQUIRE(model.problems().empty());
  REQUIRE(model.result.aliases.size() == 1);
  CHECK(model.result.aliases.begin()->second.size() == 1);
  CHECK(model.result.weights.contains(model.result.aliases.begin()->first));
  CHECK_FALSE(model.result.weights.contains(model.result.aliases.begin()->second.front()));
}

TEST_CASE("torch.export: open dimensions") {
  std::string bytes = program("indexed");
  CHECK_THAT(import(bytes).problems(), Contains("fix them with -D values.0=N"));
  CHECK(import(bytes, sized({{"places.0", 3}})).problems().empty()); // the same symbol
  CHECK(import(bytes, sized({{"places.0", 3}, {"values.0", 3}})).problems().empty());
  CHECK_THAT(import(bytes, sized({{"places.0", 3}, {"values.0", 4}})).problems(),
             Contains("the same as another dimension, which is 4"));
  CHECK_THAT(import(bytes, sized({{"values.0", 17}})).problems(), Contains("2 to 16"));
  CHECK_THAT(import(bytes, sized({{"values.0", 3}, {"values.1", 6}})).problems(),
             Contains("the model fixes it at 5"));
  CHECK_THAT(import(bytes, sized({{"value.0", 3}})).problems(),
             Contains("did you mean 'values.0'"));
  ImportOptions any;
  any.openDimension = 4;
  Imported taken = import(bytes, any);
  CHECK(taken.problems().empty());
  CHECK_THAT(taken.warnings(), Contains("are taken as 4"));
}

TEST_CASE("torch.export: dimensions that follow from others") {
  std::string bytes = program("measured");
  auto problemsOf = [&](std::map<std::string, int64_t> sizes) {
    return import(bytes, sized(std::move(sizes))).problems();
  };
  CHECK(problemsOf({{"x.0", 3}, {"x.1", 4}}).empty()); // rows.0 is 2 * 3 + 1
  CHECK(problemsOf({{"rows.0", 7}, {"x.1", 4}}).empty());
  CHECK(problemsOf({{"rows.0", 7}, {"x.0", 3}, {"x.1", 4}}).empty());
  CHECK_THAT(problemsOf({{"rows.0", 9}, {"x.0", 3}, {"x.1", 4}}), Contains("by which it is 7"));
  CHECK_THAT(problemsOf({{"rows.0", 8}, {"x.1", 4}}), Contains("for no whole number"));
  CHECK_THAT(problemsOf({{"rows.0", 35}, {"x.1", 4}}), Contains("2 to 16"));
  CHECK_THAT(problemsOf({{"x.1", 4}}), Contains("-D x.0=N"));
  ImportOptions any;
  any.openDimension = 5;
  CHECK(import(bytes, any).problems().empty());
}

TEST_CASE("torch.export: what the program takes for granted of sizes") {
  auto problemsOf = [](const std::string &guard) {
    std::string bytes = replaced(program("measured"), kModel, "\"guards_code\": [",
                                 "\"guards_code\": [\"" + guard + "\", ");
    return import(bytes, sized({{"x.0", 3}, {"x.1", 4}})).problems();
  };
  for (const char *guard :
       {"L['x'].size()[0] > 3", "L['rows'].size()[0] % 4 == 0", "not (L['x'].size()[1] >= 2)",
        "L['x'].size()[1] // 2 + 1 != 3 or 5 <= L['rows'].size()[0] < 7",
        "math.trunc(0.5 * torch.sym_float(L['x'].size()[0])) == 2",
        "((-4)*L['x'].size()[0]) + 2**3 >= 2 and True", "Mod(L['rows'].size()[0], 7) != 0"})
    CHECK_THAT(problemsOf(guard), Contains("was exported for inputs with " + std::string(guard)));
  for (const char *guard :
       {"L['x'].size()[0] < L['x'].size()[1] <= 4", "L['x'].size()[1] / 8 == 0.5",
        "L['x'].stride()[0] == 1", "L['y'].size()[0] == 1", "3 ==", "__import__('os') == 0"})
    CHECK(problemsOf(guard).empty()); // it holds, or is not known
}

TEST_CASE("torch.export: a decomposed program may have lost where gradients stop") {
  ImportOptions training = sized({{"image.0", 3}}), inference = training;
  inference.training = false;
  CHECK(import(program("written"), training).warnings().empty());
  CHECK_THAT(import(program("written", "core"), training).warnings(), Contains("torch.no_grad()"));
  CHECK(import(program("written", "core"), inference).warnings().empty());
}

TEST_CASE("torch.export: complex numbers are pairs of reals") {
  std::string bytes = program("spectra");
  Imported model = import(bytes);
  REQUIRE(model.problems().empty());
  auto shapeOf = [&](const char *name) {
    return model.result.weights.find(name)->second.type.getShape();
  };
  CHECK_THAT(model.role("operator.low"), Contains("parameter"));
  CHECK(shapeOf("operator.low") == llvm::ArrayRef<int64_t>{4, 4, 3, 3, 2});
  CHECK_THAT(model.role("attention.turns"), Contains("buffer"));
  CHECK(shapeOf("attention.turns") == llvm::ArrayRef<int64_t>{12, 8, 2});
  // What has no meaning for them names itself and its node.
  CHECK_THAT(
      import(replaced(bytes, kModel, "torch.ops.aten.abs.default", "torch.ops.aten.erf.default"))
          .problems(),
      Contains("(aten.erf.default): the operator does not take complex numbers, which the "
               "argument 'self' has"));
}

TEST_CASE("torch.export: what is not supported is named") {
  std::string bytes = program("cnn");
  auto problemsOf = [&](const std::string &from, const std::string &to) {
    return import(replaced(bytes, kModel, from, to)).problems();
  };
  CHECK_THAT(problemsOf("torch.ops.aten.silu.default", "torch.ops.aten.no_such.default"),
             Contains("(aten.no_such.default): the operator is not supported"));
  CHECK_THAT(problemsOf("torch.ops.aten.silu.default", "torch.ops.mine.silu.default"),
             Contains("name the shared library that implements it with --custom-ops"));
  CHECK_THAT(problemsOf("\"major\": 8", "\"major\": 9"), Contains("version 9 of the format"));
  CHECK(problemsOf("\"minor\": ", "\"minor\": 9").empty()); // a newer one of the same format
  CHECK_THAT(problemsOf("\"ceil_mode\"", "\"tile_mode\""),
             Contains("the argument 'tile_mode' is not supported"));
  CHECK_THAT(problemsOf("\"major\": 8", "\"major\": 4"), Contains("5 to 8 are supported"));
  CHECK_THAT(
      import(renamed(bytes, "export/models/model.json", "export/serialized_exported_program.json"))
          .problems(),
      Contains("no record 'serialized_state_dict.pt'"));
  CHECK_THAT(import(renamed(bytes, "export/models/model.json", "export/code/model.py")).problems(),
             Contains("no exported program"));
  CHECK_THAT(import("PK\x03\x04 something else").problems(), Contains("no zip archive"));
  CHECK_THAT(import("").problems(), Contains("0 records"));
  CHECK_THAT(import(changed(bytes, kModel, [](std::string &text) { text = "{"; })).problems(),
             Contains("not JSON"));
  CHECK_THAT(import(changed(bytes, kModel,
                            [](std::string &text) {
                              text = std::string(100000, '[') + std::string(100000, ']');
                            }))
                 .problems(),
             Contains("nested too deeply"));
}

TEST_CASE("torch.export: results of another type than the file says") {
  std::string bytes =
      replaced(program("written"), kModel, R"("conv2d": {"dtype": 7)", R"("conv2d": {"dtype": 8)");
  CHECK_THAT(import(bytes, sized({{"image.0", 3}})).problems(),
             Contains("gives f32[3, 4, 5, 5], where the file says f64[3, 4, 5, 5]"));
}

TEST_CASE("torch.export: a loop ends by what is known") {
  std::string bytes = program("steered"),
              read = R"(.lt.Scalar", "inputs": [{"name": "self", "arg": )";
  CHECK(import(bytes).problems().empty());
  CHECK_THAT(import(replaced(bytes, kModel, read + R"({"as_tensor": {"name": "arg0_1"}})",
                             read + R"({"as_tensor": {"name": "arg1_1"}})"))
                 .problems(),
             Contains("(higher_order.while_loop): a loop that ends depending on data"));
}

TEST_CASE("torch.export: numbers that are elements of tensors must be known where they are sizes") {
  std::string bytes = program("itemized"), read = R"(.item.default", "inputs": [{"name": "self", )"
                                                  R"("arg": {"as_tensor": {"name": ")";
  CHECK(import(bytes).problems().empty());
  CHECK_THAT(import(replaced(bytes, kModel, read + "b_padding", read + "sum_1")).problems(),
             Contains("the size must be known at compile time, but the node 'gt' (aten.gt.Scalar) "
                      "computes it from the input 'x'"));
  CHECK_THAT(import(replaced(bytes, kModel, read + "b_padding", read + "p_mix_bias")).problems(),
             Contains("(aten.item.default): a tensor of shape [6] is no number"));
  CHECK_THAT(import(replaced(bytes, kModel, read + "b_rate", read + "arange")).problems(),
             Contains("(aten.item.default): a tensor of 2 elements is no number"));
}

TEST_CASE("torch.export: quotients of sizes that depend on data are floats of Python") {
  std::string text = import(program("gleaned")).text();
  CHECK_THAT(text, Contains("prim.div") && Contains("tensor<f64>"));
}

TEST_CASE("torch.export: parameters that the program writes into") {
  std::string bytes = program("taught");
  Imported model = import(bytes);
  REQUIRE(model.problems().empty());
  CHECK_THAT(model.role("teacher.weight"), Contains("buffer"));
  CHECK_THAT(model.role("teacher.bias"), Contains("parameter"));
  CHECK_THAT(model.role("last"), Contains("buffer")); // which nothing reads
  Imported trained =
      import(replaced(bytes, kConfig, "\"requires_grad\": false", "\"requires_grad\": true"));
  REQUIRE(trained.problems().empty());
  CHECK_THAT(trained.role("teacher.weight"), Contains("parameter"));
}

TEST_CASE("torch.export: attributes that the program writes into") {
  Imported model = import(program("counted"));
  REQUIRE(model.problems().empty());
  CHECK_THAT(model.role("average"), Contains("buffer"));
  CHECK_THAT(model.role("calls"), Contains("buffer"));
}

TEST_CASE("torch.export: torch.vmap") {
  std::string bytes = program("mapped"), problems = import(program("refused/turned")).problems();
  CHECK(import(bytes).problems().empty());
  CHECK_THAT(problems,
             Contains("(aten.t_.default): an operator that makes its argument a view is"));
  CHECK_THAT(problems, Contains("supported with randomness='error' only"));
  // Outputs that could not be imported are there all the same, for --loss.
  CHECK(import(program("refused/turned")).result.outputs ==
        std::vector<std::string>{"output_0", "output_1"});
  std::string open = R"(_vmap_increment_nesting", "inputs": [{"name": "", "arg": {"as_int": )";
  CHECK_THAT(import(replaced(bytes, kModel, open + "2", open + "7")).problems(),
             Contains("torch.vmap maps over a dimension that the tensor does not have"));
}

TEST_CASE("torch.export: what cannot be computed without knowing what a mask selects") {
  std::string problems = import(program("refused/cut")).problems();
  for (std::string node :
       {"slice_1", "linalg_vector_norm", "max_1", "matmul", "embedding", "embedding_1"}) {
    INFO(node);
    CHECK_THAT(problems, Contains("'" + node + "' (aten."));
  }
}

TEST_CASE("torch.export: memory that is shared") {
  CHECK_THAT(import(program("refused/shared")).problems(),
             Contains("the buffer 'copy' shares its memory with the parameter 'scale'"));
  ImportOptions inference;
  inference.training = false;
  for (auto [name, problem] :
       {std::pair("transposed", "the parameter 'decoder' and the parameter 'encoder' share a part"),
        std::pair("expanded", "elements of the parameter 'scale' share their memory"),
        std::pair("halved",
                  "the parameters 'scale' and 'fixed' share their memory, and only one")}) {
    std::string bytes = program(std::string("refused/") + name);
    CHECK_THAT(import(bytes).problems(), Contains(problem));
    CHECK(import(bytes, inference).problems().empty()); // nothing changes
  }
}

TEST_CASE("torch.export: a joint graph's loss and gradients are results") {
  std::string bytes = program("language", "joint");
  auto open = [](const std::string &bytes) { return import(bytes, sized({{"words.0", 3}})); };
  Imported model = open(bytes);
  REQUIRE(model.problems().empty());
  CHECK(model.warnings().empty()); // decomposed, but nothing is derived
  CHECK_THAT(model.outputRole("loss"), Contains("loss"));
  CHECK_THAT(model.outputRole("outputs"), Contains("output"));
  CHECK_THAT(model.outputRole("grad.norm.weight"), Contains("gradient"));
  CHECK_THAT(model.outputRole("grad.head.weight"), Contains("none")); // tied, under its first name
  CHECK_THAT(model.outputRole("grad.embedding.weight"), Contains("gradient"));

  auto problemsOf = [&](const std::string &from, const std::string &to) {
    return open(replaced(bytes, kModel, from, to)).problems();
  };
  // The gradient of one parameter as that of another.
  auto gradientOf = [&](const std::string &to) {
    return open(changed(bytes, kModel,
                        [&](std::string &text) {
                          std::string from = "blocks.0.0.weight";
                          text.replace(text.find(from, text.find("gradient_to_parameter")),
                                       from.size(), to);
                        }))
        .problems();
  };
  CHECK_THAT(gradientOf("blocks.0.0.bias"),
             Contains("two gradients for the parameter 'blocks.0.0.bias'"));
  CHECK_THAT(gradientOf("blocks.0.1.bias"),
             Contains("the gradient of the parameter 'blocks.0.1.bias' has the shape [16]"));
  CHECK_THAT(gradientOf("order"),
             Contains("a gradient for 'order', which is none of its parameters"));
  std::string loss = "{\"loss_output\": {\"arg\": {\"name\": \"";
  CHECK_THAT(problemsOf(loss, loss + "p_norm_weight\"}, \"was\": {\"name\": \""),
             Contains("the loss 'p_norm_weight' is no single float"));
  CHECK_THAT(problemsOf("\"gradient_to_parameter\"", "\"gradient_to_something\""),
             Contains("outputs of the kind 'gradient_to_something'"));
}

TEST_CASE("torch.export: tensors stay inside their storage", "[hostile]") {
  std::string bytes = program("cnn");
  auto problemsOf = [&](const std::string &from, const std::string &to) {
    return import(replaced(bytes, kConfig, from, to)).problems();
  };
  std::string offset = "\"storage_offset\": {\"as_int\": 0}";
  CHECK_THAT(problemsOf(offset, "\"storage_offset\": {\"as_int\": 1}"),
             Contains("outside its storage"));
  CHECK_THAT(problemsOf(offset, "\"storage_offset\": {\"as_int\": 9223372036854775807}"),
             Contains("outside its storage"));
  CHECK_FALSE(problemsOf(offset, "\"storage_offset\": {\"as_int\": -1}").empty());
  CHECK_FALSE(problemsOf("\"as_int\": 8", "\"as_int\": 80").empty());
  CHECK_FALSE(problemsOf("\"as_int\": 8", "\"as_int\": -8").empty());
  CHECK_FALSE(
      problemsOf("\"strides\": [{\"as_int\": ", "\"strides\": [{\"as_int\": 4611686018427387904")
          .empty());
  CHECK_THAT(problemsOf("\"use_pickle\": false", "\"use_pickle\": true"), Contains("pickled"));
  CHECK_THAT(problemsOf("weight_0", "weight_99"), Contains("no record"));
}

TEST_CASE("torch.export: archives before PyTorch 2.8") {
  for (const char *file : {"torch24", "torch25", "torch26", "torch27"}) {
    Imported model = import(program("language", file), sized({{"words.0", 3}}));
    REQUIRE(model.problems().empty());
    CHECK(model.warnings().empty());
    // The signature has one name of the tied parameters, the state both.
    CHECK(model.result.aliases ==
          std::map<std::string, std::vector<std::string>>{{"embedding.weight", {"head.weight"}}});
    CHECK_THAT(import(program("parts", file)).role("average"), Contains("buffer"));
  }
  Imported model = import(program("written", "torch26"), sized({{"image.0", 3}}));
  REQUIRE(model.problems().empty());
  CHECK_FALSE(model.argument("scale", "accc.frozen").empty()); // requires_grad=False
  CHECK(model.argument("shift", "accc.frozen").empty());
  CHECK_THAT(model.role("grid"), Contains("none")); // not persistent: a constant
  // Infinities, which are no JSON, and one in a text behind a quote.
  std::string words = program("indexed", "torch26");
  REQUIRE(import(words, sized({{"values.0", 3}})).problems().empty());
  std::string told = replaced(words, "exported_program.json",
                              "\"minor\": ", "\"of\": \"\\\"-Infinity\", \"minor\": ");
  CHECK(import(told, sized({{"values.0", 3}})).problems().empty());
}

TEST_CASE("torch.export: damaged archives before PyTorch 2.8", "[hostile]") {
  std::string bytes = program("parts", "torch26");
  constexpr const char state[] = "serialized_state_dict.pt", old[] = "exported_program.json";
  auto without = [&](const std::string &from, const std::string &to) {
    return import(replaced(bytes, old, from, to)).problems();
  };
  CHECK_THAT(without("\"major\": 8", "\"major\": 9"), Contains("version 9 of the format"));
  CHECK_THAT(without("\"parameter_name\": \"first\"", "\"parameter_name\": \"last\""),
             Contains("no tensor 'last'"));
  // Of one length, inside an archive in the archive.
  CHECK_THAT(import(replaced(bytes, state, "first", "worst")).problems(),
             Contains("cannot be read: the archive is damaged"));
  CHECK_THAT(
      import(changed(bytes, state, [](std::string &text) { text = "no archive"; })).problems(),
      Contains("no zip archive"));
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    Imported model = import(changed(bytes, i % 2 ? state : old, [&](std::string &text) {
      text[random() % text.size()] ^= static_cast<char>(1 << random() % 8);
    }));
    CHECK((model.result.module || !model.result.problems.empty()));
  }
}

TEST_CASE("torch.export: truncated and damaged files", "[hostile]") {
  std::string bytes = program("stopped");
  REQUIRE(import(bytes).result.module);
  std::mt19937 random(1);
  auto survives = [](const std::string &damaged) {
    Imported model = import(damaged);
    CHECK((model.result.module || !model.result.problems.empty()));
  };
  for (size_t length = 0; length < bytes.size(); length += 97)
    survives(bytes.substr(0, length));
  for (int i = 0; i < 300; ++i) {
    std::string damaged = bytes;
    damaged[random() % damaged.size()] ^= static_cast<char>(1 << random() % 8);
    survives(damaged);
  }
  // Below the checksums: one character or one number of the program is another.
  for (const std::string &each : {bytes, program("stopped", "joint_aten")})
    for (int i = 0; i < 300; ++i)
      survives(changed(each, i % 3 ? kModel : kConfig, [&](std::string &text) {
        size_t at = random() % text.size();
        if (i % 2)
          text[at] = static_cast<char>(' ' + random() % 95);
        else if ((at = text.find_first_of("0123456789", at)) != std::string::npos)
          text.replace(at, 1, std::to_string(static_cast<int64_t>(random()) << random() % 32));
      }));
}
