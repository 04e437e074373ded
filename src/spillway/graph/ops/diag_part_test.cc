#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(DiagPartOp, TakesTheDiagonal) {
  check_op({.op = "diag_part",
            .inputs = {f32({2, 3}, {1, 2, 3, 4, 5, 6})},
            .expect = {f32({2}, {1, 5})}});
  check_op({.op = "diag_part",
            .inputs = {i32({2, 1, 2}, {1, 2, 3, 4})},
            .expect = {i32({2, 1}, {1, 3})}});
}

}  // namespace
}  // namespace spillway::testing
