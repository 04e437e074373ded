#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(FloormodOp, TakesTheSignOfTheDivisor) {
  check_op({.op = "floormod",
            .inputs = {f32({2}, {7, -7.5}), f32({2}, {2, 2})},
            .expect = {f32({2}, {1, 0.5})}});
  check_op({.op = "floormod",
            .inputs = {i32({2, 1}, {7, -7}), i32({2}, {2, -3})},
            .expect = {i32({2, 2}, {1, -2, 1, -1})}});
  expect_refused("floormod", {i32({1}, {1}), i32({1}, {0})}, {}, "ivision by zero");
}

}  // namespace
}  // namespace spillway::testing
