#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SquareOp, MultipliesWithItself) {
  check_op({.op = "square", .inputs = {f32({2}, {-1.5, 2})}, .expect = {f32({2}, {2.25, 4})}});
  check_op({.op = "square", .inputs = {i32({2}, {-3, 4})}, .expect = {i32({2}, {9, 16})}});
}

}  // namespace
}  // namespace spillway::testing
