// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Variables that lie in memory in another order than users see them.
#include "core/VariableOrder.h"
#include "Support.h"
#include "accc/accc.h"

#include <numeric>

using namespace accc;
using namespace accc::test;

TEST_CASE("variable order: a variable that lies in another order is seen as its shape says") {
  Model model = Model::load(FAKE_MODELS "/ordered.so");
  const accc_variable &scale = *model.find_variable("scale");
  std::vector<int64_t> order = {1, 0}, plain = {1, 2, 3, 4, 5, 6}, laid(6), back(6);
  detail::toMemoryOrder(scale.tensor, order, plain.data(), laid.data());
  CHECK(laid == std::vector<int64_t>{1, 4, 2, 5, 3, 6});
  detail::fromMemoryOrder(scale.tensor, order, laid.data(), back.data());
  CHECK(back == plain);

  auto valuesOf = [](Tensor tensor) {
    auto values = tensor.data<int64_t>();
    return std::vector<int64_t>(values.begin(), values.end());
  };
  auto valuesIn = [&](Session &session) { return valuesOf(session.variable("scale")); };
  Session session(model);
  CHECK(valuesIn(session) == std::vector<int64_t>{7, 8, 9, 10, 11, 12});
  session.set_variable("scale", Tensor::of<int64_t>({2, 3}, {1, 2, 3, 4, 5, 6}));
  CHECK(valuesIn(session) == plain);
  Folder folder;
  for (bool checkpoint : {false, true}) {
    std::string file = folder / "values.safetensors";
    checkpoint ? session.save_checkpoint(file) : session.save(file);
    SafetensorsReader reader(file);
    CHECK(valuesOf(reader.read(*reader.find("scale"))) == plain);
    Session other(model);
    checkpoint ? other.load_checkpoint(file) : other.load(file);
    CHECK(valuesIn(other) == plain);
  }
}

TEST_CASE("variable order: any number of dimensions, and none") {
  std::vector<int64_t> shape = {2, 3, 2, 2}, order = {0, 2, 3, 1};
  accc_tensor tensor = {"w", ACCC_F32, 4, shape.data()};
  std::vector<float> plain(24), laid(24), back(24);
  std::iota(plain.begin(), plain.end(), 0.f);
  detail::toMemoryOrder(tensor, order, plain.data(), laid.data());
  for (int64_t o = 0; o < 2; ++o)
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t k = 0; k < 4; ++k)
        CHECK(laid[size_t((o * 4 + k) * 3 + i)] == plain[size_t((o * 3 + i) * 4 + k)]);
  detail::fromMemoryOrder(tensor, order, laid.data(), back.data());
  CHECK(back == plain);
  shape[2] = 0;
  detail::toMemoryOrder(tensor, order, nullptr, nullptr);
  CHECK(detail::isOrder(order));
  CHECK(detail::isOrder({}));
  CHECK_FALSE(detail::isOrder(std::vector<int64_t>{0, 2}));
  CHECK_FALSE(detail::isOrder(std::vector<int64_t>{0, -1}));
  CHECK_FALSE(detail::isOrder(std::vector<int64_t>{1, 1}));
}
