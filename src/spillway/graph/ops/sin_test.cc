#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SinOp, GivesWhatTheFunctionGives) {
  check_op({.op = "sin",
            .inputs = {f32({3}, {-1, 0, 2})},
            .expect = {f32({3}, {-0.841470984808, 0, 0.909297426826})},
            .tolerance = 1e-6});
  check_op({.op = "sin",
            .inputs = {f64({3}, {-1, 0, 2})},
            .expect = {f64({3}, {-0.841470984808, 0, 0.909297426826})},
            .tolerance = 1e-11});
  check_op({.op = "sin",
            .inputs = {of(DType::kBFloat16, {3}, {-1, 0, 2})},
            .expect = {of(DType::kBFloat16, {3}, {-0.841470984808, 0, 0.909297426826})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
