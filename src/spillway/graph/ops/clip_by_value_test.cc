#include <limits>

#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ClipByValueOp, KeepsItemsBetweenBounds) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check_op({.op = "clip_by_value",
            .inputs = {f32({4}, {-5, 0.5, 5, nan}), f32({}, {0}), f32({}, {1})},
            .expect = {f32({4}, {0, 0.5, 1, nan})}});
  check_op({.op = "clip_by_value",
            .inputs = {i32({2}, {1, 9}), i32({2}, {3, 3}), i32({}, {5})},
            .expect = {i32({2}, {3, 5})}});
  check_op({.op = "clip_by_value",
            .inputs = {f32({2}, {-5, 5}), f32({}, {nan}), f32({}, {1})},
            .expect = {f32({2}, {nan, nan})}});
  expect_refused("clip_by_value", {f32({}, {1}), f32({2}, {0, 1}), f32({}, {3})}, {},
                 "Shapes () and (2,) are incompatible");
}

}  // namespace
}  // namespace spillway::testing
