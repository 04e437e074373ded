#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SoftplusOp, GivesWhatTheFunctionGives) {
  check_op({.op = "softplus",
            .inputs = {f32({3}, {-1, 0, 2})},
            .expect = {f32({3}, {0.313261687518, 0.69314718056, 2.12692801104})},
            .tolerance = 1e-6});
  check_op({.op = "softplus",
            .inputs = {f64({3}, {-1, 0, 2})},
            .expect = {f64({3}, {0.313261687518, 0.69314718056, 2.12692801104})},
            .tolerance = 1e-11});
  check_op({.op = "softplus",
            .inputs = {of(DType::kBFloat16, {3}, {-1, 0, 2})},
            .expect = {of(DType::kBFloat16, {3}, {0.313261687518, 0.69314718056, 2.12692801104})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
