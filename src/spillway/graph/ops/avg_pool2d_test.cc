#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

using AvgPoolInts = std::vector<std::int64_t>;

TEST(AvgPool2dOp, TakesTheMeanOfWhatLiesInside) {
  const graph::Attrs same = {
      {"ksize", AvgPoolInts{2, 2}}, {"strides", AvgPoolInts{2, 2}}, {"padding", "SAME"}};
  for (const DType type : {DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16}) {
    check_op({.op = "avg_pool2d",
              .inputs = {of(type, {1, 2, 3, 1}, {1, 2, 5, 3, 4, 6})},
              .attrs = same,
              .expect = {of(type, {1, 1, 2, 1}, {2.5, 5.5})}});
  }
  check_op({.op = "avg_pool2d",
            .inputs = {f32({1, 1, 3, 2}, {1, 10, 3, 30, 5, 50})},
            .attrs = {{"ksize", AvgPoolInts{1, 2}},
                      {"strides", AvgPoolInts{1, 1}},
                      {"padding", "VALID"}},
            .expect = {f32({1, 1, 2, 2}, {2, 20, 4, 40})}});
}

TEST(AvgPool2dOp, RefusesIntegers) {
  expect_refused("avg_pool2d", {i32({1, 1, 1, 1}, {1})},
                 {{"ksize", AvgPoolInts{1, 1}}, {"strides", AvgPoolInts{1, 1}}},
                 "is not defined for int32");
}

}  // namespace
}  // namespace spillway::testing
