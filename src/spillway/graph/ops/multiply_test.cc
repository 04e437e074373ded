#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(MultiplyOp, Multiplies) {
  check_op({.op = "multiply",
            .inputs = {f32({2}, {1.5, 2}), f32({2}, {3, -4})},
            .expect = {f32({2}, {4.5, -8})}});
  check_op({.op = "multiply",
            .inputs = {i32({2, 1}, {1, 2}), i32({3}, {10, 20, 30})},
            .expect = {i32({2, 3}, {10, 20, 30, 20, 40, 60})}});
}

}  // namespace
}  // namespace spillway::testing
