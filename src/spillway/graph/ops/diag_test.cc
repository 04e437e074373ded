#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(DiagOp, PutsItemsOnTheDiagonal) {
  check_op({.op = "diag", .inputs = {f32({2}, {1, 2})}, .expect = {f32({2, 2}, {1, 0, 0, 2})}});
  check_op({.op = "diag", .inputs = {i32({2, 1}, {1, 2})}, .expect = {i32({2, 1, 1}, {1, 2})}});
}

}  // namespace
}  // namespace spillway::testing
