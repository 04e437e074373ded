#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(ShapeOp, GivesTheDimensions) {
  check_op(
      {.op = "shape", .inputs = {f32({2, 3}, {1, 2, 3, 4, 5, 6})}, .expect = {i32({2}, {2, 3})}});
  check_op({.op = "shape",
            .inputs = {text({}, {"a"})},
            .attrs = {{"out_type", DType::kInt64}},
            .expect = {of(DType::kInt64, {0}, {})}});
}

}  // namespace
}  // namespace spillway::testing
