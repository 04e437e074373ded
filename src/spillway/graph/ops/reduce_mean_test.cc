#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ReduceMeanOp, TakesTheMean) {
  check_op({.op = "reduce_mean",
            .inputs = {f32({2, 3}, {1, 2, 3, 4, 5, 6})},
            .expect = {f32({}, {3.5})}});
  check_op({.op = "reduce_mean",
            .inputs = {f64({2, 3}, {1, 2, 3, 4, 5, 6})},
            .attrs = {{"axis", std::vector<std::int64_t>{0}}, {"keepdims", true}},
            .expect = {f64({1, 3}, {2.5, 3.5, 4.5})}});
  check_op({.op = "reduce_mean",
            .inputs = {i32({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8})},
            .attrs = {{"axis", std::vector<std::int64_t>{0, -1}}},
            .expect = {i32({2}, {3, 5})}});
}

TEST(ReduceMeanOp, IsZeroOverNoComplexNumbers) {
  check_op({.op = "reduce_mean", .inputs = {c64({0}, {})}, .expect = {c64({}, {0, 0})}});
}

}  // namespace
}  // namespace spillway::testing
