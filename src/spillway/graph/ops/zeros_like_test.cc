#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ZerosLikeOp, GivesZerosOfAShapeAndType) {
  check_op({.op = "zeros_like", .inputs = {i32({2}, {1, 2})}, .expect = {i32({2}, {0, 0})}});
  check_op({.op = "zeros_like",
            .inputs = {i32({1}, {1})},
            .attrs = {{"dtype", DType::kFloat32}},
            .expect = {f32({1}, {0})}});
  check_op({.op = "zeros_like", .inputs = {text({1}, {"a"})}, .expect = {text({1}, {""})}});
}

}  // namespace
}  // namespace spillway::testing
