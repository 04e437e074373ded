#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(TanOp, GivesWhatTheFunctionGives) {
  check_op({.op = "tan",
            .inputs = {f32({3}, {-1, 0, 1})},
            .expect = {f32({3}, {-1.55740772465, 0, 1.55740772465})},
            .tolerance = 1e-6});
  check_op({.op = "tan",
            .inputs = {f64({3}, {-1, 0, 1})},
            .expect = {f64({3}, {-1.55740772465, 0, 1.55740772465})},
            .tolerance = 1e-11});
  check_op({.op = "tan",
            .inputs = {of(DType::kBFloat16, {3}, {-1, 0, 1})},
            .expect = {of(DType::kBFloat16, {3}, {-1.55740772465, 0, 1.55740772465})},
            .tolerance = 0.02});
}

}  // namespace
}  // namespace spillway::testing
