#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(AddNOp, AddsTensorsOfOneShape) {
  const Tensor x = f32({2}, {1, 2});
  check_op(
      {.op = "add_n", .inputs = {x, x, x, x, x, x, x, x, x, x}, .expect = {f32({2}, {10, 20})}});
  check_op({.op = "add_n", .inputs = {i32({}, {3})}, .expect = {i32({}, {3})}});
  expect_refused("add_n", {x, f32({3}, {})}, {},
                 "must have the same size and shape.  Input 0: [2] != input 1: [3]");
}

}  // namespace
}  // namespace spillway::testing
