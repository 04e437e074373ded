#include <limits>

#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(GreaterOp, ComparesItemByItem) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check_op({.op = "greater",
            .inputs = {f32({4}, {1, 2, 3, nan}), f32({4}, {2, 2, 2, nan})},
            .expect = {bools({4}, {0, 0, 1, 0})}});
  check_op({.op = "greater",
            .inputs = {of(DType::kUInt8, {2}, {1, 200}), of(DType::kUInt8, {}, {2})},
            .expect = {bools({2}, {0, 1})}});
}

}  // namespace
}  // namespace spillway::testing
