#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(CoshOp, GivesWhatTheFunctionGives) {
  check_op({.op = "cosh",
            .inputs = {f32({3}, {-1, 0, 2})},
            .expect = {f32({3}, {1.54308063482, 1, 3.76219569108})},
            .tolerance = 1e-6});
  check_op({.op = "cosh",
            .inputs = {f64({3}, {-1, 0, 2})},
            .expect = {f64({3}, {1.54308063482, 1, 3.76219569108})},
            .tolerance = 1e-11});
  check_op({.op = "cosh",
            .inputs = {of(DType::kBFloat16, {3}, {-1, 0, 2})},
            .expect = {of(DType::kBFloat16, {3}, {1.54308063482, 1, 3.76219569108})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
