#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(PowOp, RaisesItemByItem) {
  check_op({.op = "pow",
            .inputs = {f32({3}, {2, 9, 0}), f32({}, {0.5})},
            .expect = {f32({3}, {1.4142135, 3, 0})},
            .tolerance = 1e-6});
  check_op({.op = "pow",
            .inputs = {of(DType::kInt8, {3}, {2, -3, 7}), of(DType::kInt8, {3}, {3, 3, 0})},
            .expect = {of(DType::kInt8, {3}, {8, -27, 1})}});
  check_op({.op = "pow",
            .inputs = {c64({1}, {0, 1}), c64({1}, {2, 0})},
            .expect = {c64({1}, {-1, 0})},
            .tolerance = 1e-6});
}

TEST(PowOp, RefusesNegativeExponentsOfIntegers) {
  expect_refused("pow", {i32({2}, {2, 2}), i32({2}, {1, -1})}, {},
                 "Integers to negative integer powers are not allowed");
}

}  // namespace
}  // namespace spillway::testing
