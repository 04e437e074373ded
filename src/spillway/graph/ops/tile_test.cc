#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(TileOp, RepeatsTheTensor) {
  check_op({.op = "tile",
            .inputs = {i32({1, 2}, {1, 2}), i32({2}, {2, 2})},
            .expect = {i32({2, 4}, {1, 2, 1, 2, 1, 2, 1, 2})},
            .fixed = {1}});
  check_op({.op = "tile",
            .inputs = {f64({2}, {1, 2}), of(DType::kInt64, {1}, {0})},
            .expect = {f64({0}, {})},
            .fixed = {1}});
  check_op({.op = "tile_strings",
            .inputs = {text({1}, {"a"}), i32({1}, {3})},
            .expect = {text({3}, {"a", "a", "a"})},
            .fixed = {1}});
  expect_refused("tile", {f32({2}, {}), i32({1}, {-1})}, {},
                 "Expected multiples[0] >= 0, but got -1");
}

}  // namespace
}  // namespace spillway::testing
