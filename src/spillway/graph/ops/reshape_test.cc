#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ReshapeOp, KeepsItemsUnderAnotherShape) {
  check_op({.op = "reshape",
            .inputs = {f32({2, 2}, {1, 2, 3, 4}), i32({2}, {-1, 1})},
            .expect = {f32({4, 1}, {1, 2, 3, 4})},
            .fixed = {1}});
  check_op({.op = "reshape",
            .inputs = {text({2}, {"a", "b"}), i32({2}, {2, 1})},
            .expect = {text({2, 1}, {"a", "b"})},
            .fixed = {1}});
  expect_refused("reshape", {f32({3}, {}), i32({1}, {2})}, {},
                 "Cannot reshape a tensor with 3 elements to shape [2]");
}

}  // namespace
}  // namespace spillway::testing
