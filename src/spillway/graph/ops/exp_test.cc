#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ExpOp, GivesWhatTheFunctionGives) {
  check_op({.op = "exp",
            .inputs = {f32({3}, {-1, 0, 2})},
            .expect = {f32({3}, {0.367879441171, 1, 7.38905609893})},
            .tolerance = 1e-6});
  check_op({.op = "exp",
            .inputs = {f64({3}, {-1, 0, 2})},
            .expect = {f64({3}, {0.367879441171, 1, 7.38905609893})},
            .tolerance = 1e-11});
  check_op({.op = "exp",
            .inputs = {of(DType::kBFloat16, {3}, {-1, 0, 2})},
            .expect = {of(DType::kBFloat16, {3}, {0.367879441171, 1, 7.38905609893})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
