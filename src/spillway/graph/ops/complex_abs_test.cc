#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ComplexAbsOp, GivesTheLength) {
  check_op(
      {.op = "complex_abs", .inputs = {c64({2}, {3, 4, 0, -2})}, .expect = {f32({2}, {5, 2})}});
}

}  // namespace
}  // namespace spillway::testing
