#include <limits>

#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ArgminOp, GivesTheFirstOfTheSmallest) {
  check_op({.op = "argmin",
            .inputs = {f32({2, 3}, {1, 1, 5, 4, 5, 4})},
            .attrs = {{"axis", std::vector<std::int64_t>{1}}},
            .expect = {of(DType::kInt64, {2}, {0, 0})}});
  check_op({.op = "argmin",
            .inputs = {i32({2, 3}, {1, 5, 5, 4, 5, 2})},
            .attrs = {{"axis", std::vector<std::int64_t>{0}}, {"output_type", DType::kInt32}},
            .expect = {i32({3}, {0, 0, 1})}});
}

TEST(ArgminOp, PassesOverNaN) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check_op({.op = "argmin",
            .inputs = {f32({3}, {nan, 3, 2})},
            .attrs = {{"axis", std::vector<std::int64_t>{0}}},
            .expect = {of(DType::kInt64, {}, {2})}});
}

}  // namespace
}  // namespace spillway::testing
