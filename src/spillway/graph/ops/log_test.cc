#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(LogOp, GivesWhatTheFunctionGives) {
  check_op({.op = "log",
            .inputs = {f32({3}, {0.5, 1, 4})},
            .expect = {f32({3}, {-0.69314718056, 0, 1.38629436112})},
            .tolerance = 1e-6});
  check_op({.op = "log",
            .inputs = {f64({3}, {0.5, 1, 4})},
            .expect = {f64({3}, {-0.69314718056, 0, 1.38629436112})},
            .tolerance = 1e-11});
  check_op({.op = "log",
            .inputs = {of(DType::kBFloat16, {3}, {0.5, 1, 4})},
            .expect = {of(DType::kBFloat16, {3}, {-0.69314718056, 0, 1.38629436112})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
