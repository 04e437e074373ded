#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(RealOp, TakesTheRealPart) {
  check_op({.op = "real", .inputs = {c64({2}, {1, 2, 3, 4})}, .expect = {f32({2}, {1, 3})}});
  check_op({.op = "real", .inputs = {f64({1}, {5})}, .expect = {f64({1}, {5})}});
}

}  // namespace
}  // namespace spillway::testing
