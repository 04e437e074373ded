#include <limits>

#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(CheckNumericsOp, PassesNumbersAndTellsNanFromInf) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const graph::Attrs attrs{{"message", std::string("loss")}};
  check_op({.op = "check_numerics",
            .inputs = {f32({2}, {1, 2})},
            .attrs = attrs,
            .expect = {f32({2}, {1, 2})}});
  check_op({.op = "check_numerics",
            .inputs = {of(DType::kFloat16, {1}, {1})},
            .attrs = attrs,
            .expect = {of(DType::kFloat16, {1}, {1})}});
  expect_refused("check_numerics", {f32({2}, {1, nan})}, attrs, "loss : Tensor had NaN values");
  expect_refused("check_numerics", {f64({2}, {-inf, 1})}, attrs, "loss : Tensor had Inf values");
  expect_refused("check_numerics", {f32({2}, {inf, nan})}, attrs,
                 "loss : Tensor had Inf and NaN values");
}

}  // namespace
}  // namespace spillway::testing
