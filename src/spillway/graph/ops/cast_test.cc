#include <limits>

#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(CastOp, ConvertsAsTheMachineDoes) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  check_op({.op = "cast",
            .inputs = {f32({4}, {1.9, -1.9, nan, 300})},
            .attrs = {{"dtype", DType::kInt32}},
            .expect = {i32({4}, {1, -1, -2147483648, 300})}});
  check_op({.op = "cast",
            .inputs = {i32({3}, {0, 300, -1})},
            .attrs = {{"dtype", DType::kUInt8}},
            .expect = {of(DType::kUInt8, {3}, {0, 44, 255})}});
  check_op({.op = "cast",
            .inputs = {f32({3}, {0, 0.5, nan})},
            .attrs = {{"dtype", DType::kBool}},
            .expect = {bools({3}, {0, 1, 1})}});
  check_op({.op = "cast",
            .inputs = {f32({2}, {1, 65520})},
            .attrs = {{"dtype", DType::kFloat16}},
            .expect = {of(DType::kFloat16, {2}, {1, inf})}});
}

}  // namespace
}  // namespace spillway::testing
