#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(FloordivOp, RoundsDown) {
  check_op({.op = "floordiv",
            .inputs = {f32({2}, {7, -7.5}), f32({2}, {2, 2})},
            .expect = {f32({2}, {3, -4})}});
  check_op({.op = "floordiv",
            .inputs = {i32({2, 1}, {7, -7}), i32({2}, {2, -3})},
            .expect = {i32({2, 2}, {3, -3, -4, 2})}});
  expect_refused("floordiv", {i32({1}, {1}), i32({1}, {0})}, {}, "ivision by zero");
}

// 2.984375 / 0.99609375 is 2.996: as a bfloat16 that is 3, which stays 3.
TEST(FloordivOp, RoundsTheQuotientOfSmallFloatsFirst) {
  check_op(
      {.op = "floordiv",
       .inputs = {of(DType::kBFloat16, {1}, {2.984375}), of(DType::kBFloat16, {1}, {0.99609375})},
       .expect = {of(DType::kBFloat16, {1}, {3})}});
}

}  // namespace
}  // namespace spillway::testing
