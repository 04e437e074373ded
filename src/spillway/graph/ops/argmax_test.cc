#include <limits>

#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ArgmaxOp, GivesTheFirstOfTheLargest) {
  check_op({.op = "argmax",
            .inputs = {f32({2, 3}, {1, 5, 5, 4, 5, 6})},
            .attrs = {{"axis", std::vector<std::int64_t>{1}}},
            .expect = {of(DType::kInt64, {2}, {1, 2})}});
  check_op({.op = "argmax",
            .inputs = {i32({2, 3}, {1, 5, 5, 4, 5, 6})},
            .attrs = {{"axis", std::vector<std::int64_t>{0}}, {"output_type", DType::kInt32}},
            .expect = {i32({3}, {1, 0, 1})}});
}

TEST(ArgmaxOp, PassesOverNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check_op({.op = "argmax",
            .inputs = {f32({2, 3}, {nan, 2, 3, nan, nan, nan})},
            .attrs = {{"axis", std::vector<std::int64_t>{1}}},
            .expect = {of(DType::kInt64, {2}, {2, 0})}});
}

TEST(ArgmaxOp, RefusesAnEmptyAxisAndNoOther) {
  const graph::Attrs first{{"axis", std::vector<std::int64_t>{0}}};
  check_op({.op = "argmax",
            .inputs = {f32({2, 0}, {})},
            .attrs = {{"axis", std::vector<std::int64_t>{0}}, {"output_type", DType::kUInt16}},
            .expect = {of(DType::kUInt16, {0}, {})}});
  expect_refused("argmax", {f32({0, 2}, {})}, first, "Reduction axis 0 is empty in shape [0,2]");
  expect_refused("argmax", {f32({}, {1})}, first, "Expected dimension in the range [0, 0)");
}

}  // namespace
}  // namespace spillway::testing
