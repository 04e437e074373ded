#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(FillOp, RepeatsOneValue) {
  check_op({.op = "fill",
            .inputs = {i32({2}, {2, 1}), f32({}, {3})},
            .expect = {f32({2, 1}, {3, 3})},
            .fixed = {0}});
  check_op({.op = "fill_strings",
            .inputs = {i32({1}, {2}), text({}, {"a"})},
            .expect = {text({2}, {"a", "a"})},
            .fixed = {0}});
  expect_refused("fill", {i32({1}, {-1}), f32({}, {3})}, {}, "Dimension -1 must be >= 0");
}

}  // namespace
}  // namespace spillway::testing
