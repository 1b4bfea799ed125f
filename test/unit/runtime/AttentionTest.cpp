// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attentions as library calls, whatever device makes them.
#include "Calls.h"
#include "core/CheckCall.h"
#include "core/DescribeCall.h"

#include <catch2/catch.hpp>
#include <limits>

using namespace accc;
using namespace accc::test;
using Catch::Matchers::Contains;

static const AttentionSpec spec = {"", 8, 12, 12, 1024, 512, 64, 64};

TEST_CASE("attention: buffers") {
  CHECK(detail::countBuffers(attention(ACCC_CALL_ATTENTION, spec)) == 5);
  CHECK(detail::countBuffers(attention(ACCC_CALL_ATTENTION_BACKWARD, spec)) == 9);
}

TEST_CASE("attention: described") {
  AttentionSpec other = spec;
  CHECK(detail::describe(attention(ACCC_CALL_ATTENTION, spec)) ==
        "attention b 8 h 12 q 1024 k 512 d 64");
  other.keyHeads = 4, other.valueFeatures = 32, other.causal = true;
  CHECK(detail::describe(attention(ACCC_CALL_ATTENTION_BACKWARD, other)) ==
        "attention backward b 8 h 12/4 q 1024 k 512 d 64/32 causal");
}

TEST_CASE("attention: what is wrong") {
  accc_library_call call = attention(ACCC_CALL_ATTENTION, spec);
  using A = accc_attention;
  A &a = call.u.attention;
  auto wrong = [&] { return detail::whyCallIsWrong(call).value_or(""); };
  CHECK(wrong() == "");
  SECTION("extents") {
    int64_t A::*extent = GENERATE(&A::batch, &A::heads, &A::key_heads, &A::queries, &A::keys,
                                  &A::features, &A::value_features);
    a.*extent = 0;
    CHECK(wrong() == "attention: an extent is not positive");
  }
  SECTION("strides") {
    accc_head_view A::*view = GENERATE(&A::q, &A::k, &A::v, &A::y);
    (a.*view).strides[GENERATE(0, 1, 2)] = 0;
    CHECK(wrong() == "attention: a stride is not positive");
  }
  SECTION("offsets") {
    accc_head_view A::*view = GENERATE(&A::q, &A::k, &A::v, &A::y);
    (a.*view).offset = -1;
    CHECK(wrong() == "attention: an offset is negative");
  }
  SECTION("where gradients lie") {
    CHECK(a.dq.strides[0] == 0); // of no interest
    call = attention(ACCC_CALL_ATTENTION_BACKWARD, spec);
    CHECK(wrong() == "");
    accc_head_view A::*member = GENERATE(&A::dy, &A::dq, &A::dk, &A::dv);
    accc_head_view &view = a.*member;
    view.strides[1] = 0;
    CHECK(wrong() == "attention's gradients: a stride is not positive");
    view.offset = -8;
    CHECK(wrong() == "attention's gradients: an offset is negative");
  }
  SECTION("heads") {
    a.key_heads = 5;
    CHECK(wrong() == "attention: its 12 heads do not divide among 5 of keys");
    call.kind = ACCC_CALL_ATTENTION_BACKWARD;
    CHECK_THAT(wrong(), Contains("attention's gradients: its 12 heads"));
  }
  SECTION("the scale") {
    a.scale = std::numeric_limits<double>::infinity();
    CHECK(wrong() == "attention: its scale is not finite");
  }
  SECTION("what is seen") {
    a.causal = 2;
    CHECK(wrong() == "attention: causal is 2, which is neither 0 nor 1");
  }
  SECTION("has_bias") {
    a.has_bias = 2;
    CHECK(wrong() == "attention: has_bias is 2, which is neither 0 nor 1");
  }
  SECTION("the strides of its bias") {
    a.bias_strides[1] = -1;
    CHECK(wrong() == "attention: a stride of its bias is negative");
  }
  SECTION("an epilogue") {
    call.epilogue = ACCC_EPILOGUE_BIAS;
    CHECK(wrong() == "attention: number 1 of accc_epilogue");
    CHECK(detail::countBuffers(call) == 5);
  }
  SECTION("a kind behind the last") {
    call.kind = ACCC_CALL_ATTENTION_BACKWARD + 1;
    CHECK(wrong() == "library call of kind 7 is unknown");
  }
}

TEST_CASE("attention: not on a CPU") {
  auto kind = GENERATE(ACCC_CALL_ATTENTION, ACCC_CALL_ATTENTION_BACKWARD);
  CHECK_THAT(detail::whyCpuCannot(attention(kind, spec)).value_or(""),
             Contains("this runtime has no such call; compile with --no-library-attention"));
}
