#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SqrtOp, GivesWhatTheFunctionGives) {
  check_op({.op = "sqrt",
            .inputs = {f32({3}, {0, 0.25, 9})},
            .expect = {f32({3}, {0, 0.5, 3})},
            .tolerance = 1e-6});
  check_op({.op = "sqrt",
            .inputs = {f64({3}, {0, 0.25, 9})},
            .expect = {f64({3}, {0, 0.5, 3})},
            .tolerance = 1e-11});
  check_op({.op = "sqrt",
            .inputs = {of(DType::kBFloat16, {3}, {0, 0.25, 9})},
            .expect = {of(DType::kBFloat16, {3}, {0, 0.5, 3})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
