#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(AsinOp, GivesWhatTheFunctionGives) {
  check_op({.op = "asin",
            .inputs = {f32({3}, {-1, 0, 0.5})},
            .expect = {f32({3}, {-1.57079632679, 0, 0.523598775598})},
            .tolerance = 1e-6});
  check_op({.op = "asin",
            .inputs = {f64({3}, {-1, 0, 0.5})},
            .expect = {f64({3}, {-1.57079632679, 0, 0.523598775598})},
            .tolerance = 1e-11});
  check_op({.op = "asin",
            .inputs = {of(DType::kBFloat16, {3}, {-1, 0, 0.5})},
            .expect = {of(DType::kBFloat16, {3}, {-1.57079632679, 0, 0.523598775598})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
