#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

using ConvInts = std::vector<std::int64_t>;

TEST(Conv2dOp, SumsWhatTheKernelCovers) {
  const Tensor image = f32({1, 3, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const Tensor kernel = f32({2, 2, 1, 1}, {1, 10, 100, 1000});
  check_op({.op = "conv2d",
            .inputs = {image, kernel},
            .expect = {f32({1, 2, 2, 1}, {5421, 6532, 8754, 9865})}});
  check_op({.op = "conv2d",
            .inputs = {image, kernel},
            .attrs = {{"padding", "SAME"}},
            .expect = {f32({1, 3, 3, 1}, {5421, 6532, 603, 8754, 9865, 906, 87, 98, 9})}});
  check_op({.op = "conv2d",
            .inputs = {image, kernel},
            .attrs = {{"strides", ConvInts{2, 2}},
                      {"padding", "EXPLICIT"},
                      {"paddings", ConvInts{1, 0, 0, 1}}},
            .expect = {f32({1, 2, 2, 1}, {2100, 300, 8754, 906})}});
  check_op({.op = "conv2d",
            .inputs = {image, kernel},
            .attrs = {{"dilations", ConvInts{2, 2}}},
            .expect = {f32({1, 1, 1, 1}, {9731})}});
}

TEST(Conv2dOp, GroupsChannelsWhereTheKernelHasFewer) {
  check_op(
      {.op = "conv2d",
       .inputs = {f64({1, 1, 2, 4}, {1, 2, 3, 4, 5, 6, 7, 8}), f64({1, 1, 2, 2}, {1, 2, 3, 4})},
       .expect = {f64({1, 1, 2, 2}, {7, 22, 23, 46})}});
}

TEST(Conv2dOp, ManyImagesAreTheSameWhenShared) {
  check_op({.op = "conv2d",
            .inputs = {f32({6, 32, 32, 8}, std::vector<double>(6 * 32 * 32 * 8, 1)),
                       f32({3, 3, 8, 24}, std::vector<double>(9 * 8 * 24, 2))},
            .expect = {f32({6, 30, 30, 24}, std::vector<double>(6 * 30 * 30 * 24, 144))}});
}

TEST(Conv2dOp, MakesNothingOfNothing) {
  check_op({.op = "conv2d",
            .inputs = {f32({0, 3, 3, 1}, {}), f32({2, 2, 1, 5}, std::vector<double>(20, 1))},
            .expect = {f32({0, 2, 2, 5}, {})}});
}

TEST(Conv2dOp, RefusesWhatDoesNotFit) {
  const Tensor image = f32({1, 2, 2, 3}, std::vector<double>(12, 1));
  expect_refused("conv2d", {image, f32({3, 3, 3, 1}, std::vector<double>(27, 1))}, {},
                 "the window does not fit: 3 > 2");
  expect_refused("conv2d", {image, f32({1, 1, 2, 1}, {1, 1})}, {},
                 "input depth must be evenly divisible by filter depth: 3 vs 2");
  expect_refused("conv2d", {image, f32({1, 1, 1, 2}, {1, 1})}, {},
                 "output depth must be evenly divisible by number of groups: 2 vs 3");
  expect_refused("conv2d", {f32({2, 2, 3}, {}), f32({1, 1, 3, 1}, {})}, {},
                 "input must be 4-dimensional [batch, height, width, channels]: [2,2,3]");
  expect_refused("conv2d", {i32({1, 2, 2, 1}, {}), i32({1, 1, 1, 1}, {})}, {},
                 "is not defined for int32, only for float32 and float64");
  expect_refused("conv2d", {image, f32({1, 1, 3, 1}, {1, 1, 1})}, {{"strides", ConvInts{0, 1}}},
                 "strides must be positive: 0");
}

}  // namespace
}  // namespace spillway::testing
