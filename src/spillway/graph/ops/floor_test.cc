#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(FloorOp, GivesWhatTheFunctionGives) {
  check_op({.op = "floor", .inputs = {f32({3}, {-1.5, 0.2, 2})}, .expect = {f32({3}, {-2, 0, 2})}});
  check_op({.op = "floor", .inputs = {f64({3}, {-1.5, 0.2, 2})}, .expect = {f64({3}, {-2, 0, 2})}});
  check_op({.op = "floor",
            .inputs = {of(DType::kBFloat16, {3}, {-1.5, 0.2, 2})},
            .expect = {of(DType::kBFloat16, {3}, {-2, 0, 2})}});
}

}  // namespace
}  // namespace spillway::testing
