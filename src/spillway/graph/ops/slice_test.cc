#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SliceOp, TakesABox) {
  const Tensor x = i32({2, 3}, {0, 1, 2, 3, 4, 5});
  check_op({.op = "slice",
            .inputs = {x, i32({2}, {0, 1}), i32({2}, {-1, 2})},
            .expect = {i32({2, 2}, {1, 2, 4, 5})},
            .fixed = {1, 2}});
  check_op({.op = "slice",
            .inputs = {x, i32({2}, {1, 1}), i32({2}, {1, 1})},
            .expect = {i32({1, 1}, {4})},
            .fixed = {2}});
  check_op({.op = "slice_strings",
            .inputs = {text({3}, {"a", "b", "c"}), i32({1}, {1}), i32({1}, {2})},
            .expect = {text({2}, {"b", "c"})},
            .fixed = {1, 2}});
}

TEST(SliceOp, RefusesABoxOutside) {
  expect_refused("slice", {f32({3}, {}), i32({1}, {5}), i32({1}, {1})}, {},
                 "Expected begin[0] in [0, 3], but got 5");
  expect_refused("slice", {f32({3}, {}), i32({1}, {1}), i32({1}, {5})}, {},
                 "Expected size[0] in [0, 2], but got 5");
}

}  // namespace
}  // namespace spillway::testing
