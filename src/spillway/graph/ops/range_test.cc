#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(RangeOp, CountsUpAndDown) {
  check_op({.op = "range",
            .inputs = {i32({}, {3}), i32({}, {-1}), i32({}, {-2})},
            .expect = {i32({2}, {3, 1})},
            .fixed = {0, 1, 2}});
  check_op({.op = "range",
            .inputs = {f32({}, {0}), f32({}, {1}), f32({}, {0.25})},
            .expect = {f32({4}, {0, 0.25, 0.5, 0.75})},
            .fixed = {2}});
  expect_refused("range", {i32({}, {5}), i32({}, {0}), i32({}, {1})}, {},
                 "Requires start <= limit when delta > 0: 5/0");
  expect_refused("range", {i32({}, {0}), i32({}, {5}), i32({}, {0})}, {}, "Requires delta != 0: 0");
}

}  // namespace
}  // namespace spillway::testing
