#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(OnesLikeOp, GivesOnesOfAShapeAndType) {
  check_op({.op = "ones_like", .inputs = {i32({2}, {5, 2})}, .expect = {i32({2}, {1, 1})}});
  check_op({.op = "ones_like",
            .inputs = {i32({1}, {5})},
            .attrs = {{"dtype", DType::kBFloat16}},
            .expect = {of(DType::kBFloat16, {1}, {1})}});
}

}  // namespace
}  // namespace spillway::testing
