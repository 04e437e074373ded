#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(LgammaOp, GivesWhatTheFunctionGives) {
  check_op({.op = "lgamma",
            .inputs = {f32({3}, {0.5, 1, 4.5})},
            .expect = {f32({3}, {0.572364942925, 0, 2.45373657084})},
            .tolerance = 1e-6});
  check_op({.op = "lgamma",
            .inputs = {f64({3}, {0.5, 1, 4.5})},
            .expect = {f64({3}, {0.572364942925, 0, 2.45373657084})},
            .tolerance = 1e-11});
  check_op({.op = "lgamma",
            .inputs = {of(DType::kBFloat16, {3}, {0.5, 1, 4.5})},
            .expect = {of(DType::kBFloat16, {3}, {0.572364942925, 0, 2.45373657084})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
