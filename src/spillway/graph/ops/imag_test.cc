#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ImagOp, TakesTheImaginaryPart) {
  check_op({.op = "imag", .inputs = {c64({2}, {1, 2, 3, 4})}, .expect = {f32({2}, {2, 4})}});
  check_op({.op = "imag", .inputs = {f64({1}, {5})}, .expect = {f64({1}, {0})}});
}

}  // namespace
}  // namespace spillway::testing
