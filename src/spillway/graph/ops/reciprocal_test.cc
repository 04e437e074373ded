#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ReciprocalOp, GivesWhatTheFunctionGives) {
  check_op({.op = "reciprocal",
            .inputs = {f32({3}, {-2, 0.5, 4})},
            .expect = {f32({3}, {-0.5, 2, 0.25})},
            .tolerance = 1e-6});
  check_op({.op = "reciprocal",
            .inputs = {f64({3}, {-2, 0.5, 4})},
            .expect = {f64({3}, {-0.5, 2, 0.25})},
            .tolerance = 1e-11});
  check_op({.op = "reciprocal",
            .inputs = {of(DType::kBFloat16, {3}, {-2, 0.5, 4})},
            .expect = {of(DType::kBFloat16, {3}, {-0.5, 2, 0.25})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
