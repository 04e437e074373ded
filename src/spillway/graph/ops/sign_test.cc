#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SignOp, GivesTheSign) {
  check_op({.op = "sign", .inputs = {f32({3}, {-1.5, 0, 2})}, .expect = {f32({3}, {-1, 0, 1})}});
  check_op({.op = "sign", .inputs = {i32({3}, {-3, 0, 4})}, .expect = {i32({3}, {-1, 0, 1})}});
}

TEST(SignOp, TakesAComplexNumberToTheUnitCircle) {
  check_op({.op = "sign",
            .inputs = {c64({3}, {3, -4, 0, 0, 0, 2})},
            .expect = {c64({3}, {0.6, -0.8, 0, 0, 0, 1})}});
}

}  // namespace
}  // namespace spillway::testing
