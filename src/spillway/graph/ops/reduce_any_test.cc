#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ReduceAnyOp, AsksWhetherOneHolds) {
  check_op(
      {.op = "reduce_any", .inputs = {bools({2, 2}, {0, 1, 0, 0})}, .expect = {bools({}, {1})}});
  check_op({.op = "reduce_any",
            .inputs = {bools({2, 2}, {0, 1, 0, 0})},
            .attrs = {{"axis", std::vector<std::int64_t>{1}}},
            .expect = {bools({2}, {1, 0})}});
}

TEST(ReduceAnyOp, RefusesWhatIsNotBool) {
  expect_refused("reduce_any", {i32({1}, {1})}, {}, "needs a bool tensor: int32");
}

}  // namespace
}  // namespace spillway::testing
