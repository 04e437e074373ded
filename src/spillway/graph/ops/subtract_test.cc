#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SubtractOp, Subtracts) {
  check_op({.op = "subtract",
            .inputs = {f32({2}, {1.5, 2}), f32({2}, {3, -4})},
            .expect = {f32({2}, {-1.5, 6})}});
  check_op({.op = "subtract",
            .inputs = {i32({2, 1}, {1, 2}), i32({3}, {10, 20, 30})},
            .expect = {i32({2, 3}, {-9, -19, -29, -8, -18, -28})}});
}

}  // namespace
}  // namespace spillway::testing
