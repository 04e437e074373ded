#include <limits>

#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SortOp, SortsAlongAnAxis) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check_op(
      {.op = "sort", .inputs = {f32({4}, {3, nan, 1, 2})}, .expect = {f32({4}, {1, 2, 3, nan})}});
  check_op({.op = "sort",
            .inputs = {i32({2, 2}, {1, 4, 3, 2})},
            .attrs = {{"axis", std::int64_t{0}}, {"direction", std::string("DESCENDING")}},
            .expect = {i32({2, 2}, {3, 4, 1, 2})}});
  expect_refused("sort", {f32({1}, {1})}, {{"direction", std::string("UP")}},
                 "should be one of ASCENDING, DESCENDING");
}

}  // namespace
}  // namespace spillway::testing
