#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(CosOp, GivesWhatTheFunctionGives) {
  check_op({.op = "cos",
            .inputs = {f32({3}, {-1, 0, 2})},
            .expect = {f32({3}, {0.540302305868, 1, -0.416146836547})},
            .tolerance = 1e-6});
  check_op({.op = "cos",
            .inputs = {f64({3}, {-1, 0, 2})},
            .expect = {f64({3}, {0.540302305868, 1, -0.416146836547})},
            .tolerance = 1e-11});
  check_op({.op = "cos",
            .inputs = {of(DType::kBFloat16, {3}, {-1, 0, 2})},
            .expect = {of(DType::kBFloat16, {3}, {0.540302305868, 1, -0.416146836547})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
