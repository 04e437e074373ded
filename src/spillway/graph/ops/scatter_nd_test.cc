#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ScatterNdOp, AddsUpdatesIntoZeros) {
  check_op({.op = "scatter_nd",
            .inputs = {i32({3, 1}, {1, 3, 1}), f32({3}, {1, 2, 3}), i32({1}, {4})},
            .expect = {f32({4}, {0, 4, 0, 2})},
            .fixed = {2}});
  check_op({.op = "scatter_nd",
            .inputs = {i32({1, 1}, {1}), i32({1, 2}, {5, 6}), i32({2}, {2, 2})},
            .expect = {i32({2, 2}, {0, 0, 5, 6})},
            .fixed = {2}});
  expect_refused("scatter_nd", {i32({1, 1}, {5}), f32({1}, {1}), i32({1}, {4})}, {},
                 "indices[0] = [5] does not index into shape [4]");
}

TEST(ScatterNdOp, AppendsStringsInTheirOrder) {
  check_op({.op = "scatter_nd_strings",
            .inputs = {i32({3, 1}, {1, 3, 1}), text({3}, {"a", "b", "c"}), i32({1}, {4})},
            .expect = {text({4}, {"", "ac", "", "b"})},
            .fixed = {2}});
  check_op({.op = "scatter_nd_strings",
            .inputs = {i32({1, 1}, {1}), text({1, 2}, {"a", "b"}), i32({2}, {2, 2})},
            .expect = {text({2, 2}, {"", "", "a", "b"})},
            .fixed = {2}});
  expect_refused("scatter_nd_strings", {i32({1, 1}, {5}), text({1}, {"a"}), i32({1}, {4})}, {},
                 "indices[0] = [5] does not index into shape [4]");
}

}  // namespace
}  // namespace spillway::testing
