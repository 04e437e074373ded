#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ErfcOp, GivesWhatTheFunctionGives) {
  check_op({.op = "erfc",
            .inputs = {f32({3}, {-1, 0, 0.5})},
            .expect = {f32({3}, {1.84270079295, 1, 0.479500122187})},
            .tolerance = 1e-6});
  check_op({.op = "erfc",
            .inputs = {f64({3}, {-1, 0, 0.5})},
            .expect = {f64({3}, {1.84270079295, 1, 0.479500122187})},
            .tolerance = 1e-11});
  check_op({.op = "erfc",
            .inputs = {of(DType::kBFloat16, {3}, {-1, 0, 0.5})},
            .expect = {of(DType::kBFloat16, {3}, {1.84270079295, 1, 0.479500122187})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
