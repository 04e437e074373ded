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

// 256 + 0.75 is 256 as a bfloat16, its square 65536; that of 256.75 would be 66048.
TEST(SquaredDifferenceOp, RoundsTheDifferenceOfSmallFloatsFirst) {
  check_op({.op = "squared_difference",
            .inputs = {of(DType::kBFloat16, {1}, {256}), of(DType::kBFloat16, {1}, {-0.75})},
            .expect = {of(DType::kBFloat16, {1}, {65536})}});
}

}  // namespace
}  // namespace spillway::testing
