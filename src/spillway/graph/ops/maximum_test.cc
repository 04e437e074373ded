#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(MaximumOp, TakesTheLarger) {
  check_op({.op = "maximum",
            .inputs = {f32({2}, {1.5, 2}), f32({2}, {3, -4})},
            .expect = {f32({2}, {3, 2})}});
  check_op({.op = "maximum",
            .inputs = {i32({2, 1}, {1, 25}), i32({3}, {10, 20, 30})},
            .expect = {i32({2, 3}, {10, 20, 30, 25, 25, 30})}});
}

}  // namespace
}  // namespace spillway::testing
