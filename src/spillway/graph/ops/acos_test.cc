#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(AcosOp, GivesWhatTheFunctionGives) {
  check_op({.op = "acos",
            .inputs = {f32({4}, {-1, 0, 0.5, 1})},
            .expect = {f32({4}, {3.14159265359, 1.57079632679, 1.0471975512, 0})},
            .tolerance = 1e-6});
  check_op({.op = "acos",
            .inputs = {f64({4}, {-1, 0, 0.5, 1})},
            .expect = {f64({4}, {3.14159265359, 1.57079632679, 1.0471975512, 0})},
            .tolerance = 1e-11});
  check_op({.op = "acos",
            .inputs = {of(DType::kBFloat16, {4}, {-1, 0, 0.5, 1})},
            .expect = {of(DType::kBFloat16, {4}, {3.14159265359, 1.57079632679, 1.0471975512, 0})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
