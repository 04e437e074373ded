#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(CeilOp, GivesWhatTheFunctionGives) {
  check_op({.op = "ceil", .inputs = {f32({3}, {-1.5, 0.2, 2})}, .expect = {f32({3}, {-1, 1, 2})}});
  check_op({.op = "ceil", .inputs = {f64({3}, {-1.5, 0.2, 2})}, .expect = {f64({3}, {-1, 1, 2})}});
  check_op({.op = "ceil",
            .inputs = {of(DType::kBFloat16, {3}, {-1.5, 0.2, 2})},
            .expect = {of(DType::kBFloat16, {3}, {-1, 1, 2})}});
}

}  // namespace
}  // namespace spillway::testing
