#include <cmath>

#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

using MaxPoolInts = std::vector<std::int64_t>;

TEST(MaxPool2dOp, TakesTheLargestOfEachWindow) {
  const graph::Attrs two = {
      {"ksize", MaxPoolInts{2, 2}}, {"strides", MaxPoolInts{2, 2}}, {"padding", "VALID"}};
  check_op({.op = "max_pool2d",
            .inputs = {f32({1, 2, 4, 1}, {1, 5, -3, -4, 3, 2, -9, -2})},
            .attrs = two,
            .expect = {f32({1, 1, 2, 1}, {5, -2})}});
  check_op({.op = "max_pool2d",
            .inputs = {i32({1, 2, 2, 2}, {1, 8, 2, 7, 3, 6, 4, 5})},
            .attrs = two,
            .expect = {i32({1, 1, 1, 2}, {4, 8})}});
  check_op(
      {.op = "max_pool2d",
       .inputs = {f32({1, 1, 3, 1}, {-1, -2, -3})},
       .attrs = {{"ksize", MaxPoolInts{2, 2}}, {"strides", MaxPoolInts{1, 2}}, {"padding", "SAME"}},
       .expect = {f32({1, 1, 2, 1}, {-1, -3})}});
  check_op({.op = "max_pool2d",
            .inputs = {f32({1, 1, 2, 1}, {-1, -2})},
            .attrs = {{"ksize", MaxPoolInts{1, 2}},
                      {"strides", MaxPoolInts{1, 1}},
                      {"padding", "EXPLICIT"},
                      {"paddings", MaxPoolInts{0, 0, 1, 1}}},
            .expect = {f32({1, 1, 3, 1}, {-1, -1, -2})}});
}

TEST(MaxPool2dOp, WhatIsNotANumberStays) {
  check_op({.op = "max_pool2d",
            .inputs = {f32({1, 1, 4, 1}, {NAN, 1, 1, NAN})},
            .attrs = {{"ksize", MaxPoolInts{1, 2}},
                      {"strides", MaxPoolInts{1, 2}},
                      {"padding", "VALID"}},
            .expect = {f32({1, 1, 2, 1}, {NAN, NAN})}});
}

TEST(MaxPool2dOp, ManyImagesAreTheSameWhenShared) {
  check_op(
      {.op = "max_pool2d",
       .inputs = {f32({4, 64, 64, 32}, std::vector<double>(4 * 64 * 64 * 32, 3))},
       .attrs = {{"ksize", MaxPoolInts{3, 3}}, {"strides", MaxPoolInts{1, 1}}, {"padding", "SAME"}},
       .expect = {f32({4, 64, 64, 32}, std::vector<double>(4 * 64 * 64 * 32, 3))}});
}

TEST(MaxPool2dOp, RefusesWindowsWithoutItems) {
  expect_refused("max_pool2d", {f32({1, 2, 2, 1}, {1, 1, 1, 1})},
                 {{"ksize", MaxPoolInts{0, 2}}, {"strides", MaxPoolInts{1, 1}}},
                 "ksize must be two positive numbers");
}

}  // namespace
}  // namespace spillway::testing
