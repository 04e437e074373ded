#include <cmath>

#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SiluOp, WeighsEachNumberByItsSigmoid) {
  const std::vector<double> x = {-30.0, -1.5, -0.25, 0.0, 0.5, 3.0};
  const std::vector<double> want = {-2.8072868906517896e-12, -0.2736382857095345,
                                    -0.10945587477855048,    0.0,
                                    0.3112296656009273,      2.8577223804672998};
  for (const DType type : {DType::kFloat32, DType::kFloat64}) {
    check_op({.op = "silu",
              .inputs = {of(type, {6}, x)},
              .expect = {of(type, {6}, want)},
              .tolerance = type == DType::kFloat32 ? 1e-7 : 1e-15});
  }
  check_op({.op = "silu",
            .inputs = {f32({3}, {-1000, 1000, NAN})},
            .expect = {f32({3}, {0, 1000, NAN})},
            .tolerance = 1e-15});
}

TEST(SiluOp, RefusesIntegers) {
  expect_refused("silu", {i32({1}, {1})}, {}, "is not defined for int32");
}

}  // namespace
}  // namespace spillway::testing
