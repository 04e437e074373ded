#include <limits>

#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(IsNanOp, FindsNan) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check_op(
      {.op = "is_nan", .inputs = {f32({3}, {1, nan, inf})}, .expect = {bools({3}, {0, 1, 0})}});
  check_op({.op = "is_nan",
            .inputs = {of(DType::kFloat16, {2}, {nan, 1})},
            .expect = {bools({2}, {1, 0})}});
}

}  // namespace
}  // namespace spillway::testing
