#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ConjOp, TurnsTheImaginaryPart) {
  check_op(
      {.op = "conj", .inputs = {c64({2}, {1, 2, 3, -4})}, .expect = {c64({2}, {1, -2, 3, 4})}});
  check_op({.op = "conj", .inputs = {i32({1}, {5})}, .expect = {i32({1}, {5})}});
}

}  // namespace
}  // namespace spillway::testing
