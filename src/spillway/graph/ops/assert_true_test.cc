#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(AssertTrueOp, PassesAConditionThatHolds) {
  check_op({.op = "assert_true",
            .inputs = {bools({2}, {1, 1}), f32({1}, {3})},
            .expect = {bools({2}, {1, 1})}});
  expect_refused("assert_true", {bools({}, {0}), text({}, {"why"}), i32({4}, {1, 2, 3, 4})},
                 {{"message", std::string("bad")}}, "assertion failed: [bad] [why] [1 2 3...]");
}

}  // namespace
}  // namespace spillway::testing
