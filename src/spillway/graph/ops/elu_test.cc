#include <cmath>

#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(EluOp, KeepsWhatIsPositiveAndBendsTheRest) {
  const std::vector<double> x = {-30.0, -1.5, -0.25, 0.0, 0.5, 3.0};
  const std::vector<double> want = {
      -0.9999999999999064, -0.7768698398515702, -0.22119921692859512, 0.0, 0.5, 3.0};
  for (const DType type : {DType::kFloat32, DType::kFloat64}) {
    check_op({.op = "elu",
              .inputs = {of(type, {6}, x)},
              .expect = {of(type, {6}, want)},
              .tolerance = type == DType::kFloat32 ? 1e-7 : 1e-15});
  }
  check_op({.op = "elu",
            .inputs = {f32({3}, {-1000, 1000, NAN})},
            .expect = {f32({3}, {-1, 1000, NAN})},
            .tolerance = 1e-15});
}

TEST(EluOp, RefusesIntegers) {
  expect_refused("elu", {i32({1}, {1})}, {}, "is not defined for int32");
}

}  // namespace
}  // namespace spillway::testing
