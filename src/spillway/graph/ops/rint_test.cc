#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(RintOp, GivesWhatTheFunctionGives) {
  check_op(
      {.op = "rint", .inputs = {f32({3}, {-1.5, 0.5, 2.5})}, .expect = {f32({3}, {-2, 0, 2})}});
  check_op(
      {.op = "rint", .inputs = {f64({3}, {-1.5, 0.5, 2.5})}, .expect = {f64({3}, {-2, 0, 2})}});
  check_op({.op = "rint",
            .inputs = {of(DType::kBFloat16, {3}, {-1.5, 0.5, 2.5})},
            .expect = {of(DType::kBFloat16, {3}, {-2, 0, 2})}});
}

}  // namespace
}  // namespace spillway::testing
