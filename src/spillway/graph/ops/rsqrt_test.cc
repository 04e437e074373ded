#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(RsqrtOp, GivesWhatTheFunctionGives) {
  check_op({.op = "rsqrt",
            .inputs = {f32({3}, {0.25, 1, 4})},
            .expect = {f32({3}, {2, 1, 0.5})},
            .tolerance = 1e-6});
  check_op({.op = "rsqrt",
            .inputs = {f64({3}, {0.25, 1, 4})},
            .expect = {f64({3}, {2, 1, 0.5})},
            .tolerance = 1e-11});
  check_op({.op = "rsqrt",
            .inputs = {of(DType::kBFloat16, {3}, {0.25, 1, 4})},
            .expect = {of(DType::kBFloat16, {3}, {2, 1, 0.5})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
