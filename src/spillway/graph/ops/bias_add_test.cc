#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(BiasAddOp, AddsANumberToEachPlaceOfTheLastAxis) {
  check_op({.op = "bias_add",
            .inputs = {f32({2, 1, 2}, {1, 2, 3, 4}), f32({2}, {10, 20})},
            .expect = {f32({2, 1, 2}, {11, 22, 13, 24})}});
  check_op({.op = "bias_add",
            .inputs = {i32({1, 2}, {1, 2}), i32({2}, {3, 4})},
            .expect = {i32({1, 2}, {4, 6})}});
}

TEST(BiasAddOp, RefusesOtherShapesAndNeverBroadcasts) {
  expect_refused("bias_add", {f32({2, 2}, {1, 1, 1, 1}), f32({1}, {1})}, {},
                 "Must provide as many biases as the last dimension of the input tensor: [1] vs.");
  expect_refused("bias_add", {f32({2}, {1, 1}), f32({2}, {1, 1})}, {},
                 "Input tensor must be at least 2D: [2]");
  expect_refused("bias_add", {f32({2, 2}, {1, 1, 1, 1}), f32({1, 2}, {1, 1})}, {},
                 "Biases must be 1D: [1,2]");
}

}  // namespace
}  // namespace spillway::testing
