#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ReverseIfOp, TurnsAxesAroundWhereTheConditionHolds) {
  const graph::Attrs last{{"axis", std::vector<std::int64_t>{-1}}};
  check_op({.op = "reverse_if",
            .inputs = {i32({2, 2}, {1, 2, 3, 4}), bools({}, {1})},
            .attrs = last,
            .expect = {i32({2, 2}, {2, 1, 4, 3})}});
  check_op({.op = "reverse_if",
            .inputs = {f32({2, 2}, {1, 2, 3, 4}), bools({}, {0})},
            .attrs = last,
            .expect = {f32({2, 2}, {1, 2, 3, 4})}});
}

}  // namespace
}  // namespace spillway::testing
