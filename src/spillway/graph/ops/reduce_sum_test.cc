#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ReduceSumOp, AddsOverAxes) {
  check_op(
      {.op = "reduce_sum", .inputs = {f32({2, 3}, {1, 2, 3, 4, 5, 6})}, .expect = {f32({}, {21})}});
  check_op({.op = "reduce_sum",
            .inputs = {f64({2, 3}, {1, 2, 3, 4, 5, 6})},
            .attrs = {{"axis", std::vector<std::int64_t>{0}}, {"keepdims", true}},
            .expect = {f64({1, 3}, {5, 7, 9})}});
  check_op({.op = "reduce_sum",
            .inputs = {i32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
            .attrs = {{"axis", std::vector<std::int64_t>{0, -1}}},
            .expect = {i32({2}, {14, 22})}});
}

}  // namespace
}  // namespace spillway::testing
