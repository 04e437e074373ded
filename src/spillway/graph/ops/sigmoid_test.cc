#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SigmoidOp, GivesWhatTheFunctionGives) {
  check_op({.op = "sigmoid",
            .inputs = {f32({3}, {-1, 0, 2})},
            .expect = {f32({3}, {0.26894142137, 0.5, 0.880797077978})},
            .tolerance = 1e-6});
  check_op({.op = "sigmoid",
            .inputs = {f64({3}, {-1, 0, 2})},
            .expect = {f64({3}, {0.26894142137, 0.5, 0.880797077978})},
            .tolerance = 1e-11});
  check_op({.op = "sigmoid",
            .inputs = {of(DType::kBFloat16, {3}, {-1, 0, 2})},
            .expect = {of(DType::kBFloat16, {3}, {0.26894142137, 0.5, 0.880797077978})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
