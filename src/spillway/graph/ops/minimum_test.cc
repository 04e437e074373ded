#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(MinimumOp, TakesTheSmaller) {
  check_op({.op = "minimum",
            .inputs = {f32({2}, {1.5, 2}), f32({2}, {3, -4})},
            .expect = {f32({2}, {1.5, -4})}});
  check_op({.op = "minimum",
            .inputs = {i32({2, 1}, {1, 25}), i32({3}, {10, 20, 30})},
            .expect = {i32({2, 3}, {1, 1, 1, 10, 20, 25})}});
}

}  // namespace
}  // namespace spillway::testing
