#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(AsinhOp, GivesWhatTheFunctionGives) {
  check_op({.op = "asinh",
            .inputs = {f32({3}, {-2, 0, 3})},
            .expect = {f32({3}, {-1.44363547518, 0, 1.81844645923})},
            .tolerance = 1e-6});
  check_op({.op = "asinh",
            .inputs = {f64({3}, {-2, 0, 3})},
            .expect = {f64({3}, {-1.44363547518, 0, 1.81844645923})},
            .tolerance = 1e-11});
  check_op({.op = "asinh",
            .inputs = {of(DType::kBFloat16, {3}, {-2, 0, 3})},
            .expect = {of(DType::kBFloat16, {3}, {-1.44363547518, 0, 1.81844645923})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
