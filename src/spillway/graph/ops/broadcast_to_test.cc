#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(BroadcastToOp, RepeatsItemsUpToAShape) {
  check_op({.op = "broadcast_to",
            .inputs = {f32({2, 1}, {1, 2}), i32({3}, {2, 2, 2})},
            .expect = {f32({2, 2, 2}, {1, 1, 2, 2, 1, 1, 2, 2})},
            .fixed = {1}});
  check_op({.op = "broadcast_to_strings",
            .inputs = {text({}, {"a"}), i32({1}, {2})},
            .expect = {text({2}, {"a", "a"})},
            .fixed = {1}});
  expect_refused("broadcast_to", {f32({2}, {}), i32({1}, {3})}, {},
                 "Incompatible shapes: [2] vs. [3]");
}

}  // namespace
}  // namespace spillway::testing
