#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(AddOp, AddsAndBroadcasts) {
  check_op({.op = "add",
            .inputs = {f32({2}, {1.5, 2}), f32({2}, {3, -4})},
            .expect = {f32({2}, {4.5, -2})}});
  check_op({.op = "add",
            .inputs = {i32({2, 1}, {1, 2}), i32({3}, {10, 20, 30})},
            .expect = {i32({2, 3}, {11, 21, 31, 12, 22, 32})}});
  expect_refused("add", {f32({2}, {1, 2}), f32({3}, {1, 2, 3})}, {},
                 "Incompatible shapes: [2] vs. [3]");
}

}  // namespace
}  // namespace spillway::testing
