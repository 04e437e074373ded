#include "spillway/testing/op_conformance.h"

namespace spillway::testing {
namespace {

TEST(SizeOp, CountsItems) {
  check_op({.op = "size", .inputs = {f32({2, 3}, {1, 2, 3, 4, 5, 6})}, .expect = {i32({}, {6})}});
  check_op({.op = "size",
            .inputs = {text({2}, {"a", "b"})},
            .attrs = {{"out_type", DType::kInt64}},
            .expect = {of(DType::kInt64, {}, {2})}});
}

}  // namespace
}  // namespace spillway::testing
