#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SquaredDifferenceOp, SquaresTheDifference) {
  check_op({.op = "squared_difference",
            .inputs = {f32({2}, {1.5, 2}), f32({2}, {3, -4})},
            .expect = {f32({2}, {2.25, 36})}});
  check_op({.op = "squared_difference",
            .inputs = {i32({2, 1}, {1, 2}), i32({2}, {10, 20})},
            .expect = {i32({2, 2}, {81, 361, 64, 324})}});
}

}  // namespace
}  // namespace spillway::testing
