#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SinhOp, GivesWhatTheFunctionGives) {
  check_op({.op = "sinh",
            .inputs = {f32({3}, {-1, 0, 2})},
            .expect = {f32({3}, {-1.17520119364, 0, 3.62686040785})},
            .tolerance = 1e-6});
  check_op({.op = "sinh",
            .inputs = {f64({3}, {-1, 0, 2})},
            .expect = {f64({3}, {-1.17520119364, 0, 3.62686040785})},
            .tolerance = 1e-11});
  check_op({.op = "sinh",
            .inputs = {of(DType::kBFloat16, {3}, {-1, 0, 2})},
            .expect = {of(DType::kBFloat16, {3}, {-1.17520119364, 0, 3.62686040785})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
