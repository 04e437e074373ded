#include <cmath>

#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(GeluOp, WeighsEachNumberByItsProbability) {
  const std::vector<double> x = {-5, -1.5, -0.25, 0, 0.5, 3};
  std::vector<double> exact;
  std::vector<double> approximate;
  for (const double v : x) {
    exact.push_back(v * 0.5 * std::erfc(-v * 0.70710678118654752440F));
    approximate.push_back(0.5 * v *
                          (1 + std::tanh(0.7978845608028653559 * (v + 0.044715F * v * v * v))));
  }
  for (const DType type : {DType::kFloat32, DType::kFloat64}) {
    const double tolerance = type == DType::kFloat32 ? 2e-7 : 1e-15;
    check_op({.op = "gelu",
              .inputs = {of(type, {6}, x)},
              .expect = {of(type, {6}, exact)},
              .tolerance = tolerance});
    check_op({.op = "gelu",
              .inputs = {of(type, {6}, x)},
              .attrs = {{"approximate", true}},
              .expect = {of(type, {6}, approximate)},
              .tolerance = tolerance});
  }
  check_op({.op = "gelu",
            .inputs = {f32({3}, {-1000, 1000, NAN})},
            .attrs = {{"approximate", true}},
            .expect = {f32({3}, {0, 1000, NAN})}});
}

}  // namespace
}  // namespace spillway::testing
