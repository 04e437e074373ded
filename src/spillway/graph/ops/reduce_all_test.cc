#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ReduceAllOp, AsksWhetherAllHold) {
  check_op(
      {.op = "reduce_all", .inputs = {bools({2, 2}, {1, 1, 0, 1})}, .expect = {bools({}, {0})}});
  check_op({.op = "reduce_all",
            .inputs = {bools({2, 2}, {1, 1, 0, 1})},
            .attrs = {{"axis", std::vector<std::int64_t>{1}}},
            .expect = {bools({2}, {1, 0})}});
}

TEST(ReduceAllOp, RefusesWhatIsNotBool) {
  expect_refused("reduce_all", {i32({1}, {1})}, {}, "needs a bool tensor: int32");
}

}  // namespace
}  // namespace spillway::testing
