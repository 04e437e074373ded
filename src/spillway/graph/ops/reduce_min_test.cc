#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ReduceMinOp, TakesTheSmallest) {
  check_op(
      {.op = "reduce_min", .inputs = {f32({2, 3}, {1, 2, 3, 4, 5, 6})}, .expect = {f32({}, {1})}});
  check_op({.op = "reduce_min",
            .inputs = {f64({2, 3}, {1, 2, 3, 4, 5, 6})},
            .attrs = {{"axis", std::vector<std::int64_t>{0}}, {"keepdims", true}},
            .expect = {f64({1, 3}, {1, 2, 3})}});
  check_op({.op = "reduce_min",
            .inputs = {i32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
            .attrs = {{"axis", std::vector<std::int64_t>{0, -1}}},
            .expect = {i32({2}, {1, 3})}});
}

}  // namespace
}  // namespace spillway::testing
