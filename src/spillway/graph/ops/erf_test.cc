#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ErfOp, GivesWhatTheFunctionGives) {
  check_op({.op = "erf",
            .inputs = {f32({3}, {-1, 0, 0.5})},
            .expect = {f32({3}, {-0.84270079295, 0, 0.520499877813})},
            .tolerance = 1e-6});
  check_op({.op = "erf",
            .inputs = {f64({3}, {-1, 0, 0.5})},
            .expect = {f64({3}, {-0.84270079295, 0, 0.520499877813})},
            .tolerance = 1e-11});
  check_op({.op = "erf",
            .inputs = {of(DType::kBFloat16, {3}, {-1, 0, 0.5})},
            .expect = {of(DType::kBFloat16, {3}, {-0.84270079295, 0, 0.520499877813})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
