#include <limits>

#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(IsFiniteOp, FindsWhatIsFinite) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check_op(
      {.op = "is_finite", .inputs = {f32({3}, {1, nan, -inf})}, .expect = {bools({3}, {1, 0, 0})}});
  check_op({.op = "is_finite", .inputs = {f64({2}, {inf, 1})}, .expect = {bools({2}, {0, 1})}});
}

}  // namespace
}  // namespace spillway::testing
