#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(NegativeOp, TurnsTheSign) {
  check_op({.op = "negative", .inputs = {f32({2}, {-1.5, 2})}, .expect = {f32({2}, {1.5, -2})}});
  check_op({.op = "negative", .inputs = {i32({2}, {-3, 4})}, .expect = {i32({2}, {3, -4})}});
}

}  // namespace
}  // namespace spillway::testing
